"""Dialogues in files: all that are published can be told again, each transcript as it stands there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import ROOT

from referee.checking.steps.transcripts import as_jsonl, read_transcripts
from referee.errors import InputError

PUBLISHED = sorted((ROOT / "protocol" / "transcripts").glob("*.jsonl"))
WITHOUT_QUESTIONS = "2-start-failed.jsonl"


@pytest.mark.parametrize(
    "path", [path for path in PUBLISHED if path.name != WITHOUT_QUESTIONS], ids=lambda path: path.name
)
def test_a_published_dialogue_is_read_to_the_byte(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    for transcript in read_transcripts(path):
        own = [(number, line) for number, line in enumerate(lines, 1) if line["seat"] == transcript.seat]
        told = [
            (number, json.dumps(line["line"], separators=(",", ":")).encode() + b"\n")
            for number, line in own
            if line["to"] == "bot" and line["line"]["type"] not in ("fault", "quit")
        ]
        assert [(sent.number, sent.line) for sent in transcript.sent()] == told
        at_fault = own[-1][1]["line"]["type"] == "fault"
        answers = [line["line"]["action"] for _, line in own if "action" in line["line"]]
        asked = [sent.action for sent in transcript.questions]
        assert [action for action in asked if action is not None] == answers[: len(asked) - at_fault]
        assert (None in asked) == at_fault


def test_a_dialogue_without_a_question_is_refused() -> None:
    with pytest.raises(InputError, match="has no question to a bot that was ready"):
        read_transcripts(ROOT / "protocol" / "transcripts" / WITHOUT_QUESTIONS)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            '{"to":"bot","seat":0,"line":{"type":"nothing"}}',
            r"line 1: Input tag 'nothing' .*: it is not a message to a bot",
        ),
        (
            '{"to":"bot","seat":0,"line":{"type":"hello"}}',
            "line 1: protocol: Field required: it is not a message to a bot",
        ),
        ("[" * 100_000, "line 1 is not a line of a transcript"),
        ('{"to":"bot","seat":1e400,"line":{}}', "line 1 is not a line of a transcript"),
    ],
)
def test_a_line_that_is_none_is_refused(tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "odd.jsonl").write_text(line)
    with pytest.raises(InputError, match=sentence):
        read_transcripts(tmp_path / "odd.jsonl")


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="has more than 64 MiB"):
        read_transcripts(Path("/dev/zero"))


def test_what_was_written_is_read_as_it_was_without_the_answers(tmp_path: Path) -> None:
    for transcript in read_transcripts(ROOT / "protocol" / "transcripts" / "greedy-3.jsonl"):
        path = tmp_path / f"{transcript.seat}.jsonl"
        path.write_text(as_jsonl(transcript))
        [read] = read_transcripts(path)
        assert [sent.line for sent in read.lines] == [sent.line for sent in transcript.lines]
        assert {sent.action for sent in read.lines} == {None} and read.seat == transcript.seat
