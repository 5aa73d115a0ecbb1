"""The command that remakes the acceptance table goes on where it was stopped, and says what does not hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from figures import NO

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
LINES = ("single-games", "edges")


def acceptance(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, BENCHMARKS / "acceptance.py", "--quick", "--folder", folder, "--lines", *lines]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)


def test_finished_lines_are_kept_and_one_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    whole = acceptance(tmp_path, *LINES)
    assert whole.returncode == 0, whole.stderr
    assert [line.split(":")[0] for line in whole.stderr.splitlines()] == list(LINES)
    assert whole.stdout.count("| yes |") == 7
    kept = tmp_path / "lines.jsonl"
    kept.write_text(kept.read_text()[:-20])
    again = acceptance(tmp_path, *LINES)
    assert again.stdout == whole.stdout
    assert [line.split(":")[0] for line in again.stderr.splitlines()] == ["edges"]


def test_a_kept_line_that_does_not_hold_is_red_and_the_exit_code_says_so(tmp_path: Path) -> None:
    assert acceptance(tmp_path, "single-games").returncode == 0
    kept = tmp_path / "lines.jsonl"
    entry = json.loads(kept.read_text())
    entry["figures"][0][-1] = NO
    kept.write_text(kept.read_text() + "\n" + json.dumps(entry))
    red = acceptance(tmp_path, "single-games")
    assert red.returncode == 1
    assert "1 do not hold" in red.stdout


def test_figures_of_other_code_are_not_taken(tmp_path: Path) -> None:
    assert acceptance(tmp_path, "single-games").returncode == 0
    kept = tmp_path / "lines.jsonl"
    entry = json.loads(kept.read_text())
    kept.write_text(json.dumps(entry | {"key": "0" * 16 + " quick"}))
    assert acceptance(tmp_path, "single-games").stderr.startswith("single-games: ")


def test_a_line_that_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    done = acceptance(tmp_path, "singel*")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("no line is called singel*; --lines alone names them all")
