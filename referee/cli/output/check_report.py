"""What a check found, in lines as it goes or as one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click
import msgspec

from protocol.text import readable
from referee.checking.report.report import CheckReport, CheckStep, Evidence, Mark, Message
from referee.cli.output.words import in_json
from referee.cli.streams import echo_line

_SIGNS = {
    Mark.PASSED: ("✓", "green"),
    Mark.WARNING: ("!", "yellow"),
    Mark.FAILED: ("✗", "red"),
    Mark.NOT_TRIED: ("-", None),
}
_CONTRACT = "protocol/README.md"
_SHORT, _LONG = 160, 1600
"""Characters shown of a message, and of the last one each way."""
_STDERR_LINES = 20


def told_as_it_goes(steps: Iterable[CheckStep]) -> Iterator[CheckStep]:
    """Print each step in lines when it comes."""
    for step in steps:
        for line in lines_of(step):
            echo_line(line)
        yield step


def lines_of(step: CheckStep) -> Iterator[str]:
    """A step in lines for a terminal."""
    sign, colour = _SIGNS[step.mark]
    words = [step.title, step.verdict, step.detail]
    yield f"{step.number:3} {click.style(sign, fg=colour)} " + ": ".join(_shown(word) for word in words if word)
    if step.clause is not None and step.evidence is not None and step.mark in (Mark.FAILED, Mark.WARNING):
        yield f"      contract: {step.clause.text}"
        yield f"                {_CONTRACT}#{step.clause.name.lower()}"
    if step.evidence is not None and step.mark in (Mark.FAILED, Mark.WARNING):
        yield from _evidence(step.evidence)
    if step.repeat is not None:
        yield f"      again: {step.repeat}"


def _shown(text: str) -> str:
    return readable(text, 2000)


def _evidence(evidence: Evidence) -> Iterator[str]:
    if evidence.messages:
        yield "      the last messages, < to the bot, > from it:"
        yield from (f"      {line}" for line in _messages(evidence.messages))
    if evidence.line is not None:
        yield f"      what it said: {readable(evidence.line, _LONG)}"
    if evidence.line_base64 is not None:
        yield f"      its bytes, in base64: {evidence.line_base64}"
    if evidence.exit_status is not None:
        yield f"      its exit status: {evidence.exit_status}"
    if evidence.stderr:
        yield "      its stderr:"
        yield from (
            f"      | {readable(line.expandtabs(4), 200)}" for line in evidence.stderr.splitlines()[-_STDERR_LINES:]
        )


def _messages(messages: tuple[Message, ...]) -> Iterator[str]:
    last = {message.to: place for place, message in enumerate(messages)}
    for place, message in enumerate(messages[-5:], max(len(messages) - 5, 0)):
        limit = _LONG if place in last.values() else _SHORT
        yield f"{'<' if message.to == 'bot' else '>'} {readable(message.line, limit)}"


def summary(report: CheckReport) -> str:
    """What all steps came to, in a line."""
    counts = {mark: sum(step.mark is mark for step in report.steps) for mark in Mark}
    told = [
        f"{counts[mark]} {name}{'' if counts[mark] == 1 else ending}"
        for mark, name, ending in (
            (Mark.PASSED, "tick", "s"),
            (Mark.WARNING, "warning", "s"),
            (Mark.FAILED, "cross", "es"),
            (Mark.NOT_TRIED, "not tried", ""),
        )
        if counts[mark]
    ]
    seed = "" if report.seed is None else f"; random games by --seed {report.seed}"
    return f"{report.bot} {report.hash[:8]}: {'passed' if report.passed else 'failed'}, {', '.join(told)}{seed}"


def document(report: CheckReport) -> str:
    """The report as JSON."""
    return in_json({"passed": report.passed, **msgspec.to_builtins(report)}, indent=2)
