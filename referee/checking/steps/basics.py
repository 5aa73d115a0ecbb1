"""The first steps: starts, says ready, answers, echoes ids, ignores what it does not know, plays game after game."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count

from referee.bots.process.limits import Limits
from referee.checking.bot.bot_under_test import Change, unchanged
from referee.checking.games.games import ordinary, played
from referee.checking.report.clauses import ANSWER, FLUSH, MANY_GAMES, NULL, READY, TIME, UNKNOWN
from referee.checking.report.report import CheckStep, Clause, Evidence, Mark
from referee.checking.steps.steps import CheckRun
from referee.errors import BotFault, Verdict

IDS = (1, 2**31 - 1, 7, 2**31 - 2, 1_000_000_007, 2**30 + 1, 10, 2_000_000_011, 2**24 + 1, 2)
"""The first ids of the step that looks at them: the smallest, the largest, and some that a float would not hold."""
GAME_MS = 60_000
"""The game clock of the step that has one, in ms."""
LITTLE_MS = 40
"""What is left where little time is told."""
_TIMES = re.compile(rb'"time_left_ms":(?:\d+|null),"game_left_ms":(?:\d+|null)')
_STRANGE_MESSAGE = b'{"type":"weather","text":"an \\"id\\" in a string, and {[","list":[1,null,{"type":"quit"}]}\n'
_STRANGE_FIELDS = {"mood": "calm", "id_card": "QS", "deep": {"list": [1, [2, None]], "type": "quit"}, "nothing": None}


def starts(run: CheckRun) -> Iterator[CheckStep]:
    """Two steps: the process starts, and says ready."""
    with run.harness.subject() as subject:
        began = run.harness.clock.now()
        try:
            subject.start()
        except BotFault as fault:
            never_began = fault.verdict is Verdict.START_FAILED and not fault.evidence.get("line")
            if never_began:
                yield run.failed("starts", "starts", fault, subject)
                return
            yield run.step("starts", "starts")
            yield run.failed("ready", "says ready", fault, subject)
            return
        ms = (run.harness.clock.now() - began) / 1e6
        yield run.step("starts", "starts")
        yield run.step("ready", "says ready", detail=f"after {ms:.0f} ms", figures={"ms": round(ms, 1)}, clause=READY)


def answers(run: CheckRun) -> Iterator[CheckStep]:
    """It answers its first question, while it cannot know whether more will come."""
    with run.harness.subject(ids=count(11)) as subject:
        course = played(subject, ordinary(run.harness.bot), until=lambda course: bool(course.replies))
        if course.fault is not None and not course.replies:
            yield run.failed("flushes", "answers its first question, and flushes", course.fault, subject)
            return
        yield run.step("flushes", "answers its first question, and flushes", clause=FLUSH)


def ids(run: CheckRun) -> Iterator[CheckStep]:
    """It echoes ids, small ones and large ones."""
    yield _whole_game(run, "ids", "echoes ids from 1 to 2147483647", ANSWER, ids=iter((*IDS, *range(1000, 2000))))


def unknown(run: CheckRun) -> Iterator[CheckStep]:
    """It ignores fields and messages that it cannot know."""
    yield _whole_game(run, "unknown_fields", "ignores unknown fields", UNKNOWN, change=with_fields, blame=UNKNOWN)
    yield _whole_game(run, "unknown_messages", "ignores unknown messages", UNKNOWN, change=with_messages, blame=UNKNOWN)


def clocks(run: CheckRun) -> Iterator[CheckStep]:
    """It plays without any clock, and with a game clock."""
    limits = run.harness.limits
    none = Limits(limits.start_ms, None, None)
    yield _whole_game(run, "no_clock", "plays without a clock: times are null", NULL, limits=none, blame=NULL)
    both = Limits(limits.start_ms, limits.move_ms, max(GAME_MS, 20 * (limits.move_ms or 0)))
    yield _whole_game(run, "game_clock", "plays with a game clock: game_left_ms is a number", NULL, limits=both)
    title = "answers where it is told that little time is left"
    yield _whole_game(run, "little_time", title, TIME, change=with_little_time)


def with_fields(line: bytes) -> bytes:
    """Return a message with unknown fields after the known ones."""
    message = json.loads(line)
    if "rules" in message:
        message["rules"]["house"] = "none"
    return _compact({**message, **_STRANGE_FIELDS})


def with_little_time(line: bytes) -> bytes:
    """Return a question that reports little time. The bot is waited for as usual: a busy machine is not its fault."""
    return _TIMES.sub(b'"time_left_ms":%d,"game_left_ms":%d' % (LITTLE_MS, LITTLE_MS), line)


def with_messages(line: bytes) -> bytes:
    """Return a message after one of an unknown type; `hello` stays the first."""
    return line if line.startswith(b'{"type":"hello"') else _STRANGE_MESSAGE + line


def _compact(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def _whole_game(
    run: CheckRun,
    name: str,
    title: str,
    clause: Clause,
    *,
    change: Change = unchanged,
    ids: Iterator[int] | None = None,
    limits: Limits | None = None,
    blame: Clause | None = None,
) -> CheckStep:
    """A whole ordinary game; `blame` is the line that was broken, whatever the fault, None: that of the fault."""
    with run.harness.subject(limits=limits, ids=ids, change=change) as subject:
        course = played(subject, ordinary(run.harness.bot))
        if course.fault is not None:
            return run.failed(name, title, course.fault, subject, clause=blame)
        return run.step(name, title, clause=clause, figures={"questions": len(course.replies)})


def one_process(run: CheckRun) -> Iterator[CheckStep]:
    """It plays several games in one process, from each of the seats."""
    name, title = "many_games", "plays several games in one process, from different seats"
    with run.harness.subject() as subject:
        players = min(run.harness.bot.manifest.players)
        for game in range(2 * players):
            course = played(subject, ordinary(run.harness.bot, seat=game % players, number=game))
            if course.fault is None:
                continue
            run.lonely = game > 0
            if game and has_left(course.fault):
                yield run.step(
                    name,
                    title,
                    Mark.WARNING,
                    f"it exits after the end of a game ({course.fault.detail}). That is not a fault, but each game "
                    "costs its start again",
                    clause=MANY_GAMES,
                    evidence=Evidence.of(course.fault.evidence, subject.traffic.last()),
                )
                return
            where = f"game {game + 1}, seat {game % players}"
            yield run.failed(name, title, course.fault, subject, where=where, clause=MANY_GAMES if game else None)
            return
        yield run.step(name, title, clause=MANY_GAMES, figures={"games": 2 * players})


def has_left(fault: BotFault) -> bool:
    """True if a process ended well, and said nothing: as a rule after the game before."""
    return fault.verdict is Verdict.CRASH and fault.evidence.get("exit_status") == 0 and not fault.evidence.get("line")
