"""Bundles: one seat's transcript as files for the bot's author, which show what was wrong and what to do.

A bundle holds what one seat saw, and nothing else of its game. It may be handed out while the round is open.
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
from referee.bots.process.limits import Limits
from referee.bots.seat.transcript import PlayedSeat, SeatFault, SentLine, Transcript
from referee.bots.source.tree import read_small
from referee.bundles.readme import readme
from referee.errors import InputError
from referee.record import Bot, Idling, on_one_line
from referee.version import __version__

README, MESSAGES, STDIN, STDERR, OFFENDING, RECORD = (
    "README.txt",
    "messages.jsonl",
    "stdin.jsonl",
    "stderr.txt",
    "offending.bin",
    "record.json",
)
"""The files of a bundle. Those about a fault are only there if there was one."""
_LARGEST = 8 << 20
"""The most bytes of a file of a bundle, and of a .zip file with one, that are read: it may come from anybody."""


class _Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question in `record.json`; its text is in `messages.jsonl`."""

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
    fault: SeatFault | None
    idling: Idling | None = None


_NO_LINE = msgspec.Raw(b"")


class _BundledMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of `messages.jsonl`: `line` is a message as it was written, `text` a line that is not a message."""

    to: Literal["bot", "referee"]
    seat: int
    us: int | None = None
    line: msgspec.Raw = _NO_LINE
    text: str | None = None


def files_of(transcript: Transcript) -> dict[str, bytes]:
    """Return the files of a bundle by name. Equal transcripts give equal bytes."""
    files = {
        README: readme(transcript).encode(),
        MESSAGES: b"".join(on_one_line(msgspec.json.encode(message)) + b"\n" for message in _messages(transcript)),
        STDIN: b"".join(sent.line for sent in transcript.sent()),
        RECORD: on_one_line(msgspec.json.format(msgspec.json.encode(_record(transcript)), indent=2)) + b"\n",
    }
    if transcript.fault is not None:
        files[STDERR] = str(transcript.fault.evidence.get("stderr") or "").encode()
        line = offending(transcript.fault)
        if line is not None:
            files[OFFENDING] = line
    return files


def offending(fault: SeatFault) -> bytes | None:
    """Return the line that was wrong, or its last 2,048 bytes, as the bot wrote it; None if there was none."""
    exact, text = fault.evidence.get("line_base64"), fault.evidence.get("line")
    if exact is not None:
        return b64decode(str(exact))
    return None if text is None else str(text).encode()


def _record(transcript: Transcript) -> _Record:
    played = transcript.of_game
    return _Record(
        game_id=played.game_id,
        round=played.round,
        seat=transcript.seat,
        players=played.players,
        bot=played.bot,
        rules=played.rules,
        limits=played.limits,
        questions=tuple(
            _Question(turn=sent.number, id=sent.id, action=sent.action, us=sent.us)
            for sent in transcript.lines
            if sent.id is not None
        ),
        fault=transcript.fault,
        idling=played.idling,
    )


def _messages(transcript: Transcript) -> Iterator[_BundledMessage]:
    seat, fault = transcript.seat, transcript.fault
    if transcript.hello is not None:
        yield _to_bot(seat, transcript.hello.line)
    if transcript.ready is not None:
        yield _from_bot(seat, transcript.ready, None)
    for sent in transcript.lines:
        yield _to_bot(seat, sent.line)
        if sent.answer is not None:
            yield _from_bot(seat, sent.answer, sent.us)
    if fault is not None and (wrong := offending(fault)) is not None:
        us = fault.evidence.get("us")
        yield _text(seat, wrong, us if isinstance(us, int) else None)
    if fault is not None and fault.line is not None:
        yield _to_bot(seat, fault.line)


def _to_bot(seat: int, line: bytes) -> _BundledMessage:
    return _BundledMessage(to="bot", seat=seat, line=msgspec.Raw(line.rstrip(b"\n")))


def _from_bot(seat: int, line: bytes, us: int | None) -> _BundledMessage:
    """A good line of the bot; one that would lose a byte, by its blanks or by `on_one_line`, stands as text."""
    try:
        parse_object(line)
    except WireError:
        return _text(seat, line, us)
    if line != line.strip() or line != on_one_line(line):
        return _text(seat, line, us)
    return _BundledMessage(to="referee", seat=seat, us=us, line=msgspec.Raw(line))


def _text(seat: int, line: bytes, us: int | None) -> _BundledMessage:
    return _BundledMessage(to="referee", seat=seat, us=us, text=line.decode("utf-8", "backslashreplace"))


# -- reading one

_UNREADABLE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, msgspec.MsgspecError, InputError),
    *(ValueError, LookupError, TypeError, RuntimeError),  # zipfile raises RuntimeError for an encrypted file
)


def read_bundle(path: Path) -> Transcript:
    """Return the transcript in a bundle, a folder or a .zip file. Raises InputError if it is not a bundle."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if not path.is_dir() and not path.is_file():
        raise InputError(f"{path} is neither a folder nor a regular file")
    try:
        record, messages = (_read(path, name) for name in (RECORD, MESSAGES))
        return _transcript(
            msgspec.json.decode(record, type=_Record),
            [msgspec.json.decode(line, type=_BundledMessage) for line in messages.splitlines()],
        )
    except _UNREADABLE as error:
        raise InputError(f"{path} is damaged, or not a bundle written by `referee bundle`: {error}") from None


