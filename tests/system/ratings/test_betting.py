"""The test of a duel: what it may never do, what it makes of given deals, and how often it is wrong."""

from __future__ import annotations

import subprocess
import sys

from command_line import ROOT, environment


def test_on_real_deals_errors_and_lengths_are_as_promised_and_repeated_looks_are_caught() -> None:
    """The short version of the benchmark, with its fixed seeds: each of its lines holds."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "duel.py", "--quick", "--jobs", "1"],
        env=environment(), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]
    assert [holds for *_, holds in lines] == ["yes"] * 6
    assert [what for what, *_ in lines[4:] if "repeated 95% looks are wrong" in what] == [lines[4][0], lines[5][0]]
