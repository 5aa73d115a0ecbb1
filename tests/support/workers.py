"""Workers to test with: programs as entries of a tournament, jobs that play them, and what becomes of the processes."""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from pathlib import Path

from processes import alive, descendants
from seats import PROGRAMS

from referee.bots.cache.prepare import Prepared
from referee.bots.process.limits import Limits
from referee.bots.source.manifest import BotSpec
from referee.record import Bot, LineUp
from referee.rules import DEFAULT_RULES
from referee.tournament.engine.worker_messages import WorkerConfig
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block, Schedule

NO_LIMITS = Limits(None, None, None)

HEAD = """
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
def once(name):
    try:
        (here / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
def wait_for(name):
    while not (here / name).exists():
        time.sleep(0.002)
games = 0
for line in sys.stdin:
    message = json.loads(line)
    games += message["type"] == "start"
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
"""
TAIL = """
        print(json.dumps({"id": message["id"], "action": message["legal"][0]}), flush=True)
"""


def plain(name: str) -> Prepared:
    """One of the well-behaved programs."""
    return entry(name, PROGRAMS / "plain" / f"{name}.py")


def odd(folder: Path, name: str, at_a_question: str, after_all: str = "") -> Prepared:
    """A program that does something before it answers: `games`, `once`, `wait_for` and `here` are at hand."""
    path = folder / f"{name}.py"
    path.write_text(HEAD + "".join(f"        {line}\n" for line in at_a_question.splitlines()) + TAIL + after_all)
    return entry(name, path)


def entry(name: str, program: Path) -> Prepared:
    """A Python program as a bot."""
    manifest = BotSpec(
        identity=Bot(name, sha256(name.encode()).hexdigest()),
        path=program.parent,
        command=(),
        build=(),
        language=None,
        author=None,
        players=frozenset(range(2, 7)),
    )
    return Prepared(manifest=manifest, folder=program.parent, argv=(sys.executable, str(program)))


def job(scratch: Path, *bots: Prepared, limits: Limits = NO_LIMITS) -> WorkerConfig:
    """What a worker needs to play these bots."""
    conditions = Conditions(DEFAULT_RULES, limits)
    return WorkerConfig(1, b"s" * 16, {bot.manifest.identity: bot for bot in bots}, conditions, scratch, None, None)


def line_up(*bots: Prepared) -> LineUp:
    """The bots at one table."""
    return tuple(sorted(bot.manifest.identity for bot in bots))


def block(*bots: Prepared, deals: int = 1, rotation: int = 0, first: int = 0) -> Block:
    """Some deals of one table."""
    return Block(line_up(*bots), rotation, tuple(range(first, first + deals)))


def nobody_withdrawn() -> Withdrawals:
    """What a run is given where faults have no consequences."""
    return Withdrawals(Schedule([]), None)


def workers(referee: int | None = None) -> set[int]:
    """The workers that a process, this one unless told otherwise, has now."""
    parent = referee or os.getpid()
    # What a worker forks has its command line until it becomes a bot, hence the look at the parent.
    return {pid for pid in descendants(parent) if _of(pid, parent) and alive(pid)}


def _of(pid: int, parent: int) -> bool:
    try:
        ours = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) == parent
        return ours and b"referee.tournament.engine.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
