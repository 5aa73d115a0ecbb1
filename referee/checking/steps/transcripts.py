"""Dialogues in files: the bot is told again what each seat was told, and its answers are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic import TypeAdapter, ValidationError

from protocol.codec import MAX_SENT
from protocol.messages import Act, RefereeMessage
from referee.bots.seat.dialogue import Asked
from referee.checking.bot.bot_under_test import Subject
from referee.checking.bot.harness import Trying, at_fault
from referee.checking.bot.transcript import Difference, Put, Side, tell
from referee.checking.report.report import Evidence, Mark, Step
from referee.errors import BotFault, InputError

LARGEST = 64 << 20
"""Bytes of a file: ten thousand games; a device gives bytes without end."""
_MESSAGES: TypeAdapter[Any] = TypeAdapter(RefereeMessage)


def read_transcript(path: Path) -> list[Side]:
    """The sides of a file as `protocol/README.md` describes it, in the order of their seats.

    A seat that was never ready is left out. Raises InputError where the file is none.
    """
    try:
        with path.open("rb") as file:
            read_in = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if len(read_in) > LARGEST:
        raise InputError(f"{path} has more than {LARGEST >> 20} MiB: cut it into files of a few games each")
    lines = read_in.splitlines()
    sides: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for number, line in enumerate(lines, 1):
        read = _read_line(path, number, line)
        sides.setdefault(read["seat"], []).append((number, read))
    found = [_side(path, seat, sides[seat]) for seat in sorted(sides)]
    told = [side for side in found if side is not None]
    if not any(side.questions for side in told):
        raise InputError(f"{path} has no question to a bot that was ready: it is no transcript that can be compared")
    return told


def _read_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        read = json.loads(line)
        well = read["to"] in ("bot", "referee") and type(read["seat"]) is int and isinstance(read["line"], dict)
        if well and read["to"] == "bot":
            _MESSAGES.validate_json(json.dumps(read["line"]))
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{part}: " for part in [".".join(map(str, first["loc"][1:]))] if part)
        raise InputError(f"{path}, line {number}: {where}{first['msg']}: it is no message to a bot") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        well = False
    if not well:
        raise InputError(
            f'{path}, line {number} is no line of a transcript, such as {{"to":"bot","seat":0,"line":{{…}}}}'
        )
    return dict(read)


def _side(path: Path, seat: int, lines: Sequence[tuple[int, dict[str, Any]]]) -> Side | None:
    first, message = lines[0]
    if message["to"] != "bot" or message["line"]["type"] != "hello":
        raise InputError(f"{path}, line {first}: what seat {seat} is told does not begin with hello")
    if message["line"].get("protocol") != [1]:
        raise InputError(f"{path}, line {first}: of the protocol there is version 1 alone")
    puts: list[Put] = []
    for place, (number, read) in enumerate(lines[1:], 1):
        if read["to"] == "referee":
            continue
        if read["line"]["type"] in ("fault", "quit"):
            break
        said = [later["line"] for _, later in lines[place + 1 : place + 2] if later["to"] == "referee"]
        at_fault = any(later["line"].get("type") == "fault" for _, later in lines[place + 1 : place + 3])
        puts.append(_put(path, number, read["line"], said[0] if said and not at_fault else None))
    return Side(seat, Put(first, _line(path, first, message["line"])), tuple(puts)) if puts else None


def _put(path: Path, number: int, message: dict[str, Any], said: dict[str, Any] | None) -> Put:
    line = _line(path, number, message)
    if message["type"] != "act":
        return Put(number, line)
    Act.model_validate_json(line)
    asked = Asked(turn=number, id=message["id"], line=line, action=None, answer=None, us=0)
    question = asked.question
    if [action.text for action in question.legal] != message["legal"]:
        raise InputError(f"{path}, line {number}: its legal is not what the rules allow with this hand")
    if said is None:
        return Put(number, line, question, message["id"])
    if said.get("id") != message["id"] or said.get("action") not in message["legal"]:
        raise InputError(f"{path}, line {number}: the answer behind it does not belong to this question")
    return Put(number, line, question, message["id"], said["action"])


def _line(path: Path, number: int, message: dict[str, Any]) -> bytes:
    line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
    if len(line) > MAX_SENT:
        raise InputError(f"{path}, line {number}: a message to a bot has at most {MAX_SENT} bytes")
    return line


def compared(files: Iterable[tuple[Path, Sequence[Side]]], trying: Trying) -> Iterator[Step]:
    """A step for each file: every seat's side is told to a process of its own, up to the first difference.

    Raises VoidGame.
    """
    for number, (path, sides) in enumerate(files, 1):
        yield _compare(number, path, sides, trying)


def _compare(number: int, path: Path, sides: Sequence[Side], trying: Trying) -> Step:
    for side in sides:
        with trying.subject(hello=side.hello.line) as subject:
            found = tell(side, subject)
        if found is not None:
            return _cross(number, path.name, found, subject)
    questions = sum(side.questions for side in sides)
    seats = "1 seat" if len(sides) == 1 else f"{len(sides)} seats"
    detail = f"{seats}, {questions} questions: every answer as it should be"
    figures: dict[str, float] = {"seats": len(sides), "questions": questions}
    return Step(number=number, name=path.name, title=path.name, mark=Mark.TICK, detail=detail, figures=figures)


def _cross(number: int, name: str, found: Difference, subject: Subject) -> Step:
    where, messages = f"seat {found.seat}, line {found.put.number} of the file", subject.heard.last()
    cross = Step(number=number, name=name, title=name, mark=Mark.CROSS, detail=where)
    if isinstance(found.now, BotFault):
        return at_fault(cross, found.now, messages, detail=f"{where}: {found.now.detail}")
    return msgspec.structs.replace(
        cross,
        detail=f"{where}: it answers {found.now}, and the answer there is {found.put.action}",
        evidence=Evidence(messages=messages),
    )
