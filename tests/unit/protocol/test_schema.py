"""The schemas: current, good JSON Schema, and of one mind with the models."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter, ValidationError

from protocol.make_schema import FOLDER, schemas
from protocol.messages import Act, Answer, BotMessage, End, Fault, Hello, Quit, Ready, RefereeMessage, Start

MODELS: list[type[BaseModel]] = [Hello, Start, Act, End, Fault, Quit, Ready, Answer]
SCHEMAS: dict[str, Any] = {name: json.loads(text) for name, text in schemas().items()}


def test_the_files_are_what_the_models_say() -> None:
    assert {path.name: path.read_text("ascii") for path in FOLDER.iterdir()} == schemas()


def test_there_is_one_schema_for_each_message_and_each_direction() -> None:
    messages = {f"{model.__name__.lower()}.json" for model in MODELS}
    assert set(SCHEMAS) == messages | {"referee-to-bot.json", "bot-to-referee.json"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_good_json_schema_with_a_name_and_words(name: str) -> None:
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:four-widows:protocol:v1:{name.removesuffix('.json')}"
    for part in (schema, *schema.get("$defs", {}).values()):
        assert part["title"] and part["description"]
        for field, value in part.get("properties", {}).items():
            assert len(value.get("enum", ())) == 1 or "$ref" in value or value["description"], field
            assert "title" not in value


@pytest.mark.parametrize("name", SCHEMAS)
def test_further_fields_are_allowed_everywhere(name: str) -> None:
    assert "additionalProperties" not in json.dumps(SCHEMAS[name])


def accepts(model: Any, message: Any) -> bool:
    try:
        TypeAdapter(model).validate_json(json.dumps(message))
    except ValidationError:
        return False
    return True


def test_one_point_zero_is_where_schemas_and_models_differ() -> None:
    answer = {"id": 7.0, "action": "keep"}
    assert Draft202012Validator(SCHEMAS["answer.json"]).is_valid(answer)
    assert not accepts(Answer, answer)


NUMBERS = [0, 1, -1, 6, 7, 36, 37, 200, 2**31 - 1, 2**31, 2**53 - 1, 2**53, 0.5]
TEXTS = ["", "6C", "6c", "QSQ", "lay 6C", "keep", "discard 7C 7D", "discard", "act", "quit", "kept", "any", "x" * 300]
LISTS = [[], [1], [1, 2], [1] * 7, ["6C"], ["QS"] * 5, ["keep"], [None]]
OTHER_VALUES = st.sampled_from([None, True, False, *NUMBERS, *TEXTS, *LISTS, {}, {"seat": 1}])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([path] if path else []), *(way for key, one in inner for way in places(one, (*path, key)))]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_schemas_and_models_agree_on_messages_with_one_wrong_value(
    transcripts: dict[str, list[dict[str, Any]]], data: st.DataObject
) -> None:
    told = data.draw(st.sampled_from(transcripts["3-widows"] + transcripts["2-timeout"]))
    message = deepcopy(told["line"])
    way = data.draw(st.sampled_from(places(message)))
    inner = message
    for key in way[:-1]:
        inner = inner[key]
    if isinstance(inner, dict) and data.draw(st.booleans()):
        del inner[way[-1]]
    else:
        inner[way[-1]] = data.draw(OTHER_VALUES)
    name, union = ("referee-to-bot", RefereeMessage) if told["to"] == "bot" else ("bot-to-referee", BotMessage)
    assert Draft202012Validator(SCHEMAS[f"{name}.json"]).is_valid(message) == accepts(union, message)
