"""One line of bytes to one message and back: strict about form, bounded in size, time and depth.

What a bot sends is read here and nowhere else. JSON libraries differ in what they let through (duplicate keys, NaN,
lone surrogates, huge integers, deep nesting), so the standard one is used with hooks and checks of our own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isinf
from typing import NamedTuple, NoReturn

from pydantic import BaseModel

from protocol.messages import MAX_ID, MAX_NUMBER, TEXT_LIMIT, Ready
from protocol.text import readable

MAX_LINE = 65536
"""Bytes that a line from a bot may have, its LF not counted."""
MAX_SENT = 16384
"""Bytes that a line to a bot may have, its LF included."""
MAX_DEPTH = 16
"""How deep objects and arrays may be nested; the message itself is the first level."""

__all__ = [
    "MAX_DEPTH",
    "MAX_LINE",
    "MAX_SENT",
    "ParsedAnswer",
    "WireError",
    "encode",
    "parse_answer",
    "parse_answer_fully",
    "parse_object",
    "parse_ready",
    "readable",
    "usual_answer",
]

_QUOTED = 80
_LONGEST_INTEGER = len(str(-MAX_NUMBER))
_BLANKS = " \t\r\n"
_EXAMPLE = '{"id": 7, "action": "keep"}'


class WireError(ValueError):
    """A line that is not what it should be; the text is one sentence: what was wrong and what was expected."""


class ParsedAnswer(NamedTuple):
    """A bot's answer as it arrived: well formed, and not yet compared with the question."""

    id: int
    action: str
    note: str | None


_new = tuple.__new__
"""Makes a named tuple without its constructor, which takes as long as the pattern does."""

usual_answer = re.compile(rb'\{"id": ?([1-9][0-9]{0,9}), ?"action": ?"([ !#-\[\]-~]{0,63})"\}\r?').fullmatch
"""Matches the usual form of an answer, its groups the id (which may still be too large) and the action, as bytes."""


def parse_answer(line: bytes) -> ParsedAnswer:
    """The answer in a line without its LF. Raises WireError.

    The usual form is read by a pattern, since every decision passes here; everything else, and all that is wrong,
    by `parse_answer_fully`, with which the pattern agrees on whatever it accepts.
    """
    usual = usual_answer(line)
    if usual is not None:
        digits, action = usual.groups()
        number = int(digits)
        if number <= MAX_ID:
            return _new(ParsedAnswer, (number, action.decode(), None))
    return parse_answer_fully(line)


def parse_answer_fully(line: bytes) -> ParsedAnswer:
    """The same as `parse_answer`, by the full parser alone."""
    message = parse_object(line)
    for field in ("id", "action"):
        if field not in message:
            raise WireError(f"the answer {_quote(line)} has no `{field}`; an answer looks like {_EXAMPLE}")
    number, action, note = message["id"], message["action"], message.get("note")
    if type(number) is not int or not 1 <= number <= MAX_ID:
        raise WireError(
            f"`id` is {_shown(number)}, and must be the question's: an integer from 1 to {MAX_ID}, "
            "without quotes, point or exponent"
        )
    if not isinstance(action, str):
        raise WireError(f"`action` is {_shown(action)}, and must be a string, one of the question's `legal`")
    return ParsedAnswer(number, action, note[:TEXT_LIMIT] if isinstance(note, str) else None)


def parse_ready(line: bytes) -> Ready:
    """The `ready` message in a line without its LF. Raises WireError; whether the version was offered is not asked."""
    message = parse_object(line)
    if message.get("type") != "ready":
        raise WireError(f'the answer to `hello` is {_quote(line)}, and must be {{"type": "ready", "protocol": 1}}')
    version = message.get("protocol")
    if type(version) is not int or version < 0:
        what = _shown(version) if "protocol" in message else "missing"
        raise WireError(f"`protocol` is {what} in `ready`, and must be one of the versions offered, an integer")
    return Ready.model_validate(message)


