"""Programs of many languages inside tier A with the default limits: built there, and whole games without a fault."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path

import pytest
from seats import PROGRAMS, prepared
from toolchains import linked_copy

from referee.bots.building.workshop import Workshop
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.process.limits import DEFAULT_BOX, Limits
from referee.bots.process.process import BotProcess
from referee.bots.process.system import Reaper
from referee.bots.sandbox.probing import as_recorded, launcher_for
from referee.bots.source.manifest import read_bot
from referee.bots.source.programs import BOXED, HostView
from referee.bots.tiers import Tier
from referee.play import SystemClock
from referee.record import GameRecord
from referee.rules import DEFAULT_RULES
from referee.tournament.engine.block import play_block
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block, games_of

LANGUAGES = Path(__file__).with_name("programs") / "languages"
PYTHON, NODE = "/usr/bin/python3", shutil.which("node", path=BOXED.path) or "node"
TOOLS = {"sh": "sh", "py": "python3", "js": "node", "c": "cc", "java": "javac", "go": "go", "rs": "rustc"}

ASKED = {"go": ["go", "env", "GOROOT"], "rs": ["rustc", "--print", "sysroot"]}
"""Where a compiler has all that belongs to it."""


@pytest.mark.parametrize("suffix", TOOLS)
@pytest.mark.parametrize("tier", [Tier.A, Tier.C])
def test_a_program_plays_whole_games_within_the_limits(
    suffix: str, tier: Tier, public_path: Path, public_folder: Path, reaper: Reaper
) -> None:
    bot = built(suffix, tier, public_folder)
    (public_path / "scratch").mkdir()
    launcher = launcher_for(tier, scratch=public_path / "scratch", box=DEFAULT_BOX, reaper=reaper)
    identity = bot.manifest.identity
    records = list(
        play_block(
            games_of(Block((identity, identity), 0, (0, 1)), b"s" * 16),
            bots={identity: bot},
            conditions=Conditions(DEFAULT_RULES, Limits(start_ms=20_000, move_ms=5_000), isolation=tier),
            launcher=launcher,
            clock=SystemClock(),
        )
    )
    assert len(records) == 2
    for record in records:
        assert isinstance(record, GameRecord)
        assert record.faults == ()
        assert record.isolation == as_recorded(tier)
        assert len(record.steps) > 10


@pytest.mark.parametrize("tier", [Tier.A, Tier.B, Tier.C])
def test_what_usual_programs_call_is_allowed(tier: Tier, public_path: Path) -> None:
    """The filter of calls lists what is allowed, so that a call left out would break a runtime."""
    place = public_path / "bot"
    place.mkdir()
    (public_path / "scratch").mkdir()
    for name in ("helpers.py", "helpers.js"):
        shutil.copy(PROGRAMS / name, place)
    no_shared_memory = ("with_a_pool_of_processes",) if tier is Tier.C else ()
    launcher = launcher_for(tier, scratch=public_path / "scratch")

    def printed(*argv: str) -> dict[str, object]:
        process = BotProcess(launcher.launch(prepared(*argv, folder=place)), SystemClock())
        try:
            found = json.loads(process.exchange(b"", time.monotonic_ns() + 120_000_000_000))
        finally:
            process.child.end()
        assert isinstance(found, dict)
        return found

    expected = {
        "with_a_process": "told", "with_an_event_loop": "told", "with_threads": 6, "with_a_pool_of_processes": 6,
        "with_a_pair_of_sockets": "told", "with_a_database": "told", "with_a_lock": "taken",
        "with_copies": ["renamed", "touched"], "with_a_timer": True,
    }  # fmt: skip
    assert printed(PYTHON, "helpers.py", *no_shared_memory) == {
        name: value for name, value in expected.items() if name not in no_shared_memory
    }
    assert printed(NODE, "helpers.js") == {"program": "told", "thread": "told", "child": "told", "copied": True}


@cache
def built(suffix: str, tier: Tier, folder: Path) -> Prepared:
    """The bot, built in a box of the tier by a compiler that is in /usr, or else is allowed."""
    view = HostView(BOXED.path, toolchain(suffix, folder))
    bot = read_bot(LANGUAGES / f"first.{suffix}", view)
    return prepare(bot, folder / f"cache-{tier}", view=view, builder=Workshop(tier))


@cache
def toolchain(suffix: str, folder: Path) -> tuple[Path, ...]:
    """The folder of a compiler that is not on a box's PATH; where others may not enter it, a copy of links to it."""
    if shutil.which(TOOLS[suffix], path=BOXED.path) is not None or suffix not in ASKED:
        return ()
    said = subprocess.run(ASKED[suffix], capture_output=True, text=True, check=True).stdout.strip()
    if all(place.stat().st_mode & 0o001 for place in (Path(said), *Path(said).parents)):
        return (Path(said),)
    return (linked_copy(Path(said), folder / suffix),)
