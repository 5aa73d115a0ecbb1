"""Whose fault it is, in one sentence an author can act on, with the evidence."""

from __future__ import annotations

import signal
from base64 import b64encode

from protocol.codec import MAX_LINE, encode, readable
from protocol.messages import Fault
from referee.bots.process.launcher import most_memory
from referee.bots.process.process import BotProcess, NoReply
from referee.bots.process.stderr_summary import last_words
from referee.bots.seat import diagnosis
from referee.bots.seat.process_state import doing, unread
from referee.errors import BotFault, Verdict, VoidGame

LAST_WORDS = 100_000_000
"""What a process that is done for gets to explain itself on stderr and exit, in ns."""
_EVIDENCE_LINE = 2048
_QUOTED = 80


def blame(process: BotProcess, verdict: Verdict, detail: str, *, line: bytes | None = None, us: int = 0) -> BotFault:
    """Report a fault to the bot, end its process tree, and return the fault with its evidence.

    `line` is the offending line or what there is of it, `us` the time of the decision.
    """
    farewell = encode(Fault(type="fault", verdict=verdict.value, detail=detail))
    asked = process.sent
    ended_itself = process.child.status() is not None
    process.say_goodbye(farewell)
    status = process.stop(LAST_WORDS)
    evidence: dict[str, str | int | None] = {
        "line": None if line is None else _text(line),
        "line_base64": None if line is None else _exact(line),
        "exit_status": status if ended_itself or status >= 0 else None,
        "stderr": process.stderr.text(),
        "sent": asked.decode("ascii", "backslashreplace"),
        "answered": _text(process.answered) if process.answered else None,
        "us": us,
    }
    return BotFault(verdict, detail, evidence, us=us)


def _text(line: bytes) -> str:
    return line[-_EVIDENCE_LINE:].decode("utf-8", "backslashreplace")


def _exact(line: bytes) -> str | None:
    """The same bytes in base64; None where the text shows them all."""
    kept = line[-_EVIDENCE_LINE:]
    return None if _text(line).encode() == kept else b64encode(kept).decode("ascii")


def blame_silence(process: BotProcess, why: NoReply, *, waited: str, us: int) -> BotFault:
    """The fault of a bot from which no line came when it was asked; `waited` says how long, for people."""
    said = bytes(process.inbox)
    if why is NoReply.TOO_LONG:
        detail = f"an answer is one line of at most {MAX_LINE} bytes; this one is longer: {readable(said, _QUOTED)}"
        return blame(process, Verdict.PROTOCOL_ERROR, detail, line=said, us=us)
    if why is NoReply.GONE:
        detail = f"{how_it_ended(process)} while it was being asked"
        return blame(process, Verdict.CRASH, detail, line=said or None, us=us)
    cause = deafness(process) if why is NoReply.DEAF else stillness(process, said, "the question", "an answer")
    return blame(process, Verdict.TIMEOUT, f"no answer {waited}: {cause}", line=said or None, us=us)


def stillness(process: BotProcess, said: bytes, question: str, answer: str) -> str:
    """Why a process that lives and could hear says nothing; `question` and `answer` name what was sent and due."""
    child = process.child
    return diagnosis.silence(doing(child.pid, child.stdin), unread(child.stdin), said, question=question, answer=answer)


def deafness(process: BotProcess) -> str:
    """Why a process cannot be told what it is to be told."""
    if process.deaf:
        return "its stdin is closed, so that it cannot hear the question"
    return "it does not read its stdin, and the pipe is full"


def how_it_ended(process: BotProcess) -> str:
    """How a process whose stdout has ended came to that, with its last words on stderr."""
    try:
        status = process.settle(LAST_WORDS)
    except VoidGame as void:  # what a box failed for it says where a bot would
        last = last_words(process.stderr.text())
        raise VoidGame(f"{void} (last on stderr: {last})" if last else str(void)) from None
    if status is None:
        return "it closed its stdout (and lives on)"
    if status == -signal.SIGKILL and process.child.killed_for_want_of_memory():
        raise VoidGame(diagnosis.no_memory(most_memory()))
    how = diagnosis.ending(status, memory_used_up=process.child.memory_used_up())
    last = last_words(process.stderr.text())
    return f"{how} (last on stderr: {last})" if last else how
