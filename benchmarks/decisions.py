"""What a decision costs between two copies of the C bot on one core, over the floor of bare C programs.

`python benchmarks/decisions.py` prints the wall time of a decision in `referee match`, in `referee tournament` with
its store (one worker), and between a bare C parent and C children that pass the same bytes over pipes, taken in
turns in one run, and the ratio of each to the floor beside it. Starting up and rating count for nothing: a match is
timed at two lengths and the difference taken, a tournament between two moments of its run. `--sandbox` is the tier at
which the bots of the referee are kept apart; those of the floor never are.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
BOT = HERE / "scanner"
REFEREE = (sys.executable, "-m", "referee")
LOG_LINE = re.compile(rb" *[0-9.]+ ([<>]) (.*\n)")


def timed(*words: str, cwd: Path) -> tuple[float, str]:
    """Wall seconds and standard output of a command that succeeds."""
    began = time.perf_counter()
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, done.stdout


def timed_match(deals: int, work: Path, twin: Path) -> tuple[float, int]:
    seconds, report = timed(*REFEREE, "match", str(BOT), str(twin), "--deals", str(deals), "--seed", "b", cwd=work)
    decisions = re.search(r"(\d+) decisions", report)
    assert decisions, report
    return seconds, int(decisions[1])


def tournament(deals: int, work: Path, twin: Path) -> float:
    """Microseconds a decision from a tenth of the games stored to all but a tenth: rating them comes after that."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        words = ("tournament", str(BOT), str(twin), "--deals", str(5 * deals), "--seed", "b", "--jobs", "1", "-q")
        run = subprocess.Popen([*REFEREE, *words], cwd=folder, stdout=subprocess.DEVNULL)
        began, few = stored(Path(folder), deals, run)
        ended, many = stored(Path(folder), 9 * deals, run)
        run.kill()
        run.wait()
    return (ended - began) / (many - few) * 1e6


def stored(folder: Path, games: int, run: subprocess.Popen[bytes]) -> tuple[float, int]:
    """When at least so many games are stored, and how many decisions they have."""
    while run.poll() is None:
        with contextlib.suppress(sqlite3.Error), sqlite3.connect(folder / "referee.db", timeout=0) as db:
            found, decisions = db.execute("SELECT count(*), sum(decisions) FROM games").fetchone()
            if found >= games:
                return time.perf_counter(), decisions
        time.sleep(0.02)
    raise SystemExit("the tournament ended too early")


def match(deals: int, work: Path, twin: Path) -> float:
    """Microseconds a decision, start-up left out: the difference of two lengths."""
    short, few = timed_match(deals, work, twin)
    long, many = timed_match(5 * deals, work, twin)
    return (long - short) / (many - few) * 1e6


def write_lengths(deals: int, work: Path, twin: Path) -> Path:
    """Who was asked, the bytes of the question and of the answer, for each decision of a match."""
    words = ("match", str(BOT), str(twin), "--deals", str(deals), "--seed", "b", "--log", "logs", "-q")
    timed(*REFEREE, *words, cwd=work)
    lengths = work / "lengths"
    with lengths.open("w") as file:
        for child, log in enumerate(sorted((work / "logs").iterdir())):
            for question, answer in exchanges(log):
                file.write(f"{child % 2} {question} {answer}\n")
    return lengths


def exchanges(log: Path) -> list[tuple[int, int]]:
    """The bytes of each question and its answer in one log; what is not answered is passed with the next question."""
    found, asked = [], 0
    for mark, text in LOG_LINE.findall(log.read_bytes()):
        if mark == b">":
            asked += len(text)
        else:
            found.append((asked, len(text)))
            asked = 0
    return found


def floor(program: Path, lengths: Path) -> float:
    seconds, decisions = subprocess.run(
        ["taskset", "-c", "0", program, lengths], capture_output=True, text=True, check=True
    ).stdout.split()
    return float(seconds) / int(decisions) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sandbox", default="D", choices=["auto", "A", "B", "C", "D"])
    options = parser.parse_args()
    os.environ |= {f"REFEREE_{command}_SANDBOX": options.sandbox for command in ("MATCH", "TOURNAMENT")}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        twin = work / "twin-c"
        shutil.copytree(BOT, twin)
        program = work / "floor"
        subprocess.run(["cc", "-O2", "-o", program, HERE / "floor.c"], check=True)
        lengths = write_lengths(options.deals, work, twin)
        ratios: dict[str, list[float]] = {"match": [], "tournament": []}
        for _ in range(options.rounds):
            for command in match, tournament:
                below = floor(program, lengths)
                cost = command(options.deals, work, twin)
                below = (below + floor(program, lengths)) / 2
                ratios[command.__name__].append(cost / below)
                print(f"{command.__name__}: {cost:.1f} us a decision, floor {below:.1f} us, ratio {cost / below:.2f}")
        for name, found in ratios.items():
            print(
                f"{name}: median ratio {statistics.median(found):.2f} (best {min(found):.2f}, worst {max(found):.2f})"
            )


if __name__ == "__main__":
    main()
