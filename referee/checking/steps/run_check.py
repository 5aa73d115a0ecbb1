"""A whole check, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from referee.checking.report.report import CheckStep, Mark
from referee.checking.steps.basics import answers, clocks, ids, one_process, starts, unknown
from referee.checking.steps.endings import endings
from referee.checking.steps.fuzz import Save, fuzz
from referee.checking.steps.measures import measures
from referee.checking.steps.positions import positions
from referee.checking.steps.repeating import repeatable
from referee.checking.steps.selfplay import selfplay
from referee.checking.steps.steps import CheckRun
from referee.rules import Rules

_FIRST = (starts, answers)
"""What has to go well before anything else can be tried."""
_THEN = (ids, unknown, one_process, positions, clocks, endings, repeatable)


class Fuzz(NamedTuple):
    """How many random games are to be played, by which seed, and what keeps their failures."""

    games: int
    seed: int
    save: Save


def check(run: CheckRun, rules: Rules, dice: Random, wanted: Fuzz | None = None) -> Iterator[CheckStep]:
    """All steps, each as soon as it is known. Raises VoidGame where the machine fails time after time."""
    for plan in _FIRST:
        for step in plan(run):
            yield step
            if step.mark is Mark.FAILED:
                yield run.step("rest", "all other steps", Mark.NOT_TRIED, f"step {step.number} has to go well before")
                return
    for plan in _THEN:
        yield from plan(run)
    yield from selfplay(run, rules, dice)
    if wanted is not None:
        yield from fuzz(run, *wanted)
    yield from measures(run)
