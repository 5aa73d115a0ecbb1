"""Games to store and to show: real ones, played in memory by dice, with faults where they are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from referee.cards import names, shuffled
from referee.errors import BotFault, Verdict
from referee.play import DealtGame, GameEnd, GameStart, Reply, SystemClock, play_game
from referee.record import Bot, GameRecord
from referee.rules import DEFAULT_RULES, Question, Rules

ANNA, BERT, CARL = Bot("anna", "a1" * 32), Bot("bert", "b2" * 32), Bot("carl", "c3" * 32)

START = 0
"""In `faults`: the seat is at fault before its first question."""


class Dice:
    """A player who chooses by dice and is at fault at its `fault`-th question, from 1 on, or at the start."""

    def __init__(self, dice: Random, *, fault: int | None = None, note: str | None = None) -> None:
        self._dice = dice
        self._fault = fault
        self._note = note
        self._asked = 0

    def begin(self, start: GameStart) -> None:
        if self._fault == START:
            raise BotFault(Verdict.START_FAILED, "it said nothing but hello", {"exit_status": 3, "stderr": "no\nluck"})

    def ask(self, question: Question) -> Reply:
        self._asked += 1
        if self._asked == self._fault:
            raise BotFault(Verdict.TIMEOUT, "no answer within 1000 ms", {"stderr": ""}, us=1_000_000)
        return Reply(self._dice.choice(question.legal), self._dice.randrange(100, 5000), self._note)

    def end(self, end: GameEnd) -> None: ...


def played(
    line_up: Sequence[Bot] = (ANNA, BERT),
    *,
    deal: int = 0,
    rotation: int = 0,
    game_id: str | None = None,
    rules: Rules = DEFAULT_RULES,
    faults: Mapping[int, int] | None = None,
    notes: Mapping[int, str] | None = None,
) -> GameRecord:
    """One game of a line-up, the same whenever it is asked for; `faults` and `notes` are by seat."""
    bots = sorted(line_up)
    seats = tuple(bots[(seat + rotation) % len(bots)] for seat in range(len(bots)))
    key = f"{bots} {deal}".encode()
    dice = Random(f"{bots} {deal} {rotation}")
    game_id = game_id or f"{dice.getrandbits(96):024x}"
    faults, notes = faults or {}, notes or {}
    players = [Dice(dice, fault=faults.get(seat), note=notes.get(seat)) for seat in range(len(seats))]
    deck = shuffled(key)
    steps, charged, outcome = play_game(
        DealtGame(game_id, rules, deck, tuple(range(len(seats)))), players, clock=SystemClock()
    )
    return GameRecord(
        game_id=game_id,
        seats=seats,
        deal=deal,
        rotation=rotation,
        rules=rules,
        key=key.hex(),
        deck=tuple(names(deck)),
        steps=steps,
        faults=charged,
        reason=outcome.reason,
        places=outcome.places,
        hand_sizes=outcome.hand_sizes,
        forfeited=outcome.forfeited,
        ms=7,
    )
