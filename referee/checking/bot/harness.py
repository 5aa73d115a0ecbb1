"""What all steps need: how a process of the bot comes and goes, and how a fault becomes a cross."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher
from referee.bots.process.limits import Limits
from referee.checking.bot.bot_under_test import BotUnderTest, Change, unchanged
from referee.checking.bot.traffic_log import BotHistory
from referee.checking.report.clauses import clause_of
from referee.checking.report.report import CheckStep, Clause, Evidence, Mark, Message
from referee.errors import BotFault
from referee.play import Clock


@dataclass(frozen=True, slots=True)
class Harness:
    """The bot that is tried, with what, and what was heard of it meanwhile."""

    bot: Prepared
    launcher: Launcher
    clock: Clock
    limits: Limits
    history: BotHistory = field(default_factory=BotHistory)

    @contextmanager
    def subject(
        self,
        *,
        limits: Limits | None = None,
        change: Change = unchanged,
        ids: Iterator[int] | None = None,
        hello: bytes | None = None,
        forgiving: bool = False,
    ) -> Iterator[BotUnderTest]:
        """A player of the bot, whose process is gone afterwards."""
        subject = BotUnderTest(
            self.bot,
            launcher=self.launcher,
            clock=self.clock,
            limits=limits or self.limits,
            change=change,
            ids=ids,
            hello=hello,
            history=self.history,
            forgiving=forgiving,
        )
        try:
            yield subject
        finally:
            subject.kill()


def at_fault(
    step: CheckStep,
    fault: BotFault,
    messages: tuple[Message, ...],
    *,
    detail: str | None = None,
    clause: Clause | None = None,
) -> CheckStep:
    """A step with the cross that a fault makes; `detail` and `clause` are the fault's own unless they are given."""
    return msgspec.structs.replace(
        step,
        mark=Mark.CROSS,
        detail=detail or fault.detail,
        verdict=fault.verdict.value,
        clause=clause or clause_of(fault),
        evidence=Evidence.of(fault.evidence, messages),
    )
