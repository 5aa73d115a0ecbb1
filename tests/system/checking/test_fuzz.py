"""Random games: they are real ones with rare positions, find what no other step does, and are repeatable."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from checkable import folder_of
from command_line import referee_command

from referee.bots.seat.transcript import Transcript
from referee.checking.bot.harness import Harness
from referee.checking.report.report import CheckStep, Mark
from referee.checking.steps.fuzz import fuzz
from referee.checking.steps.steps import CheckRun
from referee.checking.steps.transcripts import as_jsonl


def found(harness: Harness, games: int, seed: int) -> tuple[list[CheckStep], list[Transcript]]:
    transcripts: list[Transcript] = []

    def save(transcript: Transcript, number: int) -> str:
        assert number == len(transcripts) + 1
        transcripts.append(transcript)
        return f"again {number}"

    return list(fuzz(CheckRun(harness), games, seed, save)), transcripts


def test_a_good_bot_has_a_tick(harness: Callable[..., Harness]) -> None:
    steps, transcripts = found(harness(), 40, 1)
    assert [(step.name, step.mark, step.figures) for step in steps] == [("fuzz", Mark.PASSED, {"games": 40})]
    assert not transcripts


def test_a_failure_is_told_with_its_cause_and_is_the_same_with_the_same_seed(harness: Callable[..., Harness]) -> None:
    steps, transcripts = found(harness("recycled"), 60, 7)
    [step] = steps
    assert (step.name, step.mark, step.verdict, step.repeat) == ("fuzz", Mark.FAILED, "crash", "again 1")
    assert "phase drawn, recycled" in step.detail and "it exited with status 1" in step.detail
    assert step.clause is not None and step.clause.name == "C11"
    assert step.evidence is not None and '"recycled":true' in step.evidence.messages[-1].line
    assert len(transcripts[0].lines) == step.figures["messages"]
    assert games_in(transcripts[0]) == 1
    again = found(harness("recycled"), 60, 7)
    assert without_ids(again[1][0]) == without_ids(transcripts[0])


def test_games_before_the_failure_are_kept_where_it_needs_them(harness: Callable[..., Harness]) -> None:
    steps, transcripts = found(harness("third_game"), 60, 7)
    assert [(step.mark, step.figures["game"]) for step in steps] == [(Mark.FAILED, 3)]
    assert games_in(transcripts[0]) == 3


def games_in(transcript: Transcript) -> int:
    return sum(line["type"] == "start" for line in without_ids(transcript) if "type" in line)


def without_ids(transcript: Transcript) -> list[dict[str, object]]:
    lines = [json.loads(line)["line"] for line in as_jsonl(transcript).splitlines()]
    return [{key: value for key, value in line.items() if key not in ("id", "game_id")} for line in lines]


def test_what_only_a_random_game_finds_is_written_to_a_file_that_shows_it_again(tmp_path: Path) -> None:
    bot, patient = folder_of(tmp_path, "deep"), ("--move-time", "20s", "--start-time", "60s")
    done = referee_command("check", str(bot), *patient, cwd=tmp_path, seconds=240)
    assert done.returncode == 0, done.stdout
    words = ("--fuzz", "400", "--seed", "2", "--json", *patient)
    done = referee_command("check", str(bot), *words, cwd=tmp_path, seconds=400)
    report = json.loads(done.stdout)
    crosses = [step for step in report["steps"] if step["mark"] == "cross"]
    assert (done.returncode, report["seed"], [step["name"] for step in crosses]) == (1, 2, ["fuzz"])
    assert crosses[0]["repeat"] == f"referee check {bot} --transcript deep-fuzz-1.jsonl"
    again = referee_command("check", str(bot), "--transcript", "deep-fuzz-1.jsonl", *patient, cwd=tmp_path)
    assert again.returncode == 1 and "RuntimeError: cannot do deep" in again.stdout
    good = folder_of(tmp_path, "")
    assert (
        referee_command("check", str(good), "--transcript", "deep-fuzz-1.jsonl", *patient, cwd=tmp_path).returncode == 0
    )


@pytest.mark.parametrize("words", [("--seed", "1"), ("--fuzz", "3", "--transcript", "x.jsonl"), ("--fuzz", "0")])
def test_options_that_do_not_go_together_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = referee_command("check", str(folder_of(tmp_path, "")), *words)
    assert done.returncode == 2 and "--fuzz" in done.stderr
