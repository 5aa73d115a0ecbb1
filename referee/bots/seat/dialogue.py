"""All that one seat's bot was sent in a game, and what it answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import msgspec

from protocol.codec import encode
from protocol.messages import Fault as FaultMessage
from referee.bots.process.limits import Limits
from referee.bots.seat.wire import hello_line
from referee.cards import card, set_of
from referee.errors import Verdict
from referee.record import Bot, Idling
from referee.rules import DiscardRule, OddCard, Question, Rules, Scoring

_MS = 1000
"""Microseconds in a millisecond."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question and its answer.

    `turn` counts all turns of the game from 1, as `referee replay` does. `line` is the message, LF included; `answer`
    the bot's line, without LF, None where it was at fault here; it is the bot's own where that was kept, else written
    anew. `action` and `us` are those of `referee.record.Step`.
    """

    turn: int
    id: int
    line: bytes
    action: str | None
    answer: bytes | None
    us: int

    @property
    def question(self) -> Question:
        """The question, so far as answers are judged by it: events, sizes and open cards are left out."""
        said = json.loads(self.line)
        drawn, laid = said["drawn"], said["laid"]
        return Question(
            seat=said["seat"],
            rules=_rules(said["rules"]),
            hand=set_of(map(card, said["hand"])),
            drawn=None if drawn is None else card(drawn),
            laid=None if laid is None else card(laid),
            recycled=said["recycled"],
            hand_sizes=(),
            talon_size=0,
            pile_size=0,
            widows=(),
            discards=(),
            forfeited=(),
            kept_in_a_row=0,
            events=(),
        )


def _rules(said: Mapping[str, str | int]) -> Rules:
    return Rules(
        OddCard(str(said["odd_card"])),
        Scoring(str(said["scoring"])),
        DiscardRule(str(said["discard"])),
        int(said["stall_limit"]),
    )


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """The seat's fault; `turn` is None before its first question. `asked` says whether that question was put.

    Where it was not, the bot had said something, or was gone, before.
    """

    turn: int | None
    asked: bool
    verdict: Verdict
    detail: str
    evidence: dict[str, str | int | None]

    @property
    def line(self) -> bytes | None:
        """The message that tells the bot, LF included; None where it was never started."""
        if not self.evidence:
            return None
        return encode(FaultMessage(type="fault", verdict=self.verdict.value, detail=self.detail))


class Dialogue(msgspec.Struct, frozen=True, kw_only=True):
    """One seat's side of a game; whatever was not said is None. Lines to the bot have their LF."""

    game_id: str
    round: int | None
    seat: int
    players: int
    bot: Bot
    rules: dict[str, str | int]
    limits: Limits
    hello: bytes | None
    ready: bytes | None
    start: bytes | None
    asked: tuple[Asked, ...]
    charge: Charge | None
    end: bytes | None
    idling: Idling | None = None

    def sent(self) -> Iterator[bytes]:
        """The lines to the bot up to its fault or the end of the game."""
        for line in (self.hello, self.start):
            if line is not None:
                yield line
        for asked in self.asked:
            yield asked.line
        if self.end is not None:
            yield self.end


def with_limits(dialogue: Dialogue, limits: Limits) -> Dialogue:
    """The same dialogue as it would be told under other limits."""
    used, asked = 0, []
    for one in dialogue.asked:
        time_left, game_left = times_told(used, limits)
        said = {**json.loads(one.line), "time_left_ms": time_left, "game_left_ms": game_left}
        line = json.dumps(said, separators=(",", ":")).encode() + b"\n"
        asked.append(msgspec.structs.replace(one, line=line))
        used += one.us
    hello = None if dialogue.hello is None else hello_line(limits)
    return msgspec.structs.replace(dialogue, limits=limits, hello=hello, asked=tuple(asked))


def times_told(used: int, limits: Limits) -> tuple[int | None, int | None]:
    """What a question tells of time after `used` microseconds, whole ones: it may be a millisecond too much."""
    if limits.game_ms is None:
        return limits.move_ms, None
    left = max(limits.game_ms * _MS - used, 0) // _MS
    return left if limits.move_ms is None else min(left, limits.move_ms), left
