"""The record of one game: what happened, enough to play it again, and its JSON form.

Records are the truth of a tournament: ratings and pages are derived from them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any, NamedTuple

import msgspec

from referee import actions
from referee.cards import deck_of
from referee.errors import IllegalActionError, RefereeError, Verdict
from referee.rules import MAX_PLAYERS, MIN_PLAYERS, Ending, Event, Outcome, Rules, State

RECORD_VERSION = 2
"""In version 1 the deck of a record was the shuffle of its key; since version 2 each rotation has labels of its own."""

TIMES = frozenset({"ms", "us", "idle_cpu_ms", "held"})
"""Fields that a clock fills in, or that hang on one: of a game, of its steps, of the evidence of its faults."""
_LARGEST = 64 << 20
"""Bytes of JSON that a stored record may have: others' databases are read too, and few bytes can unpack to a flood."""


BotName = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,31}\Z")]
BotHash = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_GameId = Annotated[str, msgspec.Meta(pattern=r"\A[!-~]{1,64}\Z")]
_Isolation = Annotated[str, msgspec.Meta(pattern=r"\A[ -~]{1,100}\Z")]
_Seat = Annotated[int, msgspec.Meta(ge=0, lt=MAX_PLAYERS)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


class Bot(msgspec.Struct, frozen=True, order=True):
    """A bot's identity: its folder's name and the SHA-256 (hex) of its content, never what it says of itself."""

    name: BotName
    hash: BotHash


LineUp = tuple[Bot, ...]
"""The bots that meet at a table, sorted, whatever their seats; one bot may stand in it more than once."""


class GameResult(NamedTuple):
    """What ratings need of a game: who sat where, where it stands in the schedule, how it ended."""

    seats: tuple[Bot, ...]
    deal: int
    rotation: int
    reason: Ending
    places: tuple[int, ...]
    forfeited: tuple[int, ...]

    @property
    def line_up(self) -> LineUp:
        """Who met."""
        return tuple(sorted(self.seats))


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question and its answer; `action` is None where the seat was at fault here.

    `us` is the time of the decision in microseconds, from the first attempt to write the question to the
    answer received; `note` is what the bot said of it, up to 200 characters.
    """

    seat: _Seat
    action: str | None
    us: _Count
    note: str | None = None


class Fault(msgspec.Struct, frozen=True):
    """What a seat was charged with. `step` is the index of the question in `steps`, None before the first one."""

    seat: _Seat
    step: _Count | None
    verdict: Verdict
    detail: str
    evidence: dict[str, str | int | None]


class Idling(msgspec.Struct, frozen=True):
    """What a seat did while others were asked: ms of processor time, and whether its processes were stopped for it."""

    cpu_ms: int
    held: bool

    @property
    def words(self) -> str:
        """What stands after the bot's name in a sentence, empty where there is nothing to say.

        Who was stopped and used nothing had used too much in a game before.
        """
        used = f"used {self.cpu_ms} ms of a processor while others were asked" if self.cpu_ms else ""
        stopped = "was stopped between its questions" if self.held else ""
        return " and ".join(filter(None, (used, stopped)))


class GameRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One finished game.

    `game_id` is opaque and unique; `seats` are the bots by seat; `deal` and `rotation` say where it stands
    among the games of its line-up, and `round` for which round of a tournament it was played, None outside one;
    `isolation` is the tier at which its bots were kept apart, None where that was not yet written down;
    `deck` is 36 cards, first dealt first, and `key` (hex) the key it was shuffled with, None where the deck was given
    by hand; `seeds` are what the bots were given for their own dice, by seat;
    `places`, `hand_sizes` and `forfeited` are those of `referee.rules.Outcome`; `ms` is the game's wall time;
    `idle_cpu_ms`, by seat, is the processor time that was used while others were asked, and `held` are the seats whose
    processes were stopped for it; both are empty where that was not looked at.
    """

    version: int = RECORD_VERSION
    round: _Count | None = None
    isolation: _Isolation | None = None
    game_id: _GameId
    seats: Annotated[tuple[Bot, ...], msgspec.Meta(min_length=MIN_PLAYERS, max_length=MAX_PLAYERS)]
    deal: _Count
    rotation: _Count
    rules: Rules
    key: str | None
    deck: tuple[str, ...]
    seeds: tuple[int, ...] = ()
    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]
    reason: Ending
    places: tuple[_Count, ...]
    hand_sizes: tuple[_Count, ...]
    forfeited: tuple[_Seat, ...]
    ms: _Count
    idle_cpu_ms: tuple[_Count, ...] = ()
    held: tuple[_Seat, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The record's ending as the rules' value."""
        return Outcome(self.reason, self.places, self.hand_sizes, self.forfeited)

    def idling(self, seat: int) -> Idling | None:
        """What a seat did out of turn; None where that was not looked at."""
        return Idling(self.idle_cpu_ms[seat], seat in self.held) if self.idle_cpu_ms else None

    @property
    def result(self) -> GameResult:
        """What ratings need of this game."""
        return GameResult(self.seats, self.deal, self.rotation, self.reason, self.places, self.forfeited)

    def pack(self) -> bytes:
        """The compressed JSON, as it is stored."""
        return zlib.compress(self.to_json(), 1)

    @classmethod
    def unpack(cls, packed: bytes) -> GameRecord:
        """The record that `pack` made. Raises RefereeError where the bytes are damaged."""
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(packed, _LARGEST)
        except zlib.error as error:
            raise RefereeError(f"a stored game is damaged: {error}") from None
        if not stream.eof or stream.unused_data:
            raise RefereeError("a stored game is damaged: it is cut off, or something stands behind it")
        return cls.from_json(data)

    def to_json(self) -> bytes:
        """One JSON object, without spaces; equal records give equal bytes."""
        return _ENCODER.encode(self)

    def to_timeless_json(self) -> bytes:
        """As `to_json`, without what a clock said: a game that is played alike twice gives equal bytes."""
        return msgspec.json.encode(_timeless(msgspec.to_builtins(self)))

    @classmethod
    def from_json(cls, data: bytes | str) -> GameRecord:
        """The record that `to_json` wrote. Raises RefereeError where `data` is none."""
        try:
            found = _DECODER.decode(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise RefereeError(f"this is no game record: {error}") from None
        if (wrong := _disagreement(found)) is not None:
            raise RefereeError(f"this is no game record: {wrong}")
        return found


def _disagreement(record: GameRecord) -> str | None:
    """Return what a record says of seats or steps that it does not have; None where nothing."""
    players = len(record.seats)
    if not len(record.places) == len(record.hand_sizes) == players or len(record.idle_cpu_ms) not in (0, players):
        return "it has not one value for each seat"
    charged = [fault.seat for fault in record.faults]
    if max((*record.forfeited, *record.held, *charged, *[step.seat for step in record.steps]), default=0) >= players:
        return "it names a seat that nobody has"
    if any(fault.step is not None and fault.step >= len(record.steps) for fault in record.faults):
        return "a fault of it is at a step that it does not have"
    return None


def _timeless(value: Any) -> Any:
    """Plain values without the fields of `TIMES`, however deep they stand."""
    if isinstance(value, dict):
        return {key: _timeless(part) for key, part in value.items() if key not in TIMES}
    return [_timeless(part) for part in value] if isinstance(value, list | tuple) else value


_LINE_ENDS = {end.encode(): f"\\u{ord(end):04x}".encode() for end in "\x7f\x85\u2028\u2029"}


def on_one_line(data: bytes) -> bytes:
    """Return JSON that means the same as `data`, without characters that some readers take for the end of a line.

    JSON itself escapes those below U+0020; beyond ASCII, characters stand in strings only. A terminal obeys U+007F.
    """
    for end, escape in _LINE_ENDS.items():
        data = data.replace(end, escape)
    return data


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(GameRecord)


class Replayed(msgspec.Struct, frozen=True):
    """One moment of a replay: the position before a question, and the step that followed it.

    `position` is the running state itself: read it before asking for the next moment.
    """

    position: State
    step: Step
    events: tuple[Event, ...]


def replay(record: GameRecord) -> Iterator[Replayed]:
    """Play a record again, step by step, by the rules alone.

    `events` of a moment are the turns completed since the moment before. Raises RefereeError where the record
    does not follow the rules or does not end as it says.
    """
    state = State(record.rules, len(record.seats), deck_of(record.deck))
    absent = tuple(fault.seat for fault in record.faults if fault.step is None)
    if absent:
        state.forfeit(*absent)
    shown = 0
    for number, step in enumerate(record.steps):
        if state.outcome is not None or state.turn != step.seat:
            raise RefereeError(f"game {record.game_id}: step {number} is not this seat's turn")
        yield Replayed(state, step, tuple(state.events[shown:]))
        shown = len(state.events)
        _advance(state, step, record.game_id, number)
    if state.outcome != record.outcome:
        raise RefereeError(f"game {record.game_id}: played again it ends otherwise than its record says")
    _check_faults(record)


def _check_faults(record: GameRecord) -> None:
    charged = [(fault.step, fault.seat) for fault in record.faults if fault.step is not None]
    unanswered = [(number, step.seat) for number, step in enumerate(record.steps) if step.action is None]
    if charged != unanswered:
        raise RefereeError(f"game {record.game_id}: its faults are not where its questions went unanswered")


def _advance(state: State, step: Step, game_id: str, number: int) -> None:
    if step.action is None:
        state.forfeit(step.seat)
        return
    action = actions.parse(step.action)
    if action is None:
        raise RefereeError(f"game {game_id}: step {number} has no action {step.action!r}")
    try:
        state.apply(action)
    except IllegalActionError as error:
        raise RefereeError(f"game {game_id}: step {number}: {error}") from None


def rules_as_dict(rules: Rules) -> dict[str, str | int]:
    """The rules as plain values, as they stand in messages and in JSON."""
    return {key: value.value if hasattr(value, "value") else value for key, value in asdict(rules).items()}
