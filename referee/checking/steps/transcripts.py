"""Transcripts in files: reading and writing them, and comparing a bot's answers with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic import TypeAdapter, ValidationError

from protocol.codec import MAX_SENT
from protocol.messages import Act, RefereeMessage
from referee.bots.seat.playback import PlayedBack, first_difference
from referee.bots.seat.transcript import SentLine, Transcript
from referee.checking.bot.bot_under_test import BotUnderTest
from referee.checking.bot.harness import Harness, at_fault
from referee.checking.report.report import CheckStep, Evidence, Mark
from referee.errors import BotFault, InputError

LARGEST = 64 << 20
"""Bytes of a file: ten thousand games; a device gives bytes without end."""
_MESSAGES: TypeAdapter[Any] = TypeAdapter(RefereeMessage)


def as_jsonl(transcript: Transcript) -> str:
    """Return a transcript as the text of a file. Answers are left out, so that any legal one will do."""
    ready = {"to": "referee", "seat": transcript.seat, "line": {"type": "ready", "protocol": 1}}
    sent = [{"to": "bot", "seat": transcript.seat, "line": json.loads(one.line)} for one in transcript.sent()]
    lines = [sent[0], ready, *sent[1:]]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def read_transcripts(path: Path) -> list[Transcript]:
    """Return the transcripts in a file as `protocol/README.md` describes it, in the order of their seats.

    A seat that was never ready is left out. Raises InputError if the file is not a transcript.
    """
    try:
        with path.open("rb") as file:
            read_in = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if len(read_in) > LARGEST:
        raise InputError(f"{path} has more than {LARGEST >> 20} MiB: cut it into files of a few games each")
    seats: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for number, line in enumerate(read_in.splitlines(), 1):
        read = _read_line(path, number, line)
        seats.setdefault(read["seat"], []).append((number, read))
    found = [_transcript(path, seat, seats[seat]) for seat in sorted(seats)]
    transcripts = [one for one in found if one is not None]
    if not any(one.questions for one in transcripts):
        raise InputError(f"{path} has no question to a bot that was ready: it is not a transcript that can be compared")
    return transcripts


def _read_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        read = json.loads(line)
        well = read["to"] in ("bot", "referee") and type(read["seat"]) is int and isinstance(read["line"], dict)
        if well and read["to"] == "bot":
            _MESSAGES.validate_json(json.dumps(read["line"]))
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{part}: " for part in [".".join(map(str, first["loc"][1:]))] if part)
        raise InputError(f"{path}, line {number}: {where}{first['msg']}: it is not a message to a bot") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        well = False
    if not well:
        raise InputError(
            f'{path}, line {number} is not a line of a transcript, such as {{"to":"bot","seat":0,"line":{{…}}}}'
        )
    return dict(read)


def _transcript(path: Path, seat: int, lines: Sequence[tuple[int, dict[str, Any]]]) -> Transcript | None:
    first, message = lines[0]
    if message["to"] != "bot" or message["line"]["type"] != "hello":
        raise InputError(f"{path}, line {first}: the messages to seat {seat} do not begin with hello")
    if message["line"].get("protocol") != [1]:
        raise InputError(f"{path}, line {first}: the only version of the protocol is 1")
    sent: list[SentLine] = []
    for place, (number, read) in enumerate(lines[1:], 1):
        if read["to"] == "referee":
            continue
        if read["line"]["type"] in ("fault", "quit"):
            break
        said = [later["line"] for _, later in lines[place + 1 : place + 2] if later["to"] == "referee"]
        at_fault = any(later["line"].get("type") == "fault" for _, later in lines[place + 1 : place + 3])
        sent.append(_sent(path, number, read["line"], said[0] if said and not at_fault else None))
    hello = SentLine(line=_line(path, first, message["line"]), number=first)
    return Transcript(seat=seat, hello=hello, lines=tuple(sent)) if sent else None


def _sent(path: Path, number: int, message: dict[str, Any], said: dict[str, Any] | None) -> SentLine:
    line = _line(path, number, message)
    if message["type"] != "act":
        return SentLine(line=line, number=number)
    Act.model_validate_json(line)
    sent = SentLine(line=line, number=number, id=message["id"])
    if [action.text for action in sent.question.legal] != message["legal"]:
        raise InputError(f"{path}, line {number}: `legal` is not what the rules allow with this hand")
    if said is None:
        return sent
    if said.get("id") != message["id"] or said.get("action") not in message["legal"]:
        raise InputError(f"{path}, line {number}: the answer after it does not belong to this question")
    return msgspec.structs.replace(sent, action=said["action"])


def _line(path: Path, number: int, message: dict[str, Any]) -> bytes:
    line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
    if len(line) > MAX_SENT:
        raise InputError(f"{path}, line {number}: a message to a bot has at most {MAX_SENT} bytes")
    return line


def compared(files: Iterable[tuple[Path, Sequence[Transcript]]], harness: Harness) -> Iterator[CheckStep]:
    """Yield a step for each file: each seat is played back to a process of its own, up to the first difference.

    Raises VoidGame.
    """
    for number, (path, transcripts) in enumerate(files, 1):
        yield _compare(number, path, transcripts, harness)


def _compare(number: int, path: Path, transcripts: Sequence[Transcript], harness: Harness) -> CheckStep:
    for transcript in transcripts:
        assert transcript.hello is not None
        with harness.subject(hello=transcript.hello.line) as subject:
            found = first_difference(transcript, subject)
        if found is not None:
            return _failed(number, path.name, transcript, found, subject)
    questions = sum(len(one.questions) for one in transcripts)
    seats = "1 seat" if len(transcripts) == 1 else f"{len(transcripts)} seats"
    detail = f"{seats}, {questions} questions: every answer is the same"
    figures: dict[str, float] = {"seats": len(transcripts), "questions": questions}
    return CheckStep(number=number, name=path.name, title=path.name, mark=Mark.PASSED, detail=detail, figures=figures)


def _failed(number: int, name: str, transcript: Transcript, found: PlayedBack, subject: BotUnderTest) -> CheckStep:
    sent = found.sent or transcript.hello
    assert sent is not None
    where, messages = f"seat {transcript.seat}, line {sent.number} of the file", subject.traffic.last()
    step = CheckStep(number=number, name=name, title=name, mark=Mark.FAILED, detail=where)
    if isinstance(found.now, BotFault):
        return at_fault(step, found.now, messages, detail=f"{where}: {found.now.detail}")
    now = "nothing" if found.now is None else found.now.action.text
    return msgspec.structs.replace(
        step,
        detail=f"{where}: it answers {now}, and the answer there is {sent.action}",
        evidence=Evidence(messages=messages),
    )
