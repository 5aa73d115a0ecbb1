"""The README.txt of a bundle: what happened to a bot in a game, in words for its author."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import fill

from protocol.text import readable
from referee.bots.seat.diagnosis import ending
from referee.bots.seat.dialogue import Asked, Charge, Dialogue
from referee.errors import Verdict

_WIDTH = 100
_QUOTED = 400
_SHOWN = 4096
"""Characters of stderr's end that are shown."""

CONTRACT = {
    Verdict.START_FAILED: (
        "before `ready`: the process ended, or wrote something else, or chose a version that was not offered",
        "`ready`",
    ),
    Verdict.START_TIMEOUT: ("no `ready` within `start_ms`", "`ready`"),
    Verdict.TIMEOUT: ("no complete line within the time; often the output was not flushed", "The answer"),
    Verdict.PROTOCOL_ERROR: (
        "a line that is no answer, or an answer to another question: too early, twice, or with an old `id`",
        "How strictly a bot's lines are read",
    ),
    Verdict.ILLEGAL_ACTION: ("a good answer whose `action` is not in `legal`", "Cards and actions"),
    Verdict.CRASH: (
        "the process ended, or closed its stdout, before `quit`; the exit status does not matter",
        "The life of a process",
    ),
}
"""By verdict: the line of protocol/README.md that was broken, and the section in which it is explained."""

_FILES = """\
Files

messages.jsonl  all that the bot was sent in this game and all that it answered, one message a line. "to" says who
                reads it; "line" is the message, written without spaces as on the wire; "text" is a line that is no
                message; "us" is the time that it took, in microseconds.
stdin.jsonl     the lines to the bot alone, as they were sent.
record.json     the same game for programs, with all the evidence.
"""
_FAULT_FILES = """\
stderr.txt      what the process wrote to stderr, the first and the last 32 KiB, other games of the process included.
offending.bin   the line that was wrong, or its last 2,048 bytes, to the byte; absent where no byte came.
"""
_AGAIN = """\
Run it again

    ./mybot < stdin.jsonl

gives your bot the same lines, at once and without limits; write your own command for ./mybot. With the referee at hand

    referee replay-bot THIS --bot PATH
    referee replay-bot THIS --bot PATH --move-time none

where THIS is this folder or its .zip file and PATH your bot, starts it, asks the same questions one by one, shows where
it answers otherwise, and shows its stderr. The second line gives you time for a debugger.

What is not as it was: most ids of questions are made up, since no record keeps them; your bot's answers before the last
good one are written anew from their actions; and the process may have played other games before this one, which are
not here.
"""


def readme(dialogue: Dialogue) -> str:
    """The text, its lines ended with LF, safe to show."""
    charge = dialogue.charge
    parts = [_head(dialogue)]
    if charge is not None:
        parts += ["\n".join(_fault(dialogue, charge)), _log(charge)]
    parts += [_FILES + (_FAULT_FILES if charge is not None else ""), _AGAIN]
    return "\n".join(part for part in parts if part)


def _head(dialogue: Dialogue) -> str:
    bot = dialogue.bot
    title = f"Game {readable(dialogue.game_id, 60)} of Four Widows, as seat {dialogue.seat} saw it"
    of_round = "" if dialogue.round is None else f", round {dialogue.round}"
    rules = ", ".join(f"{key} {value}" for key, value in dialogue.rules.items())
    return "\n".join(
        [
            title,
            "=" * len(title),
            "",
            f"bot       {readable(bot.name, 40)}, version {readable(bot.hash, 64)}",
            f"game      {dialogue.players} players{of_round}; {rules}",
            f"limits    {_limits(dialogue)}",
            f"asked     {len(dialogue.asked)} question{'' if len(dialogue.asked) == 1 else 's'}",
            *_idling(dialogue),
            "",
        ]
    )


def _idling(dialogue: Dialogue) -> Iterator[str]:
    if dialogue.idling is not None and dialogue.idling.words:
        yield from _entry("besides", f'it {dialogue.idling.words} (docs/sandbox.md, "Nobody thinks in others\' time")')


def _limits(dialogue: Dialogue) -> str:
    limits = dialogue.limits
    named = (("start", limits.start_ms), ("a decision", limits.move_ms), ("a game's decisions", limits.game_ms))
    return ", ".join(f"{name}: {'none' if ms is None else f'{ms} ms'}" for name, ms in named)


def _fault(dialogue: Dialogue, charge: Charge) -> Iterator[str]:
    broken, section = CONTRACT[charge.verdict]
    yield "What went wrong"
    yield ""
    yield from _entry("verdict", charge.verdict.value)
    yield from _entry("what", readable(charge.detail, 4 * _QUOTED))
    yield from _entry("when", _when(dialogue, charge))
    if charge.asked:
        yield from _entry("expected", _expected(dialogue.asked[-1]))
    if "exit_status" in charge.evidence:
        yield from _entry("process", _process(charge))
    yield from _entry("contract", f'{broken} (protocol/README.md, "Verdicts"; more in "{section}")')
    yield ""


def _entry(key: str, words: str) -> Iterator[str]:
    text = fill(
        words,
        _WIDTH,
        initial_indent=f"{key:10}",
        subsequent_indent=" " * 10,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield text


def _when(dialogue: Dialogue, charge: Charge) -> str:
    us = charge.evidence.get("us")
    after = f", after {us / 1000:.1f} ms" if isinstance(us, int) and us else ""
    if charge.turn is None:
        return f"at its start, before its first question{after}"
    if not charge.asked:
        return f"in turn {charge.turn}, before its question number {len(dialogue.asked) + 1} was put"
    phase = json.loads(dialogue.asked[-1].line)["phase"]
    return f"in turn {charge.turn}, at its question number {len(dialogue.asked)} (phase {phase}){after}"


def _expected(asked: Asked) -> str:
    legal = json.loads(asked.line)["legal"]
    example = json.dumps({"id": asked.id, "action": legal[0]})
    return f"one line, such as {example}; allowed were: {', '.join(legal)}"


def _process(charge: Charge) -> str:
    status = charge.evidence["exit_status"]
    if status is None:
        return "it lived on, and was ended"
    if charge.verdict in (Verdict.CRASH, Verdict.START_FAILED):
        return ending(int(status))
    return f"when it was told, it exited with status {status}"


def _log(charge: Charge) -> str:
    log = str(charge.evidence.get("stderr") or "")[-_SHOWN:]
    lines = [line for line in log.splitlines() if line.strip()][-10:]
    if not lines:
        return "It wrote nothing to stderr.\n"
    shown = "\n".join(f"    {readable(line.expandtabs(4), 200)}" for line in lines)
    return f"The end of its stderr:\n\n{shown}\n"