def encode(message: BaseModel) -> bytes:
    """The line of a message, its LF included: ASCII, without spaces outside strings, fields in the model's order.

    Raises ValueError where it would be longer than MAX_SENT bytes.
    """
    line = json.dumps(message.model_dump(mode="json"), separators=(",", ":")).encode("ascii") + b"\n"
    if len(line) > MAX_SENT:
        raise ValueError(f"a line of {len(line)} bytes would be sent, and the contract allows {MAX_SENT}")
    return line


def parse_object(line: bytes) -> dict[str, object]:
    """The JSON object in a line without its LF; a CR at its end and blanks around the object are allowed.

    Raises WireError where the line is anything but one object of strict JSON within the limits above. Numbers
    with a point or an exponent become floats; the time taken is linear in the length of the line.
    """
    text = _text(line)
    _check_depth(text)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise WireError(_broken(text, error)) from None
    if not isinstance(value, dict):
        raise WireError(f"the line is {_kind(value)}, {_quote(text)}, and must be one JSON object")
    _check_surrogates(text, value)
    return value


def _text(line: bytes) -> str:
    if len(line) > MAX_LINE:
        raise WireError(f"the line has more than {MAX_LINE} bytes; it begins with {_quote(line)}")
    if not line.strip(b" \t\r\n"):
        what = "is empty" if line in (b"", b"\r") else "holds nothing but blanks"
        raise WireError(f"the line {what}, and must be one JSON object; end each line only once")
    if line.startswith(b"\xef\xbb\xbf"):
        raise WireError("the line begins with a byte order mark (EF BB BF); write UTF-8 without one")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError(
            f"the line is not UTF-8: byte {error.start + 1} is {line[error.start]:#04x} ({error.reason})"
        ) from None
    if b"\0" in line:
        raise WireError(
            f"the line has a NUL byte at byte {line.index(0) + 1}; write UTF-8, and strings without their final NUL"
        )
    return text


_strings = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_brackets = re.compile(r"[\[\]{}]")


def _check_depth(text: str) -> None:
    """Refuse deep nesting before anything recursive sees it.

    Up to its first error a JSON parser splits a text into strings and brackets as this does, so it goes no deeper.
    """
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _brackets.findall(_strings.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise WireError(f"the JSON is nested deeper than {MAX_DEPTH} levels; it begins with {_quote(text)}")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise WireError(f"the key {_quote(twice)} stands twice in one object; write each key once")
    return found


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER or abs(number := int(digits)) > MAX_NUMBER:
        raise WireError(f"the integer {_quote(digits)} is too large: numbers stay under 2^53")
    return number


def _fraction(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise WireError(f"the number {_quote(digits)} is too large: numbers stay under 2^53")
    return number


def _no_number(name: str) -> NoReturn:
    raise WireError(f"{name} is no JSON; write a number or null")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_integer, parse_float=_fraction, parse_constant=_no_number
)


def _check_surrogates(text: str, value: dict[str, object]) -> None:
    """Only an escape can bring a surrogate in, since the line was UTF-8; the decoder has joined the pairs."""
    if "\\u" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise WireError(
            f"the escape \\u{half:04x} is half of a surrogate pair, without its other half; "
            "write both halves, or the character itself as UTF-8"
        ) from None


def _broken(text: str, error: json.JSONDecodeError) -> str:
    if not text.lstrip(_BLANKS).startswith("{"):
        return (
            f"the line {_quote(text)} is no JSON; stdout is for messages only, one JSON object a line, "
            "and logs go to stderr"
        )
    if error.msg == "Extra data":
        return f"after the JSON object stands {_quote(text[error.pos :])}; a line is one object and nothing else"
    reason = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
    return f"the JSON breaks off at character {error.pos + 1} ({reason}); the line is {_quote(text)}"


_KINDS = {
    list: "an array",
    str: "a string",
    bool: "a truth value",
    type(None): "null",
    int: "a number",
    float: "a number",
}


def _kind(value: object) -> str:
    return _KINDS[type(value)]


def _quote(text: str | bytes) -> str:
    return f"'{readable(text, _QUOTED)}'"


def _shown(value: object) -> str:
    return readable(json.dumps(value, ensure_ascii=False), _QUOTED)
