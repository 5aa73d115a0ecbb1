"""The lines of the contract that a bot can break, by their names in `protocol/README.md`."""

from __future__ import annotations

from referee.checking.report.report import Clause
from referee.errors import BotFault, Verdict

READY = Clause("C1", "`hello` is answered once, with `ready`.")
ANSWER = Clause(
    "C2",
    "After that a message wants an answer exactly when it has an `id`; then write one line with that `id` and one of "
    "the `legal` actions.",
)
FLUSH = Clause("C3", "Flush each line as soon as it is written.")
STDOUT = Clause("C4", "Nothing else is ever written to stdout.")
UNKNOWN = Clause("C5", "Skip fields that you do not know, and messages whose `type` you do not know.")
NULL = Clause("C8", "`null` stands for what is absent.")
MANY_GAMES = Clause(
    "C9",
    "A process has one seat in a game and plays many games, one after the other; from game to game its seat may "
    "change.",
)
EXIT = Clause("C11", "Exit at `quit`, or when stdin ends, and not before.")
REPEATED = Clause("C14", "Reseed from it at each `start`, carry nothing over, and your games can be repeated.")
TIME = Clause("verdicts", "no complete line within the time")
STRICT = Clause(
    "how-strictly-a-bots-lines-are-read",
    "Refused, in further fields too: whatever is not one good JSON object, such as a key twice, `NaN`, or an `id` that "
    "is no integer.",
)

_NO_ANSWER = ("echoed id", "has no `", "`action` is ")
"""Words for an answer to no question, or one that is good JSON and lacks an action."""

CLAUSES = (READY, ANSWER, FLUSH, STDOUT, UNKNOWN, NULL, MANY_GAMES, EXIT, REPEATED, TIME, STRICT)


def clause_of(fault: BotFault) -> Clause:
    """The line that a fault broke."""
    if fault.verdict in (Verdict.START_FAILED, Verdict.START_TIMEOUT):
        return READY
    if fault.verdict is Verdict.CRASH:
        return EXIT
    if fault.verdict is Verdict.TIMEOUT:
        return TIME if "too slow" in fault.detail and "flushed" not in fault.detail else FLUSH
    if fault.verdict is Verdict.ILLEGAL_ACTION or any(words in fault.detail for words in _NO_ANSWER):
        return ANSWER
    if "stdout is for messages" in fault.detail or "more than one line" in fault.detail:
        return STDOUT
    return STRICT
