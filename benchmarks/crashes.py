"""Kills a thousand times what plays a tournament, begins it again, and counts what was lost.

`python benchmarks/crashes.py` kills the referee at each of its commits, closings of the database and renames of files,
and at random moments the referee, one of its workers, its process group, and all its processes at once. After each
kill the games that were said to be on the disk are looked for; at its end each tournament is compared with an
undisturbed one. It prints a table in which all but the number of kills is to be 0, and exits with 1 where it is not.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
# The tests' own harness. This script is called as its package is, so its own folder must not be looked into.
sys.path[:] = [
    str(TESTS / "system"),
    str(TESTS / "support"),
    *(place for place in sys.path if Path(place or ".").resolve() != Path(__file__).parent),
]

from crashes.kills import MOMENTS, WHOM, Toll, Undisturbed, at_every, at_random  # noqa: E402

COLUMNS = ("kills", "lost", "twice", "processes", "folders", "halves", "differing")
HEADS = (
    "killed", "kills", "games lost", "counted twice", "processes left", "files and folders left", "half files",
    "standings that differ",
)  # fmt: skip
AT_A_TIME = 25
"""Random kills of one kind between two looks at the clock."""


def at_moments(short: Undisturbed, folder: Path) -> dict[str, Toll]:
    """Every commit, closing and rename."""
    return {moment: at_every(moment, short, folder) for moment in MOMENTS}


def at_random_moments(undisturbed: Undisturbed, kills: int, folder: Path, seed: str, jobs: int) -> dict[str, Toll]:
    """So many kills at least, as many of each kind."""
    tolls = {whom: Toll() for whom in WHOM}
    each = -(-kills // len(WHOM))
    shares = [(whom, first, min(AT_A_TIME, each - first)) for first in range(0, each, AT_A_TIME) for whom in WHOM]

    def play(share: tuple[str, int, int]) -> None:
        whom, first, count = share
        place = folder / f"{whom}-from-{first}"
        place.mkdir()
        toll = at_random(whom, count, undisturbed, place, random.Random(f"{seed} {whom} {first}"))
        tolls[whom].add(toll)
        print(f"{whom}, from {first} on: {toll}", file=sys.stderr)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(play, shares))
    return tolls


def line(cells: tuple[object, ...]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> int:
    """Kill, and print the table."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--kills", type=int, default=1000, help="how many in all, at least (default: 1000)")
    asked.add_argument("--seed", default="crashes", help="of the random moments")
    asked.add_argument("--jobs", type=int, default=1, help="tournaments that are killed side by side (default: 1)")
    words = asked.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("short", "long", "killed"):
            (folder / part).mkdir()
        short = Undisturbed.play(folder / "short", deals=2, jobs=1)
        long = Undisturbed.play(folder / "long")
        rows = {WORDS[moment]: toll for moment, toll in at_moments(short, folder / "killed").items()}
        left = words.kills - sum(toll.kills for toll in rows.values())
        random_rows = at_random_moments(long, left, folder / "killed", words.seed, words.jobs)
        rows |= {WORDS[whom]: toll for whom, toll in random_rows.items()}
    whole = Toll()
    for toll in rows.values():
        whole.add(toll)
    print(line(HEADS))
    print(line(("---", *["---:"] * len(COLUMNS))))
    for what, toll in (*rows.items(), ("all", whole)):
        print(line((what, *(getattr(toll, column) for column in COLUMNS))))
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if whole.damage else 0


WORDS = {
    "before": "referee, before each commit",
    "after": "referee, after each commit",
    "closing": "referee, before each closing of the database",
    "renaming": "referee, before each rename of a file",
    "referee": "referee, at random",
    "worker": "one worker, at random",
    "group": "the process group, at random",
    "everything": "referee, workers and bots at once, at random",
}
"""What each row is called."""


if __name__ == "__main__":
    sys.exit(main())
