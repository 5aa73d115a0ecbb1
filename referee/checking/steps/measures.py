"""What was measured while all else was tried: time per decision, memory, and what was written to stderr."""

from __future__ import annotations

from collections.abc import Iterator

from referee.checking.report.report import CheckStep, Evidence, Mark
from referee.checking.steps.steps import CheckRun

_MIB = 1 << 20
GROWN = 48 * _MIB
"""How much more memory a process may hold after some games than after its first, before it is told."""
MUCH_STDERR = 64 * 1024
"""How many bytes of stderr a bot may write before it is warned that this costs time."""


def measures(run: CheckRun) -> Iterator[CheckStep]:
    """Three steps: what was measured so far."""
    if run.harness.history.times:
        yield _times(run)
    yield _memory(run)
    yield _stderr(run)


def _times(run: CheckRun) -> CheckStep:
    times = sorted(run.harness.history.times)
    median, late, worst = times[len(times) // 2], times[len(times) * 99 // 100], times[-1]
    figures = {"decisions": len(times), "median_us": median, "p99_us": late, "worst_us": worst}
    detail = f"{len(times)} decisions: median {_ms(median)}, 99% within {_ms(late)}, slowest {_ms(worst)}"
    limit = run.harness.limits.move_ms
    if limit is not None and worst > limit * 500:
        detail += f": more than half of the {limit} ms that it may take; a busy machine takes the rest"
        return run.step("time", "time per decision", Mark.WARNING, detail, figures=figures)
    return run.step("time", "time per decision", detail=detail, figures=figures)


def _memory(run: CheckRun) -> CheckStep:
    history = run.harness.history
    figures: dict[str, float] = {"peak_bytes": history.peak, "grown_bytes": history.grown}
    detail = f"at most {history.peak / _MIB:.1f} MiB, a process and all that it started"
    if history.grown > GROWN:
        detail += (
            f"; it grew by {history.grown / _MIB:.1f} MiB in a few games: what a game needs is to be forgotten at its "
            "end, or the process is killed some day in a long round"
        )
        return run.step("memory", "memory", Mark.WARNING, detail, figures=figures)
    return run.step("memory", "memory", detail=detail, figures=figures)


def _stderr(run: CheckRun) -> CheckStep:
    log = run.harness.history.stderr
    figures: dict[str, float] = {"bytes": log.total}
    if not log.total:
        return run.step("stderr", "what it wrote to stderr", detail="nothing", figures=figures)
    last = log.text().rstrip().rpartition("\n")[2]
    detail = f"{log.total} bytes, last: {last[:200]}"
    evidence = Evidence(stderr=log.text())
    if log.total > MUCH_STDERR:
        detail += " (so much costs time in each game)"
        return run.step("stderr", "what it wrote to stderr", Mark.WARNING, detail, figures=figures, evidence=evidence)
    return run.step("stderr", "what it wrote to stderr", detail=detail, figures=figures, evidence=evidence)


def _ms(us: int) -> str:
    return f"{us / 1000:.2f} ms"
