"""`referee check --transcript`: dialogues in files are told to a bot again, and its answers compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, referee_command

TRANSCRIPTS = ROOT / "protocol" / "transcripts"
GREEDY = sorted(TRANSCRIPTS.glob("greedy-*.jsonl"))
SHORT = TRANSCRIPTS / "greedy-4.jsonl"


def check(bot: Path, *words: str | Path, code: int) -> str:
    done = referee_command("check", str(bot), *map(str, words), seconds=120)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code < 2 else done.stderr


def test_greedy_gives_the_answers_of_all_its_dialogues(tmp_path: Path) -> None:
    out = check(broken(tmp_path, ""), "--transcript", *GREEDY, code=0)
    assert len(GREEDY) == 5 and out.count("every answer is the same") == 5


def broken(tmp_path: Path, mode: str) -> Path:
    """A bot that plays greedy, but for one thing."""
    folder = tmp_path / "rare"
    folder.mkdir()
    shutil.copy(ROOT / "tests" / "system" / "checking" / "programs" / "rare.py", folder)
    (folder / "bot.toml").write_text(f'command = ["python3", "rare.py", "{mode}"]\n')
    return folder


def test_the_first_difference_is_told_with_its_line_and_the_question(tmp_path: Path) -> None:
    bot = broken(tmp_path, "queens_last")
    lines = [json.loads(line) for line in SHORT.read_text().splitlines()]
    report = json.loads(check(bot, "--transcript", SHORT, "--json", code=1))
    [step] = report["steps"]
    asked, said = step["evidence"]["messages"][-2:]
    number = int(step["detail"].split(" of the file")[0].rpartition(" ")[2])
    assert (report["passed"], step["mark"], step["verdict"]) == (False, "cross", None)
    assert json.loads(asked["line"]) == lines[number - 1]["line"]
    then = next(
        line["line"]["action"] for line in lines[number:] if line["line"]["id"] == json.loads(asked["line"])["id"]
    )
    now = json.loads(said["line"])["action"]
    assert step["detail"].endswith(f"it answers {now}, and the answer there is {then}") and now != then


def test_a_fault_is_told_with_its_cause_the_line_of_the_contract_and_stderr(tmp_path: Path) -> None:
    bot = broken(tmp_path, "three_widows")
    out = check(bot, "--transcript", SHORT, code=1)
    assert "greedy-4.jsonl: crash: seat " in out and "RuntimeError: cannot do three_widows, in line" in out
    assert "protocol/README.md#c11" in out and "| Traceback" in out


def test_any_legal_answer_will_do_where_the_file_has_none_or_a_fault(tmp_path: Path) -> None:
    told = [
        line
        for line in map(json.loads, SHORT.read_text().splitlines())
        if line["to"] == "bot" or "type" in line["line"]
    ]
    path = write(tmp_path, told)
    first = ROOT / "tests" / "system" / "bots" / "programs" / "plain" / "first.py"
    assert "every answer is the same" in check(first, "--transcript", path, code=0)


def write(folder: Path, lines: list[dict[str, Any]]) -> Path:
    path = folder / "told.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda lines: lines[:0], "no question"),
        (lambda lines: [{"to": "bot"}], "line 1 is not a line of a transcript"),
        (lambda lines: lines[1:], "do not begin with hello"),
        (lambda lines: [{**lines[0], "line": {**lines[0]["line"], "protocol": [2]}}, *lines[1:]], "only version of the protocol is 1"),
        (lambda lines: [with_first_act(line, legal=["keep"]) for line in lines], "is not what the rules allow"),
        (lambda lines: [with_first_act(line, hand=["1X"]) for line in lines], "not a message to a bot"),
        (lambda lines: [with_answer(line, action="keep it") for line in lines], "does not belong to this question"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_transcript_is_refused_in_a_sentence(tmp_path: Path, spoil: Any, said: str) -> None:
    lines = [json.loads(line) for line in SHORT.read_text().splitlines()]
    path = write(tmp_path, spoil([line for line in lines if line["seat"] == 1]))
    told = check(ROOT / "example_bots" / "greedy", "--transcript", path, code=2)
    assert said in told and str(path) in told and len(told.splitlines()) == 1


def with_first_act(line: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**line, "line": {**line["line"], **fields}} if line["line"].get("type") == "act" else line


def with_answer(line: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**line, "line": {**line["line"], **fields}} if "action" in line["line"] else line


def test_a_file_that_is_not_there_and_a_second_bot_are_refused(tmp_path: Path) -> None:
    greedy = ROOT / "example_bots" / "greedy"
    assert "cannot be read: No such file" in check(greedy, "--transcript", tmp_path / "x", code=2)
    assert "one bot at a time" in check(greedy, greedy, code=2)
