"""What holds for every line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.codec import (
    MAX_DEPTH,
    ParsedAnswer,
    WireError,
    parse_answer,
    parse_answer_fully,
    parse_object,
    parse_ready,
)
from protocol.messages import Answer

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abé\x00", max_size=3), inner, max_size=4),
    max_leaves=12,
)

USUAL = st.from_regex(rb'\A\{"id": ?[0-9]{1,11}, ?"action": ?"[ -~]{0,70}"\}\r?\Z')
MUTATED = st.builds(
    lambda line, at, gone, new: line[: at % (len(line) + 1)] + new + line[at % (len(line) + 1) + gone :],
    st.sampled_from(
        [b'{"id": 7, "action": "lay 6C"}', b'{"id":2147483647,"action":"discard 7C 7D"}\r', b'{"id":1,"action":"keep"}']
    ),
    st.integers(0, 60),
    st.integers(0, 2),
    st.binary(max_size=3) | st.sampled_from([b'"', b"\\", b"\x7f", b"\n", b" ", b"0", b"\r", b"\xff", b"}", b"1.0"]),
)


def outcome(parse: Callable[[bytes], ParsedAnswer], line: bytes) -> tuple[object, ...]:
    try:
        answer = parse(line)
    except WireError as error:
        return (str(error),)
    return (*answer, type(answer), type(answer.id))


@unhurried
@given(USUAL | MUTATED | st.binary(max_size=60))
def test_the_pattern_agrees_with_the_full_parser(line: bytes) -> None:
    assert outcome(parse_answer, line) == outcome(parse_answer_fully, line)


@unhurried
@given(st.dictionaries(st.text(max_size=3), JSON_VALUES, max_size=4), st.booleans(), st.sampled_from(["", " ", "\r"]))
def test_every_small_json_object_is_read_as_it_was_written(value: dict[str, Any], ascii_only: bool, end: str) -> None:
    line = (json.dumps(value, ensure_ascii=ascii_only) + end).encode()
    if any(levels(inner) >= MAX_DEPTH for inner in value.values()):
        with pytest.raises(WireError, match="nested deeper"):
            parse_object(line)
    else:
        read = parse_object(line)
        assert read == value and repr(read) == repr(value)


def levels(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(levels, inner), default=0)


FRAGMENTS = [b"{", b"}", b"[", b"]", b'"', b"\\", b"\\ud800", b":", b",", b'"id"', b"1", b"e9", b"NaN", b"\xff", b" "]


@unhurried
@given(st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=2), max_size=40).map(b"".join))
def test_no_line_raises_anything_but_a_wire_error(line: bytes) -> None:
    for parse in (parse_object, parse_answer, parse_ready):
        try:
            parse(line)
        except WireError as error:
            assert str(error).isprintable()


@unhurried
@given(
    st.integers(-5, 2**31 + 5) | st.booleans() | st.floats(1, 9) | st.none(), JSON_VALUES | st.just("keep"), JSON_VALUES
)
def test_the_answers_parser_and_its_model_agree(number: Any, action: Any, note: Any) -> None:
    line = json.dumps({"id": number, "action": action, "note": note}).encode()
    try:
        parsed = parse_answer(line)
    except WireError:
        with pytest.raises(ValueError, match=r"validation error|nested|too large"):
            Answer.model_validate(parse_object(line))
    else:
        model = Answer.model_validate(parse_object(line))
        assert parsed == (model.id, model.action, model.note)
