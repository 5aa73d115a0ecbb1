"""What an author gets of a game: files that show what the bot was told, what it said, what was wrong, what to do.

A bundle holds what one seat saw, and nothing else of its game: it may be handed out while the round is open.
"""

from __future__ import annotations

import io
import json
import lzma
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from protocol.codec import WireError, parse_object
from referee import __version__
from referee.bots.process.limits import Limits
from referee.bots.seat.dialogue import Asked, Charge, Dialogue
from referee.bots.source.tree import read_small
from referee.bundles.readme import readme
from referee.errors import InputError
from referee.record import Bot, Idling, on_one_line

README, MESSAGES, STDIN, STDERR, OFFENDING, RECORD = (
    "README.txt",
    "messages.jsonl",
    "stdin.jsonl",
    "stderr.txt",
    "offending.bin",
    "record.json",
)
"""The files of a bundle; those about a fault are there only where there was one."""
_LARGEST = 8 << 20
"""Bytes that a file of a bundle, and a .zip file with one, may have when it is read: it may come from anybody."""


class _Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question in `record.json`; its words stand in `messages.jsonl`."""

    turn: int
    id: int
    action: str | None
    us: int


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """`record.json`: the seat's own part of the record of its game."""

    format: Literal[1] = 1
    referee: str = __version__
    game_id: str
    round: int | None
    seat: int
    players: int
    bot: Bot
    rules: dict[str, str | int]
    limits: Limits
    questions: tuple[_Question, ...]
    fault: Charge | None
    idling: Idling | None = None


_NO_LINE = msgspec.Raw(b"")


class _Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of `messages.jsonl`: `line` is a message as it was written, `text` a line that is none."""

    to: Literal["bot", "referee"]
    seat: int
    us: int | None = None
    line: msgspec.Raw = _NO_LINE
    text: str | None = None


def files_of(dialogue: Dialogue) -> dict[str, bytes]:
    """The files of a bundle, by name. Equal dialogues give equal bytes."""
    files = {
        README: readme(dialogue).encode(),
        MESSAGES: b"".join(on_one_line(msgspec.json.encode(message)) + b"\n" for message in _messages(dialogue)),
        STDIN: b"".join(dialogue.sent()),
        RECORD: on_one_line(msgspec.json.format(msgspec.json.encode(_record(dialogue)), indent=2)) + b"\n",
    }
    if dialogue.charge is not None:
        files[STDERR] = str(dialogue.charge.evidence.get("stderr") or "").encode()
        line = offending(dialogue.charge)
        if line is not None:
            files[OFFENDING] = line
    return files


def offending(charge: Charge) -> bytes | None:
    """The line that was wrong, or its last 2,048 bytes, as the bot wrote it; None where there was none."""
    exact, text = charge.evidence.get("line_base64"), charge.evidence.get("line")
    if exact is not None:
        return b64decode(str(exact))
    return None if text is None else str(text).encode()


def _record(dialogue: Dialogue) -> _Record:
    return _Record(
        game_id=dialogue.game_id,
        round=dialogue.round,
        seat=dialogue.seat,
        players=dialogue.players,
        bot=dialogue.bot,
        rules=dialogue.rules,
        limits=dialogue.limits,
        questions=tuple(
            _Question(turn=asked.turn, id=asked.id, action=asked.action, us=asked.us) for asked in dialogue.asked
        ),
        fault=dialogue.charge,
        idling=dialogue.idling,
    )


def _messages(dialogue: Dialogue) -> Iterator[_Message]:
    seat, charge = dialogue.seat, dialogue.charge
    if dialogue.hello is not None:
        yield _to_bot(seat, dialogue.hello)
    if dialogue.ready is not None:
        yield _from_bot(seat, dialogue.ready, None)
    if dialogue.start is not None:
        yield _to_bot(seat, dialogue.start)
    for asked in dialogue.asked:
        yield _to_bot(seat, asked.line)
        if asked.answer is not None:
            yield _from_bot(seat, asked.answer, asked.us)
    if charge is not None and (wrong := offending(charge)) is not None:
        us = charge.evidence.get("us")
        yield _text(seat, wrong, us if isinstance(us, int) else None)
    if charge is not None and charge.line is not None:
        yield _to_bot(seat, charge.line)
    if dialogue.end is not None:
        yield _to_bot(seat, dialogue.end)


def _to_bot(seat: int, line: bytes) -> _Message:
    return _Message(to="bot", seat=seat, line=msgspec.Raw(line.rstrip(b"\n")))


def _from_bot(seat: int, line: bytes, us: int | None) -> _Message:
    """A good line of the bot; one that would lose a byte, by its blanks or by `on_one_line`, stands as text."""
    try:
        parse_object(line)
    except WireError:
        return _text(seat, line, us)
    if line != line.strip() or line != on_one_line(line):
        return _text(seat, line, us)
    return _Message(to="referee", seat=seat, us=us, line=msgspec.Raw(line))


def _text(seat: int, line: bytes, us: int | None) -> _Message:
    return _Message(to="referee", seat=seat, us=us, text=line.decode("utf-8", "backslashreplace"))


# -- reading one

_UNREADABLE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, msgspec.MsgspecError, InputError),
    *(ValueError, LookupError, TypeError, RuntimeError),  # zipfile raises RuntimeError for an encrypted file
)


def read_bundle(path: Path) -> Dialogue:
    """The dialogue in a bundle, a folder or a .zip file. Raises InputError where it is none."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if not path.is_dir() and not path.is_file():
        raise InputError(f"{path} is neither a folder nor a regular file")
    try:
        record, messages = (_read(path, name) for name in (RECORD, MESSAGES))
        return _dialogue(
            msgspec.json.decode(record, type=_Record),
            [msgspec.json.decode(line, type=_Message) for line in messages.splitlines()],
        )
    except _UNREADABLE as error:
        raise InputError(f"{path} is no bundle that `referee bundle` wrote, or it is damaged: {error}") from None


