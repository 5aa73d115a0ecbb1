"""A long tournament of which a third of the bots are hostile, watched from outside."""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from bots.hostile.catalogue import WHISPERS
from bots.hostile.entrants import enter, target, victim
from bots.hostile.entries import Contained, Entry
from bots.hostile.traces import Held, dead, least_held, left_behind
from command_line import ROOT, environment
from workers import workers

from referee.bots.cache.removal import remove_tree
from referee.bots.process import system
from referee.record import GameRecord

MOVE_MS, START_MS = 500, 2_000
"""Short, since hanging bots use all of it."""
GROWTH_KIB = 2 << 10
"""How much a process may grow between the two looks."""
_MORE = 400
"""How many games more are owed than are waited for: the last look is at a run that goes on."""
_GREEDY = ROOT / "benchmarks" / "scanner" / "scanner.c"
_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST = 32
_POLL = 0.02
_END_SECONDS = 300
"""How long the games in hand may take after Ctrl-C: hostile bots wait long for a processor where others want it too."""


@dataclass
class Soaked:
    """What was seen: each process of the referee early and late, and what was left after its end."""

    games: int
    early: dict[str, Held]
    late: dict[str, Held]
    replaced: int
    """Workers that were not the same at both looks."""
    left: dict[str, list[str]]
    survivors: int
    tier: str = ""
    faults: Counter[str] = field(default_factory=Counter)
    charged_to_good: int = 0
    """Faults of bots that are not hostile."""
    seconds: float = 0.0

    def broken(self) -> list[str]:
        """What is not as it was, in words; nothing where all is well."""
        found = [f"{len(paths)} {kind} are left: {paths[:5]}" for kind, paths in self.left.items() if paths]
        found += [f"{self.survivors} processes are left"] if self.survivors else []
        found += [f"{self.replaced} workers were lost"] if self.replaced else []
        for who, early in self.early.items():
            late = self.late[who]
            found += [f"{who} has {late.zombies} dead children"] if late.zombies else []
            if (late.descriptors, late.sockets) != (early.descriptors, early.sockets):
                found.append(f"{who} had {early.descriptors} descriptors and has {late.descriptors}")
            if late.resident - early.resident > GROWTH_KIB:
                found.append(f"{who} grew from {early.resident} to {late.resident} KiB")
        return found


def soak(folder: Path, kinds: Sequence[Entry], *, early: int, games: int, tier: str = "auto", jobs: int = 2) -> Soaked:
    """Play until `games` are stored, looking at the referee's processes when `early` are, and then; then stop it.

    `folder` is empty, and every user may enter it. This process becomes the one to which what is left behind comes.
    """
    system.Reaper()
    for name in ("bots", "tmp", "work"):
        (folder / name).mkdir()
    (folder / "tmp").chmod(0o1777)
    token = f"soak-{uuid4().hex[:12]}"
    with victim() as alive:
        told = target(alive.pid, folder, folder / "work" / "referee.db", token)
        bots = _field(folder / "bots", kinds, told)
        own = system.children()
        began = time.monotonic()
        with _begun(folder, bots, games, tier, jobs) as run:
            first = _look(run, folder, early, jobs)
            last = _look(run, folder, games, jobs)
            run.send_signal(signal.SIGINT)
            code = run.wait(_END_SECONDS)
        assert alive.poll() is None, "a bystander was killed"
    if code != 130:
        raise AssertionError(f"the tournament ended with {code}: {(folder / 'told').read_text()}")
    seconds = time.monotonic() - began
    survivors = [pid for pid in system.children() - own if not dead(pid)]
    soaked = Soaked(
        games=_stored(folder),
        early={who: one for who, (_, one) in first.items()},
        late={who: one for who, (_, one) in last.items()},
        replaced=sum(first[who][0] != last[who][0] for who in first),
        left=left_behind(folder, token, [pid for look in (first, last) for pid, _ in look.values()]),
        survivors=len(survivors),
        seconds=seconds,
    )
    _count_faults(folder, soaked)
    return soaked


