"""Dialogues in files: all that are published can be told again, each transcript as it stands there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from command_line import ROOT

from referee.bots.seat.transcript import Transcript
from referee.checking.bot.harness import Harness
from referee.checking.report.report import Mark
from referee.checking.steps.transcripts import compared, read_transcripts

PUBLISHED = sorted((ROOT / "protocol" / "transcripts").glob("*.jsonl"))


def test_each_side_is_told_to_a_process_of_its_own_to_the_first_difference(harness: Callable[..., Harness]) -> None:
    files: list[tuple[Path, list[Transcript]]] = [
        (path, read_transcripts(path)) for path in PUBLISHED if "greedy-" in path.name
    ]
    assert [step.mark for step in compared(files, harness())] == [Mark.PASSED] * 5
    steps = list(compared(files, harness("queens_last")))
    assert [step.mark for step in steps] == [Mark.FAILED] * 5
    assert all("it answers lay" in step.detail and "the answer there is lay Q" in step.detail for step in steps)
