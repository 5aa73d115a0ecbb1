"""How a tournament grows: games a second with two workers over one, and the memory of a long run.

`python benchmarks/scaling.py` plays tournaments between copies of the C bot (the referee's own work is the most that
it can be) and between the Python example bots (as people have them). It prints the ratio of games a second with
`--jobs 2` to `--jobs 1`, in turns; and resident memory and descriptors of the referee and its worker when 2,000 and
when 20,000 games are stored.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "example_bots"
REFEREE = (sys.executable, "-m", "referee")


def begin(bots: list[Path], deals: int, jobs: int, folder: Path) -> subprocess.Popen[bytes]:
    words = ["tournament", *map(str, bots), "--deals", str(deals), "--seed", "b", "--jobs", str(jobs), "-q"]
    return subprocess.Popen([*REFEREE, *words], cwd=folder, stdout=subprocess.DEVNULL)


def stored(folder: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{folder / 'referee.db'}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def reach(goal: int, run: subprocess.Popen[bytes], folder: Path) -> tuple[float, int]:
    """The time when at least `goal` games are stored, and how many they are."""
    while (games := stored(folder)) < goal:
        if run.poll() is not None:
            raise SystemExit("the tournament ended too early")
        time.sleep(0.01)
    return time.perf_counter(), games


def speed(bots: list[Path], deals: int, jobs: int, work: Path) -> float:
    """Games a second between a tenth and nine tenths of a tournament."""
    total = len(bots) * (len(bots) - 1) * deals
    with tempfile.TemporaryDirectory(dir=work) as name:
        folder = Path(name)
        run = begin(bots, deals, jobs, folder)
        began, few = reach(total // 10, run, folder)
        ended, many = reach(total * 9 // 10, run, folder)
        run.kill()
        run.wait()
    return (many - few) / (ended - began)


def resident(pid: int) -> tuple[int, int]:
    """KiB of resident memory and open descriptors of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return kib, len(list(Path(f"/proc/{pid}/fd").iterdir()))


def family(pid: int) -> list[int]:
    """The referee and its worker."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, int(children[0])]


def memory(bots: list[Path], work: Path) -> None:
    with tempfile.TemporaryDirectory(dir=work) as name:
        folder = Path(name)
        run = begin(bots, 11_000, 1, folder)
        found = []
        for goal in 2_000, 20_000:
            reach(goal, run, folder)
            found.append([resident(pid) for pid in family(run.pid)])
        run.kill()
        run.wait()
    for who, early, late in zip(("referee", "worker"), *found, strict=True):
        grown = (late[0] - early[0]) / 1024
        print(
            f"{who}: {early[0]} KiB at 2,000 games, {late[0]} KiB at 20,000 ({grown:+.2f} MiB);"
            f" descriptors {early[1]} and {late[1]}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["jobs", "memory"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        twins = []
        for twin in "one", "two", "three":
            twins.append(work / twin)
            shutil.copytree(Path(__file__).parent / "scanner", twins[-1])
        if options.only != "memory":
            for what, bots, deals in (
                ("C bots", twins, 1000),
                ("Python bots", [EXAMPLES / "greedy", EXAMPLES / "memory", EXAMPLES / "random"], 200),
            ):
                ratios = []
                for _ in range(options.rounds):
                    one, two = speed(bots, deals, 1, work), speed(bots, deals, 2, work)
                    ratios.append(two / one)
                    print(f"{what}: {one:.0f} games/s with one worker, {two:.0f} with two, ratio {two / one:.2f}")
                print(f"{what}: median ratio {statistics.median(ratios):.2f}")
        if options.only != "jobs":
            memory(twins[:2], work)


if __name__ == "__main__":
    main()