def _read(path: Path, name: str) -> bytes:
    if path.is_dir():
        return _bounded(read_small(path / name, _LARGEST))
    with zipfile.ZipFile(io.BytesIO(read_small(path.resolve(), _LARGEST))) as archive, archive.open(name) as member:
        return _bounded(member.read(_LARGEST + 1))


def _bounded(data: bytes) -> bytes:
    if len(data) > _LARGEST:
        raise ValueError(f"a file of it has more than {_LARGEST >> 20} MiB")
    return data


def _transcript(record: _Record, messages: list[_BundledMessage]) -> Transcript:
    answers = iter(
        [
            str(message.text).encode() if message.text is not None else bytes(message.line)
            for message in messages
            if message.to == "referee"
        ]
    )
    sent = [bytes(message.line) + b"\n" for message in messages if message.to == "bot"]
    types = [str(json.loads(line)["type"]) for line in sent]
    if types.count("act") != len(record.questions):
        raise ValueError(f"{MESSAGES} and {RECORD} have different numbers of questions")
    was_ready = record.fault is None or record.fault.turn is not None
    ready = next(answers, None) if was_ready else None
    questions = iter(record.questions)
    lines = [
        _question(next(questions), line, answers) if kind == "act" else SentLine(line=line)
        for kind, line in zip(types, sent, strict=True)
        if kind in ("start", "act", "end")
    ]
    hello = next((line for kind, line in zip(types, sent, strict=True) if kind == "hello"), None)
    return Transcript(
        seat=record.seat,
        hello=None if hello is None else SentLine(line=hello, number=1),
        ready=ready,
        lines=tuple(lines),
        fault=record.fault,
        played=PlayedSeat(
            game_id=record.game_id,
            round=record.round,
            players=record.players,
            bot=record.bot,
            rules=record.rules,
            limits=record.limits,
            idling=record.idling,
        ),
    )


def _question(question: _Question, line: bytes, answers: Iterator[bytes]) -> SentLine:
    if json.loads(line)["id"] != question.id:
        raise ValueError(f"question {question.id} is not where it should be")
    answer = next(answers, None) if question.action is not None else None
    if question.action is not None and answer is None:
        raise ValueError(f"question {question.id} has no answer")
    sent = SentLine(
        line=line, number=question.turn, id=question.id, action=question.action, answer=answer, us=question.us
    )
    sent.question  # noqa: B018 - to see that it can be read
    return sent