def _read(path: Path, name: str) -> bytes:
    if path.is_dir():
        return _bounded(read_small(path / name, _LARGEST))
    with zipfile.ZipFile(io.BytesIO(read_small(path.resolve(), _LARGEST))) as archive, archive.open(name) as member:
        return _bounded(member.read(_LARGEST + 1))


def _bounded(data: bytes) -> bytes:
    if len(data) > _LARGEST:
        raise ValueError(f"a file of it has more than {_LARGEST >> 20} MiB")
    return data


def _dialogue(record: _Record, messages: list[_Message]) -> Dialogue:
    said: dict[str, list[bytes]] = {}
    answers: list[bytes] = []
    for message in messages:
        if message.to == "referee":
            answers.append(str(message.text).encode() if message.text is not None else bytes(message.line))
        else:
            line = bytes(message.line)
            said.setdefault(str(json.loads(line)["type"]), []).append(line + b"\n")
    acts = said.get("act", [])
    ready = bool(answers) and not (record.fault is not None and record.fault.turn is None)
    given = iter(answers[1:])
    return Dialogue(
        game_id=record.game_id,
        round=record.round,
        seat=record.seat,
        players=record.players,
        bot=record.bot,
        rules=record.rules,
        limits=record.limits,
        hello=next(iter(said.get("hello", [])), None),
        ready=answers[0] if ready else None,
        start=next(iter(said.get("start", [])), None),
        asked=tuple(_asked(*pair, given) for pair in zip(record.questions, acts, strict=True)),
        charge=record.fault,
        end=next(iter(said.get("end", [])), None),
        idling=record.idling,
    )


def _asked(question: _Question, line: bytes, given: Iterator[bytes]) -> Asked:
    if json.loads(line)["id"] != question.id:
        raise ValueError(f"question {question.id} is not where it should be")
    answer = next(given) if question.action is not None else None
    asked = Asked(turn=question.turn, id=question.id, line=line, action=question.action, answer=answer, us=question.us)
    asked.question  # noqa: B018 - to see that it can be read
    return asked
