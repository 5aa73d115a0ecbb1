"""`referee check` as an author uses it: what it prints, its document, its exit code, and bots that are good."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from checkable import folder_of
from command_line import ROOT, referee_command

from referee.checking.report.report import CheckReport, CheckStep, Evidence

PROGRAMS = ROOT / "tests" / "system" / "bots" / "programs"
PATIENT = ("--start-time", "60s", "--move-time", "20s")
"""Limits that a busy machine keeps."""


def check(bot: Path, *words: str, code: int, seconds: float = 240) -> str:
    for _ in range(5):
        done = referee_command("check", str(bot), *words, seconds=seconds)
        if done.stdout:  # else the machine was too busy to judge, which the command says
            break
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def document(bot: Path, *words: str, code: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(check(bot, "--json", *words, code=code))
    return found


@pytest.mark.parametrize("name", ["greedy", "greedy-c", "memory", "pairs", "random"])
def test_an_example_bot_passes(name: str) -> None:
    report = document(ROOT / "example_bots" / name, *PATIENT, code=0)
    assert report["passed"] and report["bot"] == name
    assert {step["mark"] for step in report["steps"] if step["name"] != "time"} <= {"tick", "not_tried"}
    assert [step["name"] for step in report["steps"] if step["mark"] == "not_tried"] in ([], ["empty_hand"])


def test_the_steps_are_those_of_the_page_in_order_and_the_document_that_of_the_records() -> None:
    report = document(ROOT / "example_bots" / "greedy", *PATIENT, code=0)
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    told = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert [step["name"] for step in report["steps"]] == told
    assert [step["number"] for step in report["steps"]] == list(range(1, len(told) + 1))
    records = (ROOT / "docs" / "records.md").read_text("utf-8").partition("## `check --json`")[2].partition("\n## ")[0]
    named = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in records.splitlines() if row.startswith("| `")))
    assert named == [*report, *CheckStep.__struct_fields__, *Evidence.__struct_fields__]
    assert set(report) == {"passed", *CheckReport.__struct_fields__}


def test_a_cross_shows_the_messages_the_cause_stderr_and_the_line_of_the_contract(tmp_path: Path) -> None:
    out = check(folder_of(tmp_path, "forfeited"), *PATIENT, code=1)
    block = out[out.index("\u2717 ") :].split("\n ")[0:14]
    text = "\n ".join(block)
    assert (
        "forfeited is not empty: crash: question 1 of a game of 3, phase lay, one at fault: it exited with status 1"
        in text
    )
    assert "RuntimeError: cannot do forfeited, in line " in text
    assert "contract: Exit at `quit`, or when stdin ends, and not before." in text
    assert "protocol/README.md#c11" in text
    assert re.search(r'< \{"type":"act".*"forfeited":\[1\]', text) is not None
    assert "| Traceback (most recent call last):" in text
    assert out.rstrip().splitlines()[-1].startswith("forfeited ") and " failed, " in out


def test_offending_bytes_are_shown(tmp_path: Path) -> None:
    out = check(folder_of(tmp_path, "prints"), *PATIENT, code=1)
    assert "what it said: thinking about [" in out and "protocol/README.md#c4" in out


@pytest.mark.parametrize(
    ("mode", "words"), [("exits", "crash: it exited with status 7"), ("never_ready", "start_timeout")]
)
def test_a_bad_bot_fails_with_the_reason(tmp_path: Path, mode: str, words: str) -> None:
    out = check(folder_of(tmp_path, mode, PROGRAMS / "bad.py"), "--start-time", "1s", code=1)
    assert words in out


def test_a_bot_that_needs_a_new_process_for_every_game_is_warned(tmp_path: Path) -> None:
    out = check(folder_of(tmp_path, "exits_after_end", PROGRAMS / "who.py", players=[2]), *PATIENT, code=0)
    assert "it exits after the end of a game" in out and "8 processes had to be replaced between games" in out


def test_a_bot_is_tried_at_its_own_tables_alone(tmp_path: Path) -> None:
    report = document(folder_of(tmp_path, "six", players=[3, 4]), *PATIENT, code=0)
    not_tried = {step["name"] for step in report["steps"] if step["mark"] == "not_tried"}
    assert not_tried - {"empty_hand"} == {"players_2", "players_5", "players_6", "last_discard"}
    played = [step["name"] for step in report["steps"] if step["name"].startswith("selfplay")]
    assert played == ["selfplay_3", "selfplay_4"]


def test_what_is_no_bot_is_refused(tmp_path: Path) -> None:
    done = referee_command("check", str(tmp_path / "nothing"))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


ESCAPES = r"""
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready","protocol":1}', flush=True)
    elif "id" in message:
        print("\x1b[2J\u202e\x7f\x9b31m on stderr", file=sys.stderr, flush=True)
        print("\x1b[2J\u202e\x7f\x9b31m on stdout", flush=True)
"""


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_nothing_that_a_terminal_would_obey_is_printed_of_what_a_bot_says(tmp_path: Path, words: tuple[str]) -> None:
    (tmp_path / "escapes.py").write_text(ESCAPES, encoding="utf-8")
    out = check(tmp_path / "escapes.py", *words, *PATIENT, code=1)
    assert "on stderr" in out and "on stdout" in out
    assert not set("\x1b\u202e\x7f\x9b") & set(out)
