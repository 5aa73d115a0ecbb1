"""The catalogue of hostile bots: what each does as a real program, and what must become of it, on every tier at hand."""

from __future__ import annotations

import gc
import os
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from bots.hostile.arena import TIERS, Arena, Enter, arenas, as_a_user
from bots.hostile.bait import bait
from bots.hostile.catalogue import CATALOGUE, END, REMAINS, WHISPERS
from bots.hostile.entries import ATTEMPTS, CLEAN, SLACK_US, Contained, Entry, charged, lateness, limits_of
from bots.hostile.refused import REFUSED, folder
from command_line import ROOT, referee_command

from referee.bots.process.limits import MIB
from referee.bots.process.system import Reaper, usable_cores
from referee.bots.tiers import Tier
from referee.record import GameRecord

pytestmark = pytest.mark.xdist_group("memory")
"""Where the kernel kills for memory, a bot that is killed meanwhile may be innocent: its games are void."""

HANG_ON_THE_TIER = (END, REMAINS)
"""Where the verdict, or what is left, hangs on how a process was made: these are played on every tier."""
VERDICTS = [
    (tier, entry)
    for tier in TIERS
    for entry in CATALOGUE
    if not isinstance(entry.expected, Contained) and (tier in (Tier.A, Tier.D) or entry.clause in HANG_ON_THE_TIER)
]
ATTEMPTED = [(tier, entry) for tier in TIERS for entry in CATALOGUE if isinstance(entry.expected, Contained)]


def named(value: object) -> str:
    return value.name if isinstance(value, Entry) else f"tier_{value}"


@pytest.fixture(scope="module")
def enter(reaper: Reaper) -> Iterator[Enter]:
    """One arena is open at a time."""
    with arenas(reaper) as enter:
        yield enter


def played(arena: Arena, entry: Entry, *arguments: str, cores: frozenset[int] | None = None) -> GameRecord:
    """The entry's game against a good bot, or another of its kind where it takes two."""
    program, *words = entry.program.split()
    hostile = arena.bot("hostile", program, *words, *arguments)
    other = (
        arena.bot("other", program, *words, *arguments) if entry.clause is WHISPERS else arena.bot("good", "good.py")
    )
    (record,) = arena.play(hostile, other, limits_of(entry), cores=cores)
    assert isinstance(record, GameRecord), record.reason
    return record


@pytest.mark.parametrize(("tier", "entry"), VERDICTS, ids=named)
def test_the_verdict_is_the_catalogues_and_nothing_is_left(enter: Enter, tier: Tier, entry: Entry) -> None:
    arena = enter(tier)
    boxed = tier in (Tier.A, Tier.B)
    for attempt in reversed(range(ATTEMPTS)):
        with arena.nothing_left(once_alone=entry.hides and not boxed):
            fault = charged(played(arena, entry))
        arena.next_game_is_right()
        assert (CLEAN if fault is None else fault.verdict) == entry.expected, fault
        if fault is None or lateness(fault, limits_of(entry)) <= SLACK_US:
            return
        assert attempt, f"later than {SLACK_US} us, {ATTEMPTS} times"


@pytest.mark.parametrize(("tier", "entry"), ATTEMPTED, ids=named)
def test_what_is_tried_fails_where_the_tier_promises_it(enter: Enter, tier: Tier, entry: Entry) -> None:
    arena, contained = enter(tier), entry.expected
    assert isinstance(contained, Contained)
    cores = frozenset(usable_cores()[:1]) if "core" in entry.name else None
    with bait(arena) as laid:
        word = laid.token if entry.clause is WHISPERS else laid.as_argument()
        with arena.nothing_left():
            record = played(arena, entry, word, cores=cores)
        notes = {step.note for step in record.steps if step.note}
        could = {word for note in notes for word in note.removeprefix("could: ").split()}
        assert record.faults == ()
        if tier in contained.by:
            assert could == set(), f"{contained.promise}: {could}"
            laid.is_whole()
        elif tier is Tier.D and not contained.needs:
            assert could, "the attempt is none"
    arena.next_game_is_right()


NOISY = ("floods its stderr", "bytes without end", "leaves a daemon that has its pipes")
"""Those that leave the most behind, in memory, descriptors and processes."""


@pytest.mark.parametrize("tier", [tier for tier in TIERS if tier in (Tier.A, Tier.D)], ids=named)
def test_memory_and_descriptors_after_thirty_games_are_those_after_three(enter: Enter, tier: Tier) -> None:
    arena, good = enter(tier), "good.py"

    def measure(deals: int) -> int:
        for entry in [entry for entry in CATALOGUE if entry.name in NOISY]:
            hostile = arena.bot("hostile", *entry.program.split())
            with arena.nothing_left():
                for record in arena.play(hostile, arena.bot("good", good), limits_of(entry), deals=deals):
                    assert isinstance(record, GameRecord)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        after_three = measure(1)
        after_thirty = measure(9)
        assert after_thirty - after_three < 64 * 1024
        assert tracemalloc.get_traced_memory()[1] < after_thirty + 8 * MIB, "a bot's output is held whole"
    finally:
        tracemalloc.stop()


def test_what_cannot_be_a_bot_is_refused_in_a_line_of_its_own_before_anything_runs(tmp_path: Path) -> None:
    paths = [make(tmp_path / str(number)) for number, (make, _) in enumerate(REFUSED.values())]
    good = [folder(tmp_path / "good" / name) for name in ("one", "two")]
    work = tmp_path / "work"
    work.mkdir()
    told = referee_command("tournament", *map(str, [*good, *paths]), cwd=work)
    assert (told.returncode, told.stdout, list(work.iterdir())) == (2, "", [])
    *lines, remedy = told.stderr.splitlines()
    assert "--skip-refused" in remedy
    assert len(lines) == len(REFUSED)
    for line, (_, words), path in zip(lines, REFUSED.values(), paths, strict=True):
        assert line.startswith(f"referee: {path.parent}/")
        assert words in line
    assert not set("\x1b\u202e\u200b") & set(told.stderr)


def test_the_best_tier_holds_for_who_is_not_root_too() -> None:
    if os.geteuid() != 0:
        return  # all of the above was played by such a one
    only = ("-k", f"tier_{Tier.A}", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
