"""The models: the contract's fields in their order, and exact types."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
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

RULES = {"odd_card": "talon", "scoring": "places", "discard": "any", "stall_limit": 200}
EVENT = {"seat": 1, "laid": None, "drew": "TC", "result": "discarded", "discarded": ["TD"], "recycled": False}
ACT = {
    "type": "act",
    "id": 7,
    "game_id": "g",
    "seat": 0,
    "rules": RULES,
    "phase": "drawn",
    "hand": ["7C", "AS"],
    "drawn": "7D",
    "legal": ["discard 7C", "keep"],
    "laid": "6C",
    "recycled": False,
    "hand_sizes": [2, 12],
    "talon_size": 11,
    "pile_size": 1,
    "widows": ["QS"],
    "discards": ["TC", "TD"],
    "forfeited": [],
    "kept_in_a_row": 0,
    "events": [EVENT],
    "time_left_ms": 1000,
    "game_left_ms": None,
}
START = {
    "type": "start",
    "game_id": "g",
    "seat": 1,
    "players": 2,
    "hand": ["6C"],
    "hand_sizes": [12, 12],
    "talon_size": 12,
    "rules": RULES,
    "seed": 0,
}
END = {
    "type": "end",
    "game_id": "g",
    "reason": "widows",
    "places": [1, 2],
    "hand_sizes": [3, 4],
    "forfeited": [],
    "events": [],
}
HELLO = {
    "type": "hello",
    "protocol": [1],
    "game": "four-widows",
    "referee": "1",
    "start_ms": None,
    "move_ms": 1,
    "game_ms": None,
}
FAULT = {"type": "fault", "verdict": "crash", "detail": "it exited with status 1"}
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


WRONG: dict[str, list[Any]] = {
    "type": ["ACT", "start", None],
    "id": [7.0, True, "7", 0, -1, 2**31, None, 1.5],
    "game_id": [7, "", None],
    "seat": [0.0, True, "0", -1, 6, None],
    "phase": ["Lay", "draw", None],
    "hand": [None, "7C", ["7c"], ["10C"], ["7C "], ["C7"], [7], [None], {"7C": 1}],
    "drawn": ["7", "", 7, ["7D"], False],
    "legal": [[], None, ["Keep"], ["lay"], ["lay 7c"], ["discard"], ["discard 7C 7D 7H 7S"], ["lay 7C "], [None]],
    "laid": ["7x", 0, False],
    "recycled": [0, 1, "false", None],
    "hand_sizes": [[12], [1] * 7, [2.0, 12], [True, 12], [-1, 3], [37, 1], None, ["2", 3]],
    "talon_size": [11.0, True, "11", -1, None, 37],
    "pile_size": [1.0, True, "1", -1, None, 37],
    "widows": [["QC"] * 5, None, ["qc"]],
    "discards": [["6C"] * 37, None, "6C"],
    "forfeited": [[6], [1.0], [True], None],
    "kept_in_a_row": [0.0, False, -1, None, 2**53],
    "events": [None, [None], [{}], [{**EVENT, "result": "lost"}], [{**EVENT, "discarded": None}]],
    "time_left_ms": [1.0, True, "1000", -1, 2**53],
    "game_left_ms": [1.0, True, "1000", -1, 2**53],
    "rules": [None, {}, {**RULES, "stall_limit": 0}, {**RULES, "stall_limit": 9.0}, {**RULES, "discard": "none"}],
}


def test_every_field_of_a_question_is_tried_with_wrong_values() -> None:
    assert set(WRONG) == set(Act.model_fields)


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_question_with_a_field_of_another_type_or_range_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        read(Act, {**ACT, field: value})


@pytest.mark.parametrize(
    ("model", "good", "field", "value"),
    [
        (Start, START, "players", 1),
        (Start, START, "players", 7),
        (Start, START, "seed", 2**31),
        (Start, START, "seed", -1),
        (Start, START, "seed", True),
        (End, END, "reason", "won"),
        (End, END, "places", [0, 1]),
        (End, END, "places", [1.0, 2]),
        (Hello, HELLO, "protocol", []),
        (Hello, HELLO, "protocol", 1),
        (Hello, HELLO, "protocol", [1.0]),
        (Hello, HELLO, "game", "whist"),
        (Hello, HELLO, "move_ms", 0.5),
        (Fault, FAULT, "verdict", "void"),
        (Fault, FAULT, "detail", None),
    ],
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
