"""Making the transcript of a seat from a game's record.

Each message is written as it was when the game was played, to the byte. Records do not hold the ids of most questions,
which are made up, and the `referee` of `hello`, which is the present one's. Everything is made from `GameStart`,
`Question` and `GameEnd`, and ends with the seat's fault, so the transcript has nothing that the seat did not see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from protocol.codec import WireError, parse_answer, parse_ready
from referee.bots.process.limits import Limits
from referee.bots.seat.transcript import PlayedSeat, SeatFault, SentLine, Transcript, times_sent
from referee.bots.seat.wire import QuestionWriter, end_line, hello_line, start_line
from referee.cards import deck_of, set_of
from referee.play import GameEnd, GameStart
from referee.record import Fault, GameRecord, Step, replay, rules_as_dict
from referee.rules import Question, State, deal

_READY = b'{"type":"ready","protocol":1}'


def transcript_of(record: GameRecord, seat: int, limits: Limits) -> Transcript:
    """Return the transcript of `seat` in a game that was played under `limits`.

    Raises RefereeError if the record does not follow the rules.
    """
    played = PlayedSeat(
        game_id=record.game_id,
        round=record.round,
        players=len(record.seats),
        bot=record.seats[seat],
        rules=rules_as_dict(record.rules),
        limits=limits,
        idling=record.idling(seat),
    )
    hello = SentLine(line=hello_line(limits), number=1)
    fault = next((fault for fault in record.faults if fault.seat == seat), None)
    if fault is not None and fault.step is None:
        was_started = hello if fault.evidence else None
        return Transcript(seat=seat, hello=was_started, fault=_fault(fault, None, asked=False), played=played)
    start = _start(record, seat)
    moments, end = _moments(record, seat)
    known = _Evidence(fault, moments, QuestionWriter(start))
    put = moments[:-1] if known.last_was_not_put else moments
    lines = [_question(record, seat, number, moment, known, limits) for number, moment in enumerate(put)]
    if lines or end is not None:
        lines.insert(0, SentLine(line=start_line(start)))
    if end is not None:
        lines.append(SentLine(line=end_line(end)))
    return Transcript(
        seat=seat,
        hello=hello,
        ready=known.ready or _READY,
        lines=tuple(lines),
        fault=None if fault is None else _fault(fault, moments[-1].turn, asked=not known.last_was_not_put),
        played=played,
    )


def _fault(fault: Fault, turn: int | None, *, asked: bool) -> SeatFault:
    return SeatFault(turn=turn, asked=asked, verdict=fault.verdict, detail=fault.detail, evidence=fault.evidence)


def _start(record: GameRecord, seat: int) -> GameStart:
    hands, talon = deal(record.rules, len(record.seats), deck_of(record.deck))
    seed = record.seeds[seat] if record.seeds else 0
    sizes = tuple(map(len, hands))
    return GameStart(record.game_id, seat, len(hands), set_of(hands[seat]), sizes, len(talon), record.rules, seed)


class _Moment(NamedTuple):
    """A question to the seat, its turn, and the record's step with the answer."""

    turn: int
    question: Question
    step: Step


def _moments(record: GameRecord, seat: int) -> tuple[list[_Moment], GameEnd | None]:
    """Return a seat's questions up to its fault or the end of the game, and its `GameEnd` if it was sent one."""
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
    return moments, GameEnd(record.game_id, record.outcome, state.untold(seat))


class _FreeFields(NamedTuple):
    """The fields of a question that do not follow from the record."""

    id: int
    time_left: int | None
    game_left: int | None


class _Evidence:
    """What the evidence of a fault shows of the messages before it: real ids, times, and the bot's own lines."""

    def __init__(self, fault: Fault | None, moments: list[_Moment], writer: QuestionWriter) -> None:
        self.writer = writer
        self.fields: dict[int, _FreeFields] = {}
        self.answers: dict[int, tuple[int, bytes]] = {}
        self.ready: bytes | None = None
        self.last_was_not_put = False
        if fault is not None:
            self._learn(fault.evidence, moments)

    def _learn(self, evidence: Mapping[str, str | int | None], moments: list[_Moment]) -> None:
        last = len(moments) - 1
        sent = str(evidence.get("sent") or "").rstrip("\n").rpartition("\n")[2]
        if sent:
            self._recognise(sent, moments, last)
            self.last_was_not_put = last not in self.fields
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
        """Note the id and the times of question `number` if `sent` is that question."""
        try:
            message = json.loads(sent)
            fields = _FreeFields(message["id"], message["time_left_ms"], message["game_left_ms"])
        except (ValueError, KeyError, TypeError):
            return
        if self.writer.line(moments[number].question, *fields) == f"{sent}\n".encode():
            self.fields[number] = fields


def _is_ready(line: bytes) -> bool:
    try:
        return bool(parse_ready(line))
    except WireError:
        return False


def _question(
    record: GameRecord, seat: int, number: int, moment: _Moment, known: _Evidence, limits: Limits
) -> SentLine:
    free = known.fields.get(number)
    real_id, own = known.answers.get(number, (None, None))
    question_id = real_id or (free.id if free else _fresh_id(record.game_id, seat, number))
    if free is not None:
        times = free.time_left, free.game_left
    else:
        times = times_sent(_used(record, seat, moment.step), limits)
    step = moment.step
    return SentLine(
        number=moment.turn,
        id=question_id,
        line=known.writer.line(moment.question, question_id, *times),
        action=step.action,
        answer=own or _answer(question_id, step),
        us=step.us,
    )


def _used(record: GameRecord, seat: int, until: Step) -> int:
    """Return the us that a seat has used before a step."""
    used = 0
    for step in record.steps:
        if step is until:
            break
        used += step.us if step.seat == seat else 0
    return used


def _fresh_id(game_id: str, seat: int, number: int) -> int:
    """Return an id for a question whose own is not known: the same each time."""
    digest = sha256(f"{game_id} {seat} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1 or 1


def _answer(question_id: int, step: Step) -> bytes | None:
    if step.action is None:
        return None
    answer: dict[str, str | int] = {"id": question_id, "action": step.action}
    if step.note is not None:
        answer["note"] = step.note
    return json.dumps(answer, separators=(",", ":")).encode()
