"""Tables at which every seat plays greedy to the letter, as the transcripts `greedy-*` hold them.

Cards and endings come from the referee's own rules, lines from its own writer; decks are numbered, and were looked for
so that together the games show what `greedy.shows` knows of. Ids, times and seeds are made up, the same in every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from greedy import Message, choose

from referee import actions
from referee.bots.process.limits import Limits
from referee.bots.seat.wire import QuestionWriter, end_line, hello_line, start_line
from referee.cards import shuffled
from referee.play import GameEnd, GameStart
from referee.rules import DEFAULT_RULES, DiscardRule, OddCard, Question, Rules, Scoring, State

Json = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """What is made up: a number from 1 to 2^31 - 1, and the id of a game, that belong to a name."""

    number: Callable[[str], int]
    game_id: Callable[[str], str]


LAST = Rules(OddCard.FIRST, Scoring.LOSER, DiscardRule.ANY, 30)
ALL = Rules(OddCard.TALON, Scoring.WINNER, DiscardRule.ALL, 60)
SHORT = Rules(OddCard.FIRST, Scoring.PLACES, DiscardRule.ALL, 6)
MIXED = Rules(OddCard.FIRST, Scoring.WINNER, DiscardRule.ANY, 200)


@dataclass(frozen=True, kw_only=True)
class Deal:
    """A game of a table: its deck, `shuffled(b"greedy NUMBER")`; `faults` are (seat, number of its question)."""

    deck: int
    rules: Rules = DEFAULT_RULES
    faults: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class GreedyTable:
    """The games that the same processes play; faults are in the last, since they end the process."""

    players: int
    deals: tuple[Deal, ...]
    limits: Limits

    @property
    def name(self) -> str:
        return f"greedy-{self.players}"


TABLES = (
    GreedyTable(
        players=2,
        limits=Limits(None, None, None),
        deals=(
            Deal(deck=57),
            Deal(deck=63, rules=LAST),
            Deal(deck=140, rules=ALL),
            Deal(deck=4, rules=SHORT),
            Deal(deck=98, rules=MIXED),
        ),
    ),
    GreedyTable(
        players=3,
        limits=Limits(10_000, 1000, 60_000),
        deals=(
            Deal(deck=19),
            Deal(deck=106, rules=LAST),
            Deal(deck=44, rules=ALL),
            Deal(deck=143, rules=SHORT),
            Deal(deck=179, rules=MIXED),
            Deal(deck=124, faults=((1, 3),)),
        ),
    ),
    GreedyTable(
        players=4,
        limits=Limits(10_000, 500, None),
        deals=(
            Deal(deck=129),
            Deal(deck=135, rules=LAST),
            Deal(deck=107, rules=ALL),
            Deal(deck=85, rules=SHORT),
            Deal(deck=16, rules=MIXED),
            Deal(deck=58, faults=((2, 2), (0, 5))),
        ),
    ),
    GreedyTable(
        players=5,
        limits=Limits(10_000, 1000, None),
        deals=(
            Deal(deck=91),
            Deal(deck=139, rules=LAST),
            Deal(deck=22, rules=ALL),
            Deal(deck=136, rules=SHORT),
            Deal(deck=62, rules=MIXED),
            Deal(deck=9, faults=((4, 1), (1, 3))),
        ),
    ),
    GreedyTable(
        players=6,
        limits=Limits(10_000, 1000, 120_000),
        deals=(
            Deal(deck=67),
            Deal(deck=138, rules=LAST),
            Deal(deck=94, rules=ALL),
            Deal(deck=122, rules=SHORT),
            Deal(deck=15, rules=MIXED),
            Deal(deck=109, faults=((0, 1), (3, 3))),
        ),
    ),
)


class Telling:
    """Plays the games of a table and tells what is said at it, as lines of a transcript."""

    def __init__(self, table: GreedyTable, made: Made) -> None:
        self.table = table
        self.made = made
        self.ids = [0] * table.players
        self.used = [0] * table.players
        self.left: set[int] = set()

    def lines(self) -> Iterator[Json]:
        seats = range(self.table.players)
        for seat in seats:
            yield _told(seat, {**json.loads(hello_line(self.table.limits)), "referee": "0.1.0"})
            ready = {"type": "ready", "protocol": 1, "name": "greedy", "version": "1", "language": "any"}
            yield _said(seat, ready)
        for place, deal in enumerate(self.table.deals):
            yield from self._game(place, deal)
        for seat in seats:
            if seat not in self.left:
                yield _told(seat, {"type": "quit"})

    def _game(self, place: int, deal: Deal) -> Iterator[Json]:
        name = f"{self.table.name} {place}"
        state = State(deal.rules, self.table.players, shuffled(b"greedy %d" % deal.deck))
        starts = [self._start(name, seat, state) for seat in range(self.table.players)]
        writers = [QuestionWriter(start) for start in starts]
        self.used = [0] * self.table.players
        asked = [0] * self.table.players
        while state.outcome is None:
            seat = state.turn
            if not asked[seat]:
                yield _told(seat, json.loads(start_line(starts[seat])))
            line = self._act(seat, state.ask(), writers[seat])
            yield _told(seat, line)
            asked[seat] += 1
            if (seat, asked[seat]) in deal.faults:
                yield self._fault(seat)
                state.forfeit(seat)
            else:
                yield self._answer(seat, line, state)
        for seat, start in enumerate(starts):
            if seat not in self.left:
                if not asked[seat]:
                    yield _told(seat, json.loads(start_line(start)))
                yield _told(seat, json.loads(end_line(GameEnd(start.game_id, state.outcome, state.untold(seat)))))

    def _start(self, name: str, seat: int, state: State) -> GameStart:
        game_id, seed = self.made.game_id(name), self.made.number(f"seed {name} {seat}") - 1
        sizes = tuple(state.sizes)
        return GameStart(game_id, seat, state.players, state.hands[seat], sizes, len(state.talon), state.rules, seed)

    def _act(self, seat: int, question: Question, writer: QuestionWriter) -> Message:
        limits = self.table.limits
        self.ids[seat] += 1
        question_id = self.made.number(f"id {self.table.name} {seat} {self.ids[seat]}")
        game_left = None if limits.game_ms is None else limits.game_ms - self.used[seat]
        self.used[seat] += 1 + question_id % 40
        told = [left for left in (limits.move_ms, game_left) if left is not None]
        message: Message = json.loads(writer.line(question, question_id, min(told, default=None), game_left))
        return message

    def _answer(self, seat: int, line: Message, state: State) -> Json:
        action = actions.parse(choose(line))
        assert action is not None
        state.apply(action)
        return _said(seat, {"id": line["id"], "action": action.text})

    def _fault(self, seat: int) -> Json:
        self.left.add(seat)
        detail = (
            f"no answer within {self.table.limits.move_ms} ms: if it did print an answer, stdout was not flushed; else "
            "it was too slow, or waits for more input"
        )
        return _told(seat, {"type": "fault", "verdict": "timeout", "detail": detail})


def _told(seat: int, line: Json) -> Json:
    return {"to": "bot", "seat": seat, "line": line}


def _said(seat: int, line: Json) -> Json:
    return {"to": "referee", "seat": seat, "line": line}
