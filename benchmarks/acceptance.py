"""The acceptance table of the ratings, made anew by simulation with the real rules.

    python benchmarks/acceptance.py [--quick] [--lines PATTERN ...] [--folder FOLDER] [--jobs N] [--runs N]

Every line is worked out by a process of its own, and its figures are kept in FOLDER with the games that were played for
it: the same command goes on where a killed one stopped, and begins anew what the code of the ratings or of these
benchmarks has changed. At the end, and after Ctrl-C, it prints the table in Markdown. Exit code 1 says that a line does
not hold, or could not be worked out.

Games are played once by bots in memory (`bank.py`), and tournaments drawn from them. `--quick` plays a tenth of the
games and draws 200 tournaments of each setting, not 1,000. `--lines 'coverage-*' spoilt` makes some of the lines;
`--lines` alone names them all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from figures import NO, Figure
from lines import Size, table

HERE = Path(__file__).parent
SOURCES = (
    *sorted((HERE.parent / "referee" / "ratings").glob("*.py")),
    *(
        HERE / f"{name}.py"
        for name in ("bank", "covered", "duel", "figures", "folding", "lines", "manners", "settling", "skills")
    ),
)
HEADING = "| what | seen | ± | must be | holds |\n|---|---|---:|---|---|"


class Kept(NamedTuple):
    """The figures of finished lines, one JSON object a line of the file."""

    path: Path
    key: str

    @classmethod
    def of(cls, size: Size, folder: Path) -> Kept:
        """Those of runs of this size, by the code as it is."""
        code = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()[:16]
        return cls(folder / "lines.jsonl", f"{code} {'quick' if size.quick else 'full'} {size.runs or ''}".strip())

    def read(self) -> dict[str, list[Figure]]:
        """By line; a last line that was cut off is left out."""
        found = {}
        for text in self.path.read_text().splitlines() if self.path.exists() else ():
            try:
                entry = json.loads(text)
            except ValueError:
                continue
            if entry["key"] == self.key:
                found[entry["line"]] = [Figure(*figure) for figure in entry["figures"]]
        return found

    def add(self, line: str, figures: list[Figure]) -> None:
        """Keep them, on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("\n" + json.dumps({"key": self.key, "line": line, "figures": figures}))
            file.flush()
            os.fsync(file.fileno())


def remake(line: str, size: Size) -> list[Figure]:
    """Work a line out, in a process of its own. Raises ChildProcessError, which quotes what the process said."""
    words = [sys.executable, __file__, "--one", line, "--folder", str(size.folder), "--jobs", str(size.jobs)]
    words += ["--quick"] * size.quick + (["--runs", str(size.runs)] if size.runs else [])
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ChildProcessError(done.stderr.strip() or f"it ended with {done.returncode}")
    return [Figure(*figure) for figure in json.loads(done.stdout)]


def run(wanted: list[str], size: Size, kept: Kept) -> bool:
    """Make what is missing of the wanted lines and print the table; returns whether all of it is there and holds."""
    found, broken = kept.read(), []
    try:
        for line in wanted:
            if line in found:
                continue
            began = time.monotonic()
            try:
                found[line] = remake(line, size)
            except ChildProcessError as error:
                broken.append(line)
                print(f"{line} could not be worked out: {error}", file=sys.stderr, flush=True)
                continue
            kept.add(line, found[line])
            print(f"{line}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        broken.append("interrupted")
    figures = [figure for line in wanted for figure in found.get(line, ())]
    print("\n".join([HEADING, *(figure.row() for figure in figures)]))
    red = sum(figure.holds == NO for figure in figures)
    print(
        f"\n{len(figures)} figures of {sum(line in found for line in wanted)} of {len(wanted)} lines; {red} do not hold"
    )
    return not red and not broken


def default_folder() -> Path:
    """Where what is only a copy belongs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "referee" / "acceptance"


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer games and runs")
    parser.add_argument(
        "--lines", nargs="*", metavar="PATTERN", help="only these; without a pattern: name all and stop"
    )
    parser.add_argument("--folder", type=Path, default=default_folder(), help="for games and figures (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that play games")
    parser.add_argument("--runs", type=int, help="tournaments of each setting")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    for pattern in given.lines or ():
        if not any(fnmatch(line, pattern) for line in table()):
            parser.error(f"no line is called {pattern}; --lines alone names them all")
    return given


def main() -> None:
    given = arguments()
    size = Size(given.quick, given.folder, given.jobs, given.runs)
    if given.one:
        print(json.dumps(list(table()[given.one](size))))
        return
    if given.lines == []:
        print("\n".join(table()))
        return
    wanted = [line for line in table() if any(fnmatch(line, pattern) for pattern in given.lines or ["*"])]
    sys.exit(0 if run(wanted, size, Kept.of(size, given.folder)) else 1)


if __name__ == "__main__":
    main()
