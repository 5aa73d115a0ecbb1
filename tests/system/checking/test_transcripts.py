"""Dialogues in files: all that are published can be told again, each side as it stands there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from command_line import ROOT

from referee.checking.bot.harness import Trying
from referee.checking.bot.transcript import Side
from referee.checking.report.report import Mark
from referee.checking.steps.transcripts import compared, read_transcript

PUBLISHED = sorted((ROOT / "protocol" / "transcripts").glob("*.jsonl"))


def test_each_side_is_told_to_a_process_of_its_own_to_the_first_difference(trying: Callable[..., Trying]) -> None:
    files: list[tuple[Path, list[Side]]] = [
        (path, read_transcript(path)) for path in PUBLISHED if "greedy-" in path.name
    ]
    assert [step.mark for step in compared(files, trying())] == [Mark.TICK] * 5
    steps = list(compared(files, trying("queens_last")))
    assert [step.mark for step in steps] == [Mark.CROSS] * 5
    assert all("it answers lay" in step.detail and "the answer there is lay Q" in step.detail for step in steps)
