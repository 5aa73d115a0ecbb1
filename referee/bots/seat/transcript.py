"""The transcript of one seat: every message that its bot was sent, and every answer."""

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

_US_PER_MS = 1000


class SentLine(msgspec.Struct, frozen=True, kw_only=True):
    """A message to the bot, and its answer if the message is a question.

    `line` is the message, LF included. `number` is the turn of a question, counted from 1 as `referee replay` does, or
    the number of the message's line in its file. `id` is the question's id; None if the message wants no answer.
    `action` and `us` are those of `referee.record.Step`; the action is None if any legal one will do, and at a fault.
    `answer` is the bot's line, without LF: its own where that was kept, else written anew.
    """

    line: bytes
    number: int = 0
    id: int | None = None
    action: str | None = None
    answer: bytes | None = None
    us: int = 0

    @property
    def question(self) -> Question:
        """The question as far as answers are judged by it: without events, sizes and open cards."""
        sent = json.loads(self.line)
        drawn, laid = sent["drawn"], sent["laid"]
        return Question(
            seat=sent["seat"],
            rules=_rules(sent["rules"]),
            hand=set_of(map(card, sent["hand"])),
            drawn=None if drawn is None else card(drawn),
            laid=None if laid is None else card(laid),
            recycled=sent["recycled"],
            hand_sizes=(),
            talon_size=0,
            pile_size=0,
            widows=(),
            discards=(),
            forfeited=(),
            kept_in_a_row=0,
            events=(),
        )


def _rules(sent: Mapping[str, str | int]) -> Rules:
    return Rules(
        OddCard(str(sent["odd_card"])),
        Scoring(str(sent["scoring"])),
        DiscardRule(str(sent["discard"])),
        int(sent["stall_limit"]),
    )


class SeatFault(msgspec.Struct, frozen=True, kw_only=True):
    """The seat's fault. `turn` is None before its first question; `asked` is True if that turn's question was put.

    If it was not put, the bot had said something, or had ended, before.
    """

    turn: int | None
    asked: bool
    verdict: Verdict
    detail: str
    evidence: dict[str, str | int | None]

    @property
    def line(self) -> bytes | None:
        """The message that reports the fault to the bot, LF included; None if the bot was never started."""
        if not self.evidence:
            return None
        return encode(FaultMessage(type="fault", verdict=self.verdict.value, detail=self.detail))


class PlayedSeat(msgspec.Struct, frozen=True, kw_only=True):
    """The seat of a recorded game to which a transcript belongs."""

    game_id: str
    round: int | None
    players: int
    bot: Bot
    rules: dict[str, str | int]
    limits: Limits
    idling: Idling | None = None


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of one seat in one game, or in several games that one process played.

    `lines` has everything after `hello` up to the seat's fault or the end. `ready` is None if the bot's line is not
    known, `played` if the game is not a recorded one.
    """

    seat: int
    hello: SentLine | None
    ready: bytes | None = None
    lines: tuple[SentLine, ...] = ()
    fault: SeatFault | None = None
    played: PlayedSeat | None = None

    @property
    def questions(self) -> list[SentLine]:
        """The questions among the lines."""
        return [line for line in self.lines if line.id is not None]

    @property
    def of_game(self) -> PlayedSeat:
        """The recorded game; only for transcripts that have one."""
        assert self.played is not None
        return self.played

    def sent(self) -> Iterator[SentLine]:
        """Yield `hello` and all lines."""
        if self.hello is not None:
            yield self.hello
        yield from self.lines


def with_limits(transcript: Transcript, limits: Limits) -> Transcript:
    """Return the transcript of a recorded game as it would be under other limits."""
    used, lines = 0, []
    for one in transcript.lines:
        if one.id is not None:
            time_left, game_left = times_sent(used, limits)
            sent = {**json.loads(one.line), "time_left_ms": time_left, "game_left_ms": game_left}
            lines.append(msgspec.structs.replace(one, line=json.dumps(sent, separators=(",", ":")).encode() + b"\n"))
            used += one.us
        else:
            lines.append(one)
    hello = None if transcript.hello is None else msgspec.structs.replace(transcript.hello, line=hello_line(limits))
    played = msgspec.structs.replace(transcript.of_game, limits=limits)
    return msgspec.structs.replace(transcript, hello=hello, lines=tuple(lines), played=played)


def times_sent(used: int, limits: Limits) -> tuple[int | None, int | None]:
    """Return `time_left_ms` and `game_left_ms` of a question after `used` whole us: it may be 1 ms too much."""
    if limits.game_ms is None:
        return limits.move_ms, None
    left = max(limits.game_ms * _US_PER_MS - used, 0) // _US_PER_MS
    return left if limits.move_ms is None else min(left, limits.move_ms), left
