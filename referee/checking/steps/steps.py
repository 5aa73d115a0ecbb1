"""What the steps of one check share, and steps that failed by a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import msgspec

from referee.checking.bot.bot_under_test import BotUnderTest
from referee.checking.bot.harness import Harness, at_fault
from referee.checking.report.report import CheckStep, Clause, Mark
from referee.errors import BotFault

_VARYING = re.compile(r"[6-9TJQKA][CDHS]|\d+|\{.*?\}|\\n")
"""What of a fault's words differs from one time to the other: cards, numbers, what the bot said."""


@dataclass(slots=True)
class CheckRun:
    """What the steps of one check share: the bot, the numbers of the steps, and what was found so far.

    `lonely`: the bot fails where it has played before, or leaves after a game: each game gets a process of its own.
    `seen` are the faults by their signature, with the number of the step that reported each.
    """

    harness: Harness
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    lonely: bool = False
    seen: dict[str, int] = field(default_factory=dict)

    def step(self, name: str, title: str, mark: Mark = Mark.PASSED, detail: str = "", **more: object) -> CheckStep:
        """A step with the next number."""
        step = CheckStep(number=next(self.numbers), name=name, title=title, mark=mark, detail=detail)
        return msgspec.structs.replace(step, **more)

    def failed(
        self,
        name: str,
        title: str,
        fault: BotFault,
        subject: BotUnderTest,
        *,
        where: str = "",
        clause: Clause | None = None,
    ) -> CheckStep:
        """Return a step that failed by a fault; evidence that was shown before is not shown again."""
        step = at_fault(self.step(name, title), fault, subject.traffic.last(), clause=clause)
        before = self.seen.setdefault(signature(fault), step.number)
        detail = f"{where}: {fault.detail}" if where else fault.detail
        if before != step.number:
            return msgspec.structs.replace(step, detail=f"{detail}; as in step {before}", evidence=None)
        return msgspec.structs.replace(step, detail=detail)


def signature(fault: BotFault) -> str:
    """What two faults of the same cause have in common: the verdict, and the words without numbers and cards."""
    words = _VARYING.sub("#", fault.detail)
    return f"{fault.verdict} {words[:200]}"
