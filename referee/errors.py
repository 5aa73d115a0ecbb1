"""Every error of ours, drawn as one tree.

    RefereeError
    +-- InputError            what the user gave cannot be used; exit code 2, nothing lost
    |   +-- BotsRefused       bot folders that cannot play, all of them at once
    |   +-- RulesError        an option of the rules or a deck that does not exist
    |   +-- DatabaseError     a database that cannot be used, and why
    |       +-- DatabaseBusyError   another referee is playing on it
    +-- DatabaseGone          the database was removed or replaced while it was played on; its games are in a copy
    +-- IllegalActionError    an action that the rules do not allow now
    +-- BotFault              a bot broke the protocol, the clock or the rules: the bot's fault
    +-- VoidGame              the machine or the referee failed: nobody's fault, played again

`protocol` has one of its own, `protocol.codec.WireError`: it knows nothing of referees.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Verdict(StrEnum):
    """What a bot is charged with; the names are those of the wire contract."""

    START_FAILED = "start_failed"
    START_TIMEOUT = "start_timeout"
    TIMEOUT = "timeout"
    PROTOCOL_ERROR = "protocol_error"
    ILLEGAL_ACTION = "illegal_action"
    CRASH = "crash"


class RefereeError(Exception):
    """The base of all errors that this program raises on purpose; its text is one sentence for people."""


class InputError(RefereeError):
    """What the user gave cannot be used: the text says what, and what would do."""


class BotsRefused(InputError):
    """Some bots cannot play.

    `reasons` has a reason for each refused path; `advice` is a line that follows them.
    """

    def __init__(self, reasons: Mapping[str, str], advice: str = "") -> None:
        self.reasons = dict(reasons)
        self.lines = [line for path, reason in self.reasons.items() for line in refusal_lines(path, reason)]
        if advice:
            self.lines.append(advice)
        super().__init__("\n".join(self.lines))


def refusal_lines(name: str, reason: str) -> list[str]:
    """Return a sentence that names what is refused, and below it the indented lines of a build's log, if any."""
    first, *log = reason.split("\n")
    return [f"{name}: {first}", *(f"    {line.strip()}" for line in log)]


def system_words(error: OSError) -> str:
    """Return what the system says, and which file it concerns where that is known."""
    words = error.strerror or str(error) or type(error).__name__
    return f"{words}: {error.filename}" if error.filename else words


class RulesError(InputError):
    """An option of the rules, a number of players or a deck that does not exist."""


class DatabaseError(InputError):
    """A database that cannot be used: missing, of another program, of another version, of other rules."""


class DatabaseBusyError(DatabaseError):
    """Another referee is playing on this database."""


class DatabaseGone(RefereeError):
    """The database was removed, renamed or replaced while this process played on it."""


class IllegalActionError(RefereeError):
    """An action that is not among the legal ones of this position."""


class BotFault(RefereeError):
    """A bot broke the protocol, the clock or the rules.

    `detail` is one readable sentence: what was wrong, what was expected, the likely cause.
    `evidence` holds what an author needs to act: offending bytes, exit status, stderr's head and tail; `us` is the
    time from the question to the fault, in microseconds.
    """

    def __init__(
        self, verdict: Verdict, detail: str, evidence: Mapping[str, str | int | None] | None = None, *, us: int = 0
    ) -> None:
        self.verdict = verdict
        self.detail = detail
        self.evidence = dict(evidence or {})
        self.us = us
        super().__init__(f"{verdict}: {detail}")


class VoidGame(RefereeError):
    """The referee or the machine failed in mid-game: nobody is charged and the game is played again.

    `culprit` is the seat whose doing it was all the same, though it was not asked: without it the game is played again.
    """

    def __init__(self, reason: str, *, culprit: int | None = None) -> None:
        self.culprit = culprit
        super().__init__(reason)
