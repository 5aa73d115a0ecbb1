"""Programs of many languages inside tier A with the default limits: built there, and whole games without a fault."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from toolchains import linked_copy

from referee.bots.limits import DEFAULT_BOX, Limits
from referee.bots.manifest import read_bot
from referee.bots.prepare import Prepared, prepare
from referee.bots.programs import BOXED, View
from referee.bots.sandbox.building import Workshop
from referee.bots.sandbox.probing import as_recorded, launcher_for
from referee.bots.sandbox.tiers import Tier
from referee.bots.system import Reaper
from referee.play import SystemClock
from referee.record import GameRecord
from referee.rules import DEFAULT_RULES
from referee.tournament.block import play_block
from referee.tournament.conditions import Conditions
from referee.tournament.schedule import Block, games_of

LANGUAGES = Path(__file__).with_name("programs") / "languages"
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


@cache
def built(suffix: str, tier: Tier, folder: Path) -> Prepared:
    """The bot, built in a box of the tier by a compiler that is in /usr, or else is allowed."""
    view = View(BOXED.path, toolchain(suffix, folder))
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
