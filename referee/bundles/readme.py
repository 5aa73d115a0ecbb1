"""The README.txt of a bundle: it explains to the bot's author what happened in a game."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import fill

from protocol.text import readable
from referee.bots.seat.diagnosis import ending
from referee.bots.seat.transcript import PlayedSeat, SeatFault, SentLine, Transcript
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


def readme(transcript: Transcript) -> str:
    """Return the text. Its lines end with LF, and it is safe to show in a terminal."""
    fault = transcript.fault
    parts = [_head(transcript)]
    if fault is not None:
        parts += ["\n".join(_fault(transcript, fault)), _log(fault)]
    parts += [_FILES + (_FAULT_FILES if fault is not None else ""), _AGAIN]
    return "\n".join(part for part in parts if part)


def _head(transcript: Transcript) -> str:
    played, questions = transcript.of_game, len(transcript.questions)
    bot = played.bot
    title = f"Game {readable(played.game_id, 60)} of Four Widows, as seat {transcript.seat} saw it"
    of_round = "" if played.round is None else f", round {played.round}"
    rules = ", ".join(f"{key} {value}" for key, value in played.rules.items())
    return "\n".join(
        [
            title,
            "=" * len(title),
            "",
            f"bot       {readable(bot.name, 40)}, version {readable(bot.hash, 64)}",
            f"game      {played.players} players{of_round}; {rules}",
            f"limits    {_limits(played)}",
            f"asked     {questions} question{'' if questions == 1 else 's'}",
            *_idling(played),
            "",
        ]
    )


def _idling(played: PlayedSeat) -> Iterator[str]:
    if played.idling is not None and played.idling.words:
        yield from _entry("besides", f'it {played.idling.words} (docs/sandbox.md, "Nobody thinks in others\' time")')


def _limits(played: PlayedSeat) -> str:
    limits = played.limits
    named = (("start", limits.start_ms), ("a decision", limits.move_ms), ("a game's decisions", limits.game_ms))
    return ", ".join(f"{name}: {'none' if ms is None else f'{ms} ms'}" for name, ms in named)


def _fault(transcript: Transcript, fault: SeatFault) -> Iterator[str]:
    broken, section = CONTRACT[fault.verdict]
    yield "What went wrong"
    yield ""
    yield from _entry("verdict", fault.verdict.value)
    yield from _entry("what", readable(fault.detail, 4 * _QUOTED))
    yield from _entry("when", _when(transcript, fault))
    if fault.asked:
        yield from _entry("expected", _expected(transcript.questions[-1]))
    if "exit_status" in fault.evidence:
        yield from _entry("process", _process(fault))
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


def _when(transcript: Transcript, fault: SeatFault) -> str:
    us, questions = fault.evidence.get("us"), transcript.questions
    after = f", after {us / 1000:.1f} ms" if isinstance(us, int) and us else ""
    if fault.turn is None:
        return f"at its start, before its first question{after}"
    if not fault.asked:
        return f"in turn {fault.turn}, before its question number {len(questions) + 1} was put"
    phase = json.loads(questions[-1].line)["phase"]
    return f"in turn {fault.turn}, at its question number {len(questions)} (phase {phase}){after}"


def _expected(sent: SentLine) -> str:
    legal = json.loads(sent.line)["legal"]
    example = json.dumps({"id": sent.id, "action": legal[0]})
    return f"one line, such as {example}; allowed were: {', '.join(legal)}"


def _process(fault: SeatFault) -> str:
    status = fault.evidence["exit_status"]
    if status is None:
        return "it lived on, and was ended"
    if fault.verdict in (Verdict.CRASH, Verdict.START_FAILED):
        return ending(int(status))
    return f"when it was told, it exited with status {status}"


def _log(fault: SeatFault) -> str:
    log = str(fault.evidence.get("stderr") or "")[-_SHOWN:]
    lines = [line for line in log.splitlines() if line.strip()][-10:]
    if not lines:
        return "It wrote nothing to stderr.\n"
    shown = "\n".join(f"    {readable(line.expandtabs(4), 200)}" for line in lines)
    return f"The end of its stderr:\n\n{shown}\n"
