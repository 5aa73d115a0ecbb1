"""The fields of what a bot says, and the lines that it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from protocol.codec import MAX_SENT, WireError, encode, parse_answer, parse_ready
from protocol.messages import Fault, Quit, Ready


def refusal(line: bytes, parse: Callable[[bytes], object] = parse_answer) -> str:
    """Why a line is refused."""
    with pytest.raises(WireError) as caught:
        parse(line)
    text = str(caught.value)
    assert "\n" not in text and text.isprintable()
    return text


# -- the answer's fields


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"true", "true"),
        (b"false", "false"),
        (b"1.0", "1.0"),
        (b"1e0", "1.0"),
        (b'"7"', '"7"'),
        (b"null", "null"),
        (b"[7]", "[7]"),
        (b"0", "0"),
        (b"-0", "0"),
        (b"-7", "-7"),
        (b"2147483648", "2147483648"),
        (b"9999999999", "9999999999"),
    ],
)
def test_an_id_that_is_no_integer_of_the_range_is_refused(written: bytes, shown: str) -> None:
    assert refusal(b'{"id":' + written + b',"action":"keep"}') == (
        f"`id` is {shown}, and must be the question's: an integer from 1 to 2147483647, "
        "without quotes, point or exponent"
    )


@pytest.mark.parametrize("action", [b"null", b"7", b'["keep"]', b'{"lay":"6C"}', b"true"])
def test_an_action_that_is_no_string_is_refused(action: bytes) -> None:
    assert refusal(b'{"id":7,"action":' + action + b"}").endswith("and must be a string, one of the question's `legal`")


def test_a_missing_field_is_named() -> None:
    example = 'an answer looks like {"id": 7, "action": "keep"}'
    assert refusal(b'{"action":"keep"}') == f'the answer \'{{"action":"keep"}}\' has no `id`; {example}'
    assert refusal(b'{"id":7,"Action":"keep"}') == (
        f'the answer \'{{"id":7,"Action":"keep"}}\' has no `action`; {example}'
    )


# -- ready


def test_ready_needs_its_type_and_version_only() -> None:
    assert parse_ready(b'{"type":"ready","protocol":1}\r') == Ready(type="ready", protocol=1)


def test_labels_are_kept_cut_or_ignored_and_never_refused() -> None:
    line = {"type": "ready", "protocol": 1, "name": "n" * 300, "version": 2, "author": None, "language": "C", "x": 1}
    assert parse_ready(json.dumps(line).encode()) == Ready(type="ready", protocol=1, name="n" * 200, language="C")


@pytest.mark.parametrize("version", [b'"1"', b"1.0", b"true", b"null", b"-1", b"[1]"])
def test_a_version_that_is_no_integer_is_refused(version: bytes) -> None:
    assert refusal(b'{"type":"ready","protocol":' + version + b"}", parse_ready).endswith(
        "in `ready`, and must be one of the versions offered, an integer"
    )


def test_ready_without_a_version_is_refused() -> None:
    assert refusal(b'{"type":"ready"}', parse_ready).startswith("`protocol` is missing")


@pytest.mark.parametrize("line", [b'{"id":7,"action":"keep"}', b'{"type":"Ready","protocol":1}', b'{"type":["ready"]}'])
def test_another_message_than_ready_is_quoted(line: bytes) -> None:
    assert refusal(line, parse_ready) == (
        f'the answer to `hello` is \'{line.decode()}\', and must be {{"type": "ready", "protocol": 1}}'
    )


# -- encode


def test_a_message_becomes_one_ascii_line_in_the_models_order() -> None:
    fault = Fault(detail="“é” is\nno action", verdict="illegal_action", type="fault")
    line = rb'{"type":"fault","verdict":"illegal_action","detail":"\u201c\u00e9\u201d is\nno action"}' + b"\n"
    assert encode(fault) == line
    assert encode(Quit(type="quit")) == b'{"type":"quit"}\n'


def test_a_line_of_16_kib_is_the_longest_that_is_sent() -> None:
    empty = len(encode(Fault(type="fault", verdict="crash", detail="")))
    longest = Fault(type="fault", verdict="crash", detail="x" * (MAX_SENT - empty))
    assert len(encode(longest)) == MAX_SENT
    with pytest.raises(ValueError, match="a line of 16385 bytes would be sent"):
        encode(Fault(type="fault", verdict="crash", detail=longest.detail + "x"))
