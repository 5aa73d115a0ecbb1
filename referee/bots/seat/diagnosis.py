"""The likely causes of what bots do wrong, in words that their authors can act on."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence

from protocol.codec import WireError, parse_answer, readable
from referee.bots.seat.process_state import Doing

_QUOTED = 80
STDOUT_IS_FOR_MESSAGES = "stdout is for messages only, one JSON object a line, and logs go to stderr"

_SIGNALS = {
    "SIGKILL": "the referee did not send it: usually the system ends a process this way that takes too much memory",
    "SIGSEGV": "it used memory that it does not have: a bad pointer or index, or a recursion without end",
    "SIGBUS": "it used memory that is not there: a bad pointer, or a full disk behind a mapped file",
    "SIGABRT": "it ended itself: a failed assertion, an uncaught exception, or a heap that was damaged",
    "SIGFPE": "an integer was divided by zero",
    "SIGILL": "an instruction that this processor lacks (built for another one?), or a trap of the compiler's",
    "SIGTRAP": "a trap of the compiler's or the runtime's, often for want of memory",
    "SIGPIPE": "it wrote to a pipe that no process reads any more",
    "SIGSYS": "it made a system call that it may not make",
    "SIGXCPU": "it used up the processor time that it may have",
    "SIGXFSZ": "it wrote a larger file than it may",
}
_FIRST_OF_SHELLS = 128
_STATUSES = {
    0: "it took something for the end; go on reading until `quit`, or until stdin ends",
    126: "as a shell says it: a program was found that could not be started",
    127: "as a shell says it: a program was not found",
}


def ending(status: int, *, memory_used_up: int | None = None) -> str:
    """How a process ended, by its exit status, negative for a signal; with the likely cause where one is known.

    `memory_used_up` is the limit of its box, in bytes, where the kernel has killed a process that wanted more.
    """
    name = signal_name(-status)
    if memory_used_up is not None:
        limit = f"its processes and files took more than the {memory_used_up >> 20} MiB that its box may have in all"
        return f"it was killed: {limit}" if name == "SIGKILL" else f"{ending(status)}; one was killed before: {limit}"
    if status < 0:
        meaning = _SIGNALS.get(name)
        return f"it was killed by {name}" + (f" ({meaning})" if meaning else "")
    told = _STATUSES.get(status)
    through = signal_name(status - _FIRST_OF_SHELLS)
    if told is None and through in _SIGNALS:
        told = f"128 + {status - _FIRST_OF_SHELLS}, as a shell says it: killed by {through}; {_SIGNALS[through]}"
    return f"it exited with status {status}" + (f" ({told})" if told else "")


def signal_name(number: int) -> str:
    """A signal's name, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def silence(does: Doing, unread: int | None, said: bytes, *, question: str, answer: str) -> str:
    """Why a line that was due has not come, from what the processes do, and what they said without a line end.

    `unread` are the bytes of the question that lie in the pipe. `question` and `answer` name what was sent and due.
    """
    if said.endswith(b"\n"):
        return f"{answer} came after that"
    if said:
        return _without_end(said, answer)
    if does is Doing.STOPPED:
        return "its process is stopped, as by SIGSTOP or a debugger"
    if unread:
        busy = ", and is computing: likely it is busy with something else" if does is Doing.COMPUTING else ""
        return f"it has not read {question}, of which {unread} bytes are still in the pipe{busy}"
    if does is Doing.COMPUTING:
        return f"it has read {question} and is still computing: likely it is too slow"
    if does is Doing.READING:
        return (
            f"it has read {question} and waits for more input: likely it printed {answer} and stdout was not flushed; "
            "else it reads in blocks, or to the end of stdin"
        )
    return (
        f"if it did print {answer}, stdout was not flushed; else it was too slow, or waits for something else than its "
        "stdin"
    )


