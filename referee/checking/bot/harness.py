"""What all steps need: processes of the bot under test, and steps that failed by a fault."""

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
    """The bot under test, how its processes are made, and what is known of them so far."""

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
    """Return a step that failed by a fault; `detail` and `clause` are the fault's own unless they are given."""
    return msgspec.structs.replace(
        step,
        mark=Mark.FAILED,
        detail=detail or fault.detail,
        verdict=fault.verdict.value,
        clause=clause or clause_of(fault),
        evidence=Evidence.of(fault.evidence, messages),
    )
