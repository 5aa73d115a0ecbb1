"""Whose fault it is, in one sentence an author can act on, with the evidence."""

from __future__ import annotations

import signal

from protocol.codec import MAX_LINE, encode, readable
from protocol.messages import Fault
from referee.bots.process import BotProcess, Silence
from referee.errors import BotFault, Verdict

LAST_WORDS = 100_000_000
"""What a process that is done for gets to explain itself on stderr and exit, in ns."""
_EVIDENCE_LINE = 2048
_QUOTED = 80
_QUOTED_LOG = 200


def blame(process: BotProcess, verdict: Verdict, detail: str, *, line: bytes | None = None, us: int = 0) -> BotFault:
    """The fault of a bot: tells it, ends its process tree, and keeps what shows the cause.

    `line` is the offending line or what there is of it, `us` the time of the decision.
    """
    farewell = encode(Fault(type="fault", verdict=verdict.value, detail=detail))
    asked = process.sent
    ended_itself = process.child.status() is not None
    process.say_goodbye(farewell)
    status = process.stop(LAST_WORDS)
    evidence: dict[str, str | int | None] = {
        "line": None if line is None else line[-_EVIDENCE_LINE:].decode("utf-8", "backslashreplace"),
        "exit_status": status if ended_itself or status >= 0 else None,
        "stderr": process.stderr.text(),
        "sent": asked.decode("ascii", "backslashreplace"),
    }
    return BotFault(verdict, detail, evidence, us=us)


def blame_silence(process: BotProcess, why: Silence, *, waited: str, us: int) -> BotFault:
    """The fault of a bot from which no line came when it was asked; `waited` says how long, for people."""
    said = bytes(process.inbox)
    if why is Silence.TOO_LONG:
        detail = f"an answer is one line of at most {MAX_LINE} bytes; this one is longer: {readable(said, _QUOTED)}"
        return blame(process, Verdict.PROTOCOL_ERROR, detail, line=said, us=us)
    if why is Silence.GONE:
        detail = f"{how_it_ended(process)} while it was being asked"
        return blame(process, Verdict.CRASH, detail, line=said or None, us=us)
    if why is Silence.DEAF:
        cause = deafness(process)
    elif said:
        cause = f"its line has not ended with a newline: {readable(said, _QUOTED)}"
    else:
        cause = "if it did print an answer, stdout was not flushed; else it was too slow, or waits for more input"
    return blame(process, Verdict.TIMEOUT, f"no answer {waited}: {cause}", line=said or None, us=us)


def deafness(process: BotProcess) -> str:
    """Why a process cannot be told what it is to be told."""
    if process.deaf:
        return "its stdin is closed, so that it cannot hear the question"
    return "it does not read its stdin, and the pipe is full"


def how_it_ended(process: BotProcess) -> str:
    """How a process whose stdout has ended came to that, with its last words on stderr."""
    status = process.settle(LAST_WORDS)
    if status is None:
        return "it closed its stdout (and lives on)"
    how = f"it exited with status {status}" if status >= 0 else f"it was killed by {_signal_name(-status)}"
    last = process.stderr.text().rstrip().rpartition("\n")[2]
    return f"{how} (last on stderr: {readable(last, _QUOTED_LOG)})" if last else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