def _without_end(said: bytes, answer: str) -> str:
    cause = f"its line has not ended with a newline: {readable(said, _QUOTED)}"
    if said.endswith(b"\r"):
        return f"{cause} (it ends with CR alone; lines end with LF)"
    return f"{cause} (only the line end is missing after {answer})" if _is_object(said) else cause


def _is_object(said: bytes) -> bool:
    try:
        return isinstance(json.loads(said), dict)
    except (ValueError, RecursionError):
        return False


def broken_line(line: bytes, reason: str) -> str:
    """Return what is wrong with a line that is not an answer; `reason` is the protocol reader's error."""
    if "stdout" in reason or not _looks_printed(line):
        return reason
    return f"{reason}; if a print went to stdout: {STDOUT_IS_FOR_MESSAGES}"


def _looks_printed(line: bytes) -> bool:
    """True if a line may be JSON only by chance, as lists, numbers and dictionaries of a debug print are."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return not line.lstrip().startswith(b"{")
    return not isinstance(value, dict) or not {"id", "action"} & value.keys()


def old_id(answered: int, asked: int, answered_before: bytes) -> str:
    """An answer with another id than the question's; `answered_before` is the bot's line before this one."""
    words = f"the reply echoed id {answered}, the question was {asked}: answer each question once, after it was asked"
    if answered == _id_of(answered_before):
        return f"{words}; {answered} was the question before, which was answered already"
    return words


def spoken_unasked(said: bytes, answered_before: bytes) -> str:
    """What a bot said after its last answer, or before any question, and why it may have."""
    lines = said.split(b"\n")
    first = lines[0]
    words = f"it said more than one line to one question, or spoke before it was asked: {readable(said, _QUOTED)}"
    if not first.strip():
        return f"{words} (a blank line: end each line only once)"
    before = _id_of(answered_before)
    if before is not None and _id_of(first) == before:
        return f"{words} (it answered the question {before} twice)"
    if _id_of(first) is None and _looks_printed(first):
        return f"{words} (likely a print went to stdout: {STDOUT_IS_FOR_MESSAGES})"
    return words


def _id_of(line: bytes) -> int | None:
    try:
        return parse_answer(line).id
    except WireError:
        return None


def illegal(text: str, legal: Sequence[str], *, laying: bool) -> str:
    """An action that is not among those allowed, and what it may have been meant for."""
    words = f"{readable(text, _QUOTED)} is not allowed here; to the letter one of: {', '.join(legal)}"
    for action in legal:
        if " ".join(text.lower().split()) == action.lower():
            return f"{words} (it differs from {action} in blanks or capitals alone)"
        if sorted(text.split()) == sorted(action.split()):
            return f"{words} (it differs from {action} in the order of its cards alone)"
    if text.startswith("lay ") and not laying:
        return f"{words} (the question was what becomes of the card drawn, phase `drawn`)"
    if text.startswith(("keep", "widow", "discard")) and laying:
        return f"{words} (the question was which card to lay, phase `lay`)"
    return words


def no_memory(most: tuple[str, int] | None) -> str:
    """Why a game is void in which the kernel killed a bot within its limit; `most`: which bot has most bytes now."""
    words = "this machine ran out of memory, and the kernel killed a bot that was within its limit"
    return words if most is None else f"{words}; of the other bots {most[0]} has most, {most[1] >> 20} MiB"


def overload(used: int, whole: int, *, asked: bool, kept: int | None = None) -> str:
    """Why a bot is held to have kept the referee, or the bot that was asked, from running; all times are in ns.

    `kept` is how long the bot that was asked had too little of a processor, None if the referee was late.
    """
    share = f"{used // 1_000_000} of the {whole // 1_000_000} ms of processor time of this table"
    if kept is not None:
        late = f"the bot that was asked got too little of a processor in {kept // 1_000_000} ms"
        return f"{late}, while this bot, which was not asked, last used {share}"
    if asked:
        return f"the referee could not run at the deadline, while this bot's own processes used {share}"
    return f"the referee could not run in time, while this bot, which was not asked, used {share}"
