"""Thousands of games of which a third of the bots are hostile, and what is left of them.

`python benchmarks/soak.py` plays a tournament by the real command, on the best tier of this machine: each entry of the
catalogue in `tests/system/bots/hostile` is a bot, and for each there are two good ones. Once 500 games are stored, and
once 5,000 are, it looks at the referee's own process and at its workers; then it ends the run by Ctrl-C, and looks for
what is left on the machine. It prints a table, and exits with 1 where a bound is broken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "system"), str(TESTS / "support")]

from bots.hostile.catalogue import CATALOGUE  # noqa: E402
from bots.hostile.soaking import Soaked, clear, soak  # noqa: E402

HEADS = ("", "descriptors", "of them sockets", "dead children", "MiB", "MiB more")


def line(cells: tuple[object, ...]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def print_table(soaked: Soaked, early: int) -> None:
    """Each process at both looks, and then what the games came to."""
    print(line(HEADS))
    print(line(("---", *["---:"] * (len(HEADS) - 1))))
    for who, first in soaked.early.items():
        last = soaked.late[who]
        mib = [one.resident / 1024 for one in (first, last)]
        print(line((f"{who}, {early:,} games", *first[1:], f"{mib[0]:.2f}", "")))
        print(line((f"{who}, at the end", *last[1:], f"{mib[1]:.2f}", f"{mib[1] - mib[0]:+.2f}")))
    left = ", ".join(f"{kind} {len(paths)}" for kind, paths in soaked.left.items())
    faults = ", ".join(f"{verdict} {count}" for verdict, count in soaked.faults.most_common())
    print(f"\nleft after the end: processes {soaked.survivors}, {left}; workers lost: {soaked.replaced}")
    print(f"{soaked.games} games in {soaked.seconds:.0f} s at tier {soaked.tier}; faults: {faults}")
    print(f"faults of the good bots: {soaked.charged_to_good}")


def main() -> int:
    """Soak, and print."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--games", type=int, default=5000, help="when to look last (default: 5000)")
    asked.add_argument("--early", type=int, default=500, help="when to look first (default: 500)")
    asked.add_argument("--jobs", type=int, default=2, help="workers (default: 2)")
    asked.add_argument("--sandbox", default="auto", help="the tier (default: the best)")
    words = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            soaked = soak(folder, CATALOGUE, early=words.early, games=words.games, tier=words.sandbox, jobs=words.jobs)
        finally:
            clear(folder)
    print_table(soaked, words.early)
    broken = soaked.broken()
    for words_of_it in broken:
        print(f"broken: {words_of_it}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
