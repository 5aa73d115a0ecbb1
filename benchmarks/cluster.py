"""How a cluster grows: decisions a second of four workers over one, with bots that sleep 20 ms over each.

`python benchmarks/cluster.py` plays two tournaments at the same time, `local:1` and `local:4`, so that what else the
machine does slows both down, and counts the decisions of the games that come in during the same span. Bots that sleep
leave the processors to the referee, the scheduler and the workers, whatever their number: the ratio says what handing
out blocks and taking games in costs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from referee.bots.cache.prepare import prepare
from referee.bots.process.limits import Limits
from referee.bots.source.manifest import find_bots
from referee.rules import DEFAULT_RULES
from referee.tournament.cluster.engine import Cluster
from referee.tournament.engine.worker_messages import Finished, WorkerConfig
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block

SLEEPER = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        time.sleep(0.02)
        print(json.dumps({"id": message["id"], "action": message["legal"][0]}), flush=True)
"""
DEALS = 10
"""Games of a block: about six seconds."""
SETTLED = 2
"""How many blocks each worker has played before counting begins."""


def job(folder: Path) -> WorkerConfig:
    for name in "one", "two":
        (folder / f"{name}.py").write_text(SLEEPER)
    bots = [prepare(bot, folder / "cache") for bot in find_bots([folder / "one.py", folder / "two.py"]).bots]
    conditions = Conditions(DEFAULT_RULES, Limits())
    known = {bot.manifest.identity: bot for bot in bots}
    return WorkerConfig(
        round=1, secret=bytes(16), bots=known, conditions=conditions, scratch=folder, cores=None, bot_cores=None
    )


def measure(workers: int, seconds: float, folder: Path) -> float:
    """Decisions a second."""
    what = job(folder)
    table = tuple(sorted(what.bots))
    blocks: Iterator[Block] = (
        Block(table, number % 2, tuple(range(number // 2 * DEALS, (number // 2 + 1) * DEALS))) for number in count()
    )
    with closing(Cluster(f"local:{workers}", what)) as cluster:
        games = decisions = 0
        began: float | None = None
        for arrival in cluster.run(blocks, lambda: 0.05):
            finished = arrival.games if isinstance(arrival, Finished) else ()
            games += len(finished)
            if began is not None:
                decisions += sum(game.decisions for game in finished)
                if time.perf_counter() - began > seconds:
                    return decisions / (time.perf_counter() - began)
            elif games >= SETTLED * DEALS * workers:
                began = time.perf_counter()
    raise SystemExit("the blocks came to an end")


def side_by_side(seconds: float) -> tuple[float, float]:
    """Decisions a second of one worker and of four."""
    with tempfile.TemporaryDirectory() as name:
        runs = []
        for workers in 1, 4:
            folder = Path(name) / str(workers)
            folder.mkdir()
            words = [
                sys.executable,
                __file__,
                "--workers",
                str(workers),
                "--seconds",
                str(seconds),
                "--in",
                str(folder),
            ]
            runs.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        one, four = (float(run.communicate()[0]) for run in runs)
    return one, four


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.workers:
        print(measure(options.workers, options.seconds, options.folder))
        return
    ratios = []
    for _ in range(options.rounds):
        one, four = side_by_side(options.seconds)
        ratios.append(four / one)
        print(f"{one:.1f} decisions/s with one worker, {four:.1f} with four, ratio {four / one:.2f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
