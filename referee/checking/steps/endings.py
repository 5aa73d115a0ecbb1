"""How the bot's process ends: on quit, and where stdin ends."""

from __future__ import annotations

from collections.abc import Iterator

from protocol.codec import encode
from protocol.messages import Quit
from referee.checking.bot.bot_under_test import BotUnderTest, Departure
from referee.checking.games.games import ordinary, played
from referee.checking.report.clauses import EXIT
from referee.checking.report.report import CheckStep, Evidence, Mark
from referee.checking.steps.steps import CheckRun

GRACE = 1.0
"""What the contract gives a process to exit, in seconds."""
PATIENCE = 5.0
"""How long it is waited for, to tell one that is slow from one that stays."""
_QUIT = encode(Quit(type="quit"))


def endings(run: CheckRun) -> Iterator[CheckStep]:
    """Two steps, two processes."""
    yield _end(run, "quit", "ends on quit", _QUIT)
    yield _end(run, "end_of_stdin", "ends where stdin ends", b"")


def _end(run: CheckRun, name: str, title: str, farewell: bytes) -> CheckStep:
    with run.harness.subject() as subject:
        course = played(subject, ordinary(run.harness.bot))
        if course.fault is not None:
            return run.failed(name, title, course.fault, subject, where="before it was to end")
        return _judged(run, name, title, subject.leave(farewell, seconds=PATIENCE), subject)


def _judged(run: CheckRun, name: str, title: str, left: Departure, subject: BotUnderTest) -> CheckStep:
    evidence = Evidence(messages=subject.traffic.last(), exit_status=left.status, stderr=left.stderr)
    if left.status is None:
        detail = f"it lives on {PATIENCE:.0f} s later: it does not see the end, or waits for something else"
        return run.step(name, title, Mark.FAILED, detail, clause=EXIT, evidence=evidence)
    figures = {"seconds": round(left.seconds, 3)}
    if left.said:
        said = left.said.decode("utf-8", "backslashreplace")
        detail = "it wrote to stdout when nothing was asked any more"
    elif left.seconds > GRACE:
        said, detail = None, f"it took {left.seconds:.1f} s, and is given {GRACE:.0f} s before it is killed"
    elif left.status != 0:
        said, detail = None, f"it ended with exit status {left.status}, and not with 0"
    else:
        return run.step(name, title, detail=f"after {left.seconds * 1000:.0f} ms", clause=EXIT, figures=figures)
    evidence = Evidence(messages=evidence.messages, line=said, exit_status=left.status, stderr=left.stderr)
    return run.step(name, title, Mark.WARNING, detail, clause=EXIT, evidence=evidence, figures=figures)
