"""The results of a check, as plain data for text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Mark(StrEnum):
    """The result of a step. `NOT_TRIED`: an earlier step failed, or the bot never reaches it."""

    PASSED = "tick"
    WARNING = "warning"
    FAILED = "cross"
    NOT_TRIED = "not_tried"


class Clause(msgspec.Struct, frozen=True):
    """A line of the contract: its name, which is its anchor in `protocol/README.md` too, and what stands there."""

    name: str
    text: str


class Message(msgspec.Struct, frozen=True):
    """A line between referee and bot, without its end; `to` is who read it, `bot` or `referee`."""

    to: str
    line: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What shows the cause. `line` and what follows are those of a fault in `docs/records.md`."""

    messages: tuple[Message, ...] = ()
    line: str | None = None
    line_base64: str | None = None
    exit_status: int | None = None
    stderr: str = ""

    @staticmethod
    def of(fault: Mapping[str, str | int | None], messages: tuple[Message, ...]) -> Evidence:
        """The evidence of a fault, with the last messages both ways."""
        line, exact, status = fault.get("line"), fault.get("line_base64"), fault.get("exit_status")
        return Evidence(
            messages=messages,
            line=None if line is None else str(line),
            line_base64=None if exact is None else str(exact),
            exit_status=status if isinstance(status, int) else None,
            stderr=str(fault.get("stderr") or ""),
        )


class CheckStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step: what was tried, what came of it, and what shows it.

    `name` is for programs, `title` for people. `verdict` is the one that a contest would give, None where it would give
    none. `figures` are numbers by name, their unit in the name. `repeat` is a command that shows a failure again.
    """

    number: int
    name: str
    title: str
    mark: Mark
    detail: str
    verdict: str | None = None
    clause: Clause | None = None
    evidence: Evidence | None = None
    figures: dict[str, float] = {}
    repeat: str | None = None


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """All steps of a check of one bot; `seed` is that of the random games, None where there were none."""

    bot: str
    hash: str
    steps: tuple[CheckStep, ...]
    seed: int | None = None

    @property
    def passed(self) -> bool:
        """True if no step failed."""
        return all(step.mark is not Mark.FAILED for step in self.steps)
