"""The wire spec: its examples stand in the transcripts, its tables list the models' fields, its bot plays."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import protocol
from protocol.codec import parse_answer, parse_ready

README = (Path(protocol.__file__).parent / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
Lines = list[dict[str, Any]]


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


@pytest.mark.parametrize("name", ["2-two-games", "3-recycled-in-mid-turn", "6-widows"])
def test_the_smallest_bot_answers_every_question_with_a_legal_action(name: str, transcripts: dict[str, Lines]) -> None:
    [program] = blocks("python")
    told = [line["line"] for line in transcripts[name] if line["seat"] == 1 and line["to"] == "bot"]
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="".join(json.dumps(message) + "\n" for message in told).encode(),
        capture_output=True,
        timeout=30,
        check=True,
    )
    first, *answers = done.stdout.splitlines()
    assert parse_ready(first).protocol == 1 and done.stderr == b""
    asked = [message for message in told if "id" in message]
    assert len(answers) == len(asked) >= 3
    for question, answer in zip(asked, answers, strict=True):
        assert parse_answer(answer).id == question["id"] and parse_answer(answer).action in question["legal"]
