"""The wire spec: its examples stand in the transcripts, its tables list the models' fields, its bot plays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, TypeAdapter

import protocol
from protocol.codec import MAX_DEPTH, MAX_LINE, MAX_SENT, parse_answer, parse_ready
from protocol.messages import (
    TEXT_LIMIT,
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

README = (Path(protocol.__file__).parent / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
Lines = list[dict[str, Any]]


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


EXAMPLES = [line for block in blocks("json") for line in block.splitlines()]


def test_examples_are_json_python_or_dialogue() -> None:
    assert {kind for kind, _ in BLOCKS} == {"json", "python", "text"}
    assert len(EXAMPLES) >= 13


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_stands_in_a_transcript_and_is_valid(example: str, transcripts: dict[str, Lines]) -> None:
    value = json.loads(example)
    lines = [line for told in transcripts.values() for line in told]
    if "to" in value:
        assert value in lines
        return
    if "drew" in value:
        assert Event.model_validate_json(example)
        assert value in [event for line in lines for event in line["line"].get("events", ())]
        return
    [to] = {line["to"] for line in lines if line["line"] == value}
    if to == "bot":
        assert TypeAdapter(RefereeMessage).validate_json(example)
    else:
        assert parse_ready(example.encode()) if "type" in value else parse_answer(example.encode())


def test_examples_are_written_as_on_the_wire() -> None:
    for example in EXAMPLES:
        assert example == json.dumps(json.loads(example), separators=(",", ":"))


def test_the_dialogue_is_all_of_a_seat_of_a_transcript(transcripts: dict[str, Lines]) -> None:
    [dialogue] = blocks("text")
    marks = {"bot": "<", "referee": ">"}
    assert dialogue.splitlines() == [
        f"{marks[line['to']]} {json.dumps(line['line'], separators=(',', ':'))}"
        for line in transcripts["6-emptied"]
        if line["seat"] == 1
    ]


def rows(heading: str) -> list[str]:
    """The first column of the first table behind some words."""
    table = README[README.index(heading) :].partition("\n|---|---|\n")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("### `hello`", Hello),
        ("### `start`", Start),
        ("\n`rules`:", Rules),
        ("### `act`", Act),
        ("### `end`", End),
        ("### `fault`", Fault),
        ("### `quit`", Quit),
        ("### `ready`", Ready),
        ("### The answer", Answer),
        ("## Events", Event),
    ],
)
def test_each_table_lists_the_fields_of_its_message_in_order(heading: str, model: type[BaseModel]) -> None:
    assert rows(heading) == list(model.model_fields)


def test_the_verdicts_are_all_there() -> None:
    assert rows("## Verdicts") == list(get_args(Verdict))


def test_the_limits_are_the_codecs() -> None:
    limits = README[README.index("## Limits") : README.index("## Transcripts")]
    for words in (f"{MAX_SENT} bytes", f"{MAX_LINE} bytes", f"{MAX_DEPTH} levels", f"{TEXT_LIMIT} characters"):
        assert words in limits
