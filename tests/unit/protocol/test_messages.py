"""The models: the contract's fields in their order, and exact types."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from messages import ACT, END, EVENT, FAULT, HELLO, OUT_OF_CONTRACT, RULES, START, WRONG
from pydantic import BaseModel, TypeAdapter, ValidationError

from protocol.messages import (
    Act,
    Answer,
    End,
    Event,
    Fault,
    Hello,
    Quit,
    Ready,
    RefereeMessage,
    Rules,
    Start,
    Verdict,
)

GOOD: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (Hello, HELLO),
    (Start, START),
    (Act, ACT),
    (End, END),
    (Fault, FAULT),
    (Quit, {"type": "quit"}),
    (Rules, RULES),
    (Event, EVENT),
    (Ready, {"type": "ready", "protocol": 1, "name": None, "version": None, "author": None, "language": None}),
    (Answer, {"id": 7, "action": "keep", "note": None}),
]
BY_NAME = {model.__name__.lower(): model for model, _ in GOOD}
named = pytest.mark.parametrize(("model", "good"), GOOD, ids=[model.__name__ for model, _ in GOOD])


def read(model: type[BaseModel], message: dict[str, Any]) -> BaseModel:
    return model.model_validate_json(json.dumps(message))


@named
def test_a_good_message_is_read_and_written_with_its_fields_in_the_contracts_order(
    model: type[BaseModel], good: dict[str, Any]
) -> None:
    assert read(model, good).model_dump_json() == json.dumps(good, separators=(",", ":"))


@named
def test_unknown_fields_are_ignored(model: type[BaseModel], good: dict[str, Any]) -> None:
    assert read(model, {**good, "colour": ["red"]}) == read(model, good)


@named
def test_a_missing_field_is_refused_unless_it_is_optional(model: type[BaseModel], good: dict[str, Any]) -> None:
    optional = {"note", "name", "version", "author", "language"} if model in (Ready, Answer) else set()
    for field in good:
        rest = {key: value for key, value in good.items() if key != field}
        if field in optional:
            assert read(model, rest) == read(model, good)
        else:
            with pytest.raises(ValidationError, match="Field required"):
                read(model, rest)


@named
def test_messages_are_values(model: type[BaseModel], good: dict[str, Any]) -> None:
    message = read(model, good)
    assert hash(message) == hash(read(model, good))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(message, next(iter(good)), None)


def test_every_field_of_a_question_is_tried_with_wrong_values() -> None:
    assert set(WRONG) == set(Act.model_fields)


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_question_with_a_field_of_another_type_or_range_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        read(Act, {**ACT, field: value})


@pytest.mark.parametrize(
    ("model", "good", "field", "value"),
    [(BY_NAME[name], good, field, value) for name, good, field, value in OUT_OF_CONTRACT],
)
def test_values_out_of_the_contract_are_refused(
    model: type[BaseModel], good: dict[str, Any], field: str, value: Any
) -> None:
    assert read(model, good)
    with pytest.raises(ValidationError):
        read(model, {**good, field: value})


def test_there_are_six_verdicts() -> None:
    assert get_args(Verdict) == (
        "start_failed",
        "start_timeout",
        "timeout",
        "protocol_error",
        "illegal_action",
        "crash",
    )


def test_a_line_from_the_referee_is_told_by_its_type() -> None:
    union: TypeAdapter[Any] = TypeAdapter(RefereeMessage)
    for model, good in GOOD[:6]:
        assert type(union.validate_json(json.dumps(good))) is model
    with pytest.raises(ValidationError, match="does not match any of the expected tags"):
        union.validate_json('{"type":"news"}')


def test_a_note_is_cut_and_never_refused() -> None:
    for note, kept in [("n" * 300, "n" * 200), ("", ""), (7, None), (["n"], None), (True, None), (None, None)]:
        assert read(Answer, {"id": 7, "action": "keep", "note": note}).note == kept  # type: ignore[attr-defined]