def clear(folder: Path) -> None:
    """Remove what `soak` made, the read-only copies of bots too."""
    for path in folder.iterdir():
        remove_tree(path) if path.is_dir() else path.unlink()


# -- the field


def _field(place: Path, kinds: Sequence[Entry], told: str) -> list[Path]:
    """Two good bots for each hostile one, so named that they come in turns in the order of the schedule."""
    place.mkdir(exist_ok=True)
    greedy = place.parent / "greedy"
    subprocess.run(["cc", "-O2", "-o", str(greedy), str(_GREEDY)], check=True)
    bots = []
    for number, entry in enumerate(kinds):
        bots.append(_hostile(place / _name(3 * number, entry.name), entry, told))
        bots.append(_good_in_c(place / _name(3 * number + 1, "good"), greedy))
        bots.append(enter(place / _name(3 * number + 2, "good-too"), "good.py"))
    return bots


def _name(number: int, words: str) -> str:
    return f"b{number:03}-{_NAME.sub('-', words.lower()).strip('-')}"[:_LONGEST].rstrip("-")


def _hostile(folder: Path, entry: Entry, told: str) -> Path:
    word = "word" if entry.clause is WHISPERS else told
    return enter(folder, entry.program, *((word,) if isinstance(entry.expected, Contained) else ()))


def _good_in_c(folder: Path, program: Path) -> Path:
    folder.mkdir()
    shutil.copy(program, folder / "greedy")
    (folder / "bot.toml").write_text('command = ["./greedy"]\n')
    return folder


# -- the run


@contextmanager
def _begun(folder: Path, bots: Sequence[Path], games: int, tier: str, jobs: int) -> Iterator[subprocess.Popen[bytes]]:
    """The tournament, which ends with what is done inside at the latest; what it says is in the file `told`."""
    line_ups = (games + _MORE) // 2
    words = (
        *("tournament", *map(str, bots), "--deals", "1", "--lineups", str(line_ups), "--seed", "soak", "-q"),
        *("--max-faults", "none", "--move-time", f"{MOVE_MS}ms", "--start-time", f"{START_MS}ms"),
        *("--jobs", str(jobs), "--sandbox", tier),
    )
    surroundings = environment({"TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")})
    with (
        (folder / "told").open("wb") as told,
        subprocess.Popen(
            [sys.executable, "-m", "referee", *words],
            cwd=folder / "work", env=surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told,
        ) as run,
    ):  # fmt: skip
        try:
            yield run
        finally:
            run.kill()


def _look(run: subprocess.Popen[bytes], folder: Path, games: int, jobs: int) -> dict[str, tuple[int, Held]]:
    """The referee and its workers, each with its pid, once so many games are stored."""
    _wait(lambda: _stored(folder) >= games and len(workers(run.pid)) == jobs, run, folder)
    pids = [run.pid, *sorted(workers(run.pid))]
    names = ["referee", *(f"worker {number}" for number in range(1, len(pids)))]
    return dict(zip(names, zip(pids, least_held(pids), strict=True), strict=True))


def _wait(done: Callable[[], bool], run: subprocess.Popen[bytes], folder: Path) -> None:
    while not done():
        if run.poll() is not None:
            raise AssertionError(f"the tournament ended too early: {(folder / 'told').read_text()}")
        time.sleep(_POLL)


def _stored(folder: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{folder / 'work' / 'referee.db'}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def _count_faults(folder: Path, soaked: Soaked) -> None:
    out = folder / "games.jsonl"
    words = [sys.executable, "-m", "referee", "export", "-o", str(out)]
    subprocess.run(words, cwd=folder / "work", env=environment(), check=True)
    with out.open() as lines:
        for line in lines:
            record = GameRecord.from_json(line)
            soaked.tier = record.isolation or ""
            for fault in record.faults:
                soaked.faults[fault.verdict.value] += 1
                soaked.charged_to_good += "-good" in record.seats[fault.seat].name
