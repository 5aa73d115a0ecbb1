"""From a game's record to all that one seat's bot was sent in it, and what it answered.

What is sent is written as it was when the game was played, to the byte, but for what no record holds: the ids of most
questions, which are made anew, and the `referee` of `hello`, which is the present one's. Nothing comes in that the seat
did not see: everything is made from `Start`, `Question` and `End`, and ends with the seat's fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from protocol.codec import WireError, parse_answer, parse_ready
from referee.bots.process.limits import Limits
from referee.bots.seat.dialogue import Asked, Charge, Dialogue, times_told
from referee.bots.seat.wire import QuestionWriter, end_line, hello_line, start_line
from referee.cards import deck_of, set_of
from referee.play import End, Start
from referee.record import Fault, GameRecord, Step, replay, rules_as_dict
from referee.rules import Question, State, deal

_READY = b'{"type":"ready","protocol":1}'

Evidence = Mapping[str, str | int | None]


def dialogue_of(record: GameRecord, seat: int, limits: Limits) -> Dialogue:
    """What the bot at `seat` heard and said in a game that was played under `limits`.

    Raises RefereeError where the record does not follow the rules.
    """
    fault = next((fault for fault in record.faults if fault.seat == seat), None)
    if fault is not None and fault.step is None:
        hello = hello_line(limits) if fault.evidence else None
        return _dialogue(record, seat, limits, hello=hello, charge=_charge(fault, None, asked=False))
    start = _start(record, seat)
    moments, end = _moments(record, seat)
    told = _Told(fault, moments, QuestionWriter(start))
    put = moments[:-1] if told.last_was_not_put else moments
    charge = None if fault is None else _charge(fault, moments[-1].turn, asked=not told.last_was_not_put)
    asked = tuple(_asked(record, seat, number, moment, told, limits) for number, moment in enumerate(put))
    return _dialogue(
        record,
        seat,
        limits,
        hello=hello_line(limits),
        ready=told.ready or _READY,
        start=start_line(start) if asked or end is not None else None,
        asked=asked,
        charge=charge,
        end=None if end is None else end_line(end),
    )


def _dialogue(
    record: GameRecord,
    seat: int,
    limits: Limits,
    *,
    hello: bytes | None,
    charge: Charge | None,
    ready: bytes | None = None,
    start: bytes | None = None,
    asked: tuple[Asked, ...] = (),
    end: bytes | None = None,
) -> Dialogue:
    return Dialogue(
        game_id=record.game_id,
        round=record.round,
        seat=seat,
        players=len(record.seats),
        bot=record.seats[seat],
        rules=rules_as_dict(record.rules),
        limits=limits,
        hello=hello,
        ready=ready,
        start=start,
        asked=asked,
        charge=charge,
        end=end,
        idling=record.idling(seat),
    )


def _charge(fault: Fault, turn: int | None, *, asked: bool) -> Charge:
    return Charge(turn=turn, asked=asked, verdict=fault.verdict, detail=fault.detail, evidence=fault.evidence)


def _start(record: GameRecord, seat: int) -> Start:
    hands, talon = deal(record.rules, len(record.seats), deck_of(record.deck))
    seed = record.seeds[seat] if record.seeds else 0
    sizes = tuple(map(len, hands))
    return Start(record.game_id, seat, len(hands), set_of(hands[seat]), sizes, len(talon), record.rules, seed)


class _Moment(NamedTuple):
    """A question to the seat, in which turn it fell, and what the record has of its answer."""

    turn: int
    question: Question
    step: Step


def _moments(record: GameRecord, seat: int) -> tuple[list[_Moment], End | None]:
    """A seat's questions, to its fault or the end of the game; and what it was told of that end, if it was."""
    moments: list[_Moment] = []
    state: State | None = None
    for moment in replay(record):
        state = moment.position
        if moment.step.seat != seat:
            continue
        turn = len(state.events) + 1
        moments.append(_Moment(turn, state.ask(), moment.step))
        if moment.step.action is None:
            return moments, None
    if state is None:  # nobody was asked
        state = State(record.rules, len(record.seats), deck_of(record.deck))
        state.forfeit(*(fault.seat for fault in record.faults))
    return moments, End(record.game_id, record.outcome, state.untold(seat))


class _Said(NamedTuple):
    """What of a question no rule fixes."""

    id: int
    time_left: int | None
    game_left: int | None


class _Told:
    """What the evidence of a fault tells of the messages before it: real ids, times, and the bot's own lines."""

    def __init__(self, fault: Fault | None, moments: list[_Moment], writer: QuestionWriter) -> None:
        self.writer = writer
        self.said: dict[int, _Said] = {}
        self.answers: dict[int, tuple[int, bytes]] = {}
        self.ready: bytes | None = None
        self.last_was_not_put = False
        if fault is not None:
            self._learn(fault.evidence, moments)

    def _learn(self, evidence: Evidence, moments: list[_Moment]) -> None:
        last = len(moments) - 1
        sent = str(evidence.get("sent") or "").rstrip("\n").rpartition("\n")[2]
        if sent:
            self._recognise(sent, moments, last)
            self.last_was_not_put = last not in self.said
            if self.last_was_not_put and last > 0:
                self._recognise(sent, moments, last - 1)
        answered = str(evidence.get("answered") or "").encode()
        if last > 0:
            try:
                self.answers[last - 1] = parse_answer(answered).id, answered
            except WireError:
                return
        elif _is_ready(answered):
            self.ready = answered

    def _recognise(self, sent: str, moments: list[_Moment], number: int) -> None:
        """Note the id and the times of question `number` where `sent` is that question."""
        try:
            message = json.loads(sent)
            said = _Said(message["id"], message["time_left_ms"], message["game_left_ms"])
        except (ValueError, KeyError, TypeError):
            return
        if self.writer.line(moments[number].question, *said) == f"{sent}\n".encode():
            self.said[number] = said


def _is_ready(line: bytes) -> bool:
    try:
        return bool(parse_ready(line))
    except WireError:
        return False


def _asked(record: GameRecord, seat: int, number: int, moment: _Moment, told: _Told, limits: Limits) -> Asked:
    known = told.said.get(number)
    real_id, own = told.answers.get(number, (None, None))
    question_id = real_id or (known.id if known else _fresh_id(record.game_id, seat, number))
    if known is not None:
        times = known.time_left, known.game_left
    else:
        times = times_told(_used(record, seat, moment.step), limits)
    step = moment.step
    return Asked(
        turn=moment.turn,
        id=question_id,
        line=told.writer.line(moment.question, question_id, *times),
        action=step.action,
        answer=own or _answer(question_id, step),
        us=step.us,
    )


def _used(record: GameRecord, seat: int, until: Step) -> int:
    """Microseconds that a seat has used before a step."""
    used = 0
    for step in record.steps:
        if step is until:
            break
        used += step.us if step.seat == seat else 0
    return used


def _fresh_id(game_id: str, seat: int, number: int) -> int:
    """An id for a question whose own is not known: the same each time."""
    digest = sha256(f"{game_id} {seat} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1 or 1


def _answer(question_id: int, step: Step) -> bytes | None:
    if step.action is None:
        return None
    said: dict[str, str | int] = {"id": question_id, "action": step.action}
    if step.note is not None:
        said["note"] = step.note
    return json.dumps(said, separators=(",", ":")).encode()
