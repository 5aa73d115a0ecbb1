"""What is reported of withdrawals, against what the round comes to, at any number of jobs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import referee_command

FAILS = "raise SystemExit(1)\n"
LIMIT = 4


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_last_report_on_each_bot_is_what_the_table_says(tmp_path: Path, jobs: int) -> None:
    names = ["ann", "bob", "cyd", "dee", "eve"]
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"# {name}\n{FAILS}")
    done = referee_command(
        *("tournament", *(f"{name}.py" for name in names), "--sandbox", "D", "--deals", "20", "--seed", "s"),
        *("--jobs", str(jobs), "--max-faults", str(LIMIT), "--out", "out", "--db", "league.db"),
        cwd=tmp_path,
        env={"XDG_CACHE_HOME": str(tmp_path / "cache")},
        seconds=500,
    )
    assert done.returncode == 0, done.stderr
    reports = re.findall(r"^(\w+) (?:(plays on)|was at fault in (\d+) games?)\b", done.stderr, re.MULTILINE)
    assert all(faults == str(LIMIT) for _, plays_on, faults in reports if not plays_on)
    last = {name: not plays_on for name, plays_on, _ in reports}
    told = json.loads((tmp_path / "out" / "standings.json").read_text())["withdrawn"]
    assert {one["name"] for one in told} == {name for name, is_out in last.items() if is_out}
    assert {one["faults"] for one in told} == {LIMIT}
    listed = referee_command("export", "--format", "jsonl", "--db", "league.db", cwd=tmp_path)
    assert len(listed.stdout.splitlines()) <= len(names) * jobs * (LIMIT + 1)
