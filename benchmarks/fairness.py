"""Are honest bots charged with timeouts on a busy machine? Two processors, programs that keep both busy, and games.

`python benchmarks/fairness.py` starts `--load` programs that only compute, and plays games of two bots on each of two
processors. Each bot thinks for 50 ms at one decision of each game: one uses 50 ms of processor time, the other computes
for 50 ms by the clock. The limit of a decision is 200 ms. It prints how many games were played, timeouts charged, void
attempts with their reasons, and how long decisions took. It ends after `--games` games or `--minutes` minutes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from referee.bots.cache.prepare import Prepared
from referee.bots.process.limits import Limits
from referee.bots.process.system import Reaper, pin_to, usable_cores
from referee.bots.sandbox.probing import launcher_for
from referee.bots.source.manifest import BotSpec
from referee.bots.tiers import Tier
from referee.play import SystemClock
from referee.record import Bot, GameRecord
from referee.rules import DEFAULT_RULES
from referee.tournament.engine.block import BlockListener, play_block
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block, games_of

PROGRAMS = Path(__file__).parent.parent / "tests" / "system" / "bots" / "hostile" / "programs"
PYTHON = "/usr/bin/python3"
LIMITS = Limits(start_ms=60_000, move_ms=200)
SPIN = "import time\nuntil = time.monotonic() + {}\nwhile time.monotonic() < until: pass"
_DEALS = 25
Figures = Counter[str]


def bot(name: str, folder: Path, *arguments: str) -> Prepared:
    """The bot that thinks, with some arguments."""
    identity = Bot(name, sha256(name.encode()).hexdigest())
    argv = (PYTHON, "-B", "-S", "thinks.py", *arguments)
    manifest = BotSpec(
        identity=identity,
        path=folder,
        command=argv,
        build=(),
        language=None,
        author=None,
        players=frozenset(range(2, 7)),
    )
    return Prepared(manifest=manifest, folder=folder, argv=argv)


def records(tier: Tier, core: int, void: list[str], folder: Path) -> Iterator[GameRecord]:
    """Games without end, in blocks of some deals."""
    bots = {
        one.manifest.identity: one
        for one in (bot("uses", PROGRAMS, "50", "once"), bot("computes", PROGRAMS, "50", "clock", "once"))
    }
    ears = BlockListener(void=lambda one: void.append(one.reason))
    reaper, number = Reaper(), 0
    while True:
        block = Block(tuple(bots), number % 2, tuple(range(number * _DEALS, (number + 1) * _DEALS)))
        number += 1
        games = play_block(
            games_of(block, b"fairness%8d" % core),
            bots=bots,
            conditions=Conditions(DEFAULT_RULES, LIMITS),
            launcher=launcher_for(tier, scratch=folder, reaper=reaper, cores=frozenset({core})),
            clock=SystemClock(),
            ears=ears,
        )
        yield from (one for one in games if isinstance(one, GameRecord))


def play(tier: Tier, core: int, games: int, until: float) -> Figures:
    """Play on one processor, and count."""
    pin_to({core})
    found, void = Figures(), list[str]()
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        Path(scratch).chmod(0o755)
        playing = records(tier, core, void, Path(scratch))
        for record in playing:
            found["games"] += 1
            found.update(f"{fault.verdict}: {fault.detail}" for fault in record.faults)
            for step in record.steps:
                found["decisions"] += 1
                found["decisions of more than 50 ms"] += step.us > 50_000
                found["decisions of more than 100 ms"] += step.us > 100_000
                found["decisions of more than 150 ms"] += step.us > 150_000
                found["decisions of more than 200 ms"] += step.us > 200_000
            if found["games"] >= games or time.monotonic() > until:
                break
        playing.close()
    found["void attempts"] = len(void)
    found.update(f"void: {reason}" for reason in void)
    return found


def _share(queue: multiprocessing.Queue[Figures], tier: Tier, core: int, games: int, until: float) -> None:
    queue.put(play(tier, core, games, until))


def main() -> None:
    """Play under load, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--load", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--tier", type=Tier, default=Tier.A)
    options = parser.parse_args()
    cores, seconds = usable_cores()[:2], 60 * options.minutes
    spin = [sys.executable, "-S", "-c", SPIN.format(seconds)]
    # A session each: Linux may share processors out by session, and then one of eight programs is a load of one.
    beside = [subprocess.Popen(spin, start_new_session=True) for _ in range(options.load)]
    try:
        queue: multiprocessing.Queue[Figures] = multiprocessing.Queue()
        games, until = -(-options.games // len(cores)), time.monotonic() + seconds
        shares = [
            multiprocessing.Process(target=_share, args=(queue, options.tier, core, games, until)) for core in cores
        ]
        for one in shares:
            one.start()
        total = Figures()
        for _ in shares:
            total.update(queue.get())
        for one in shares:
            one.join()
    finally:
        for spinning in beside:
            spinning.kill()
            spinning.wait()
    for what, how_often in sorted(total.items()):
        print(f"{how_often:8}  {what}")


if __name__ == "__main__":
    main()
