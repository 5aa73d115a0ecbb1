"""Builds under test: bots with a build of their own, and what builds them at a tier."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bots.hostile.arena import TIERS
from seats import PROGRAMS

from referee.bots.building.workshop import Workshop
from referee.bots.cache.build import BuildFailed
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.process.system import Reaper, tree
from referee.bots.process.workbench import BuildLimits
from referee.bots.source.manifest import BotSpec, read_bot
from referee.bots.source.programs import BOXED_PATH, HOST, HostView
from referee.bots.tiers import Tier
from referee.errors import BotsRefused

BOXES = [tier for tier in TIERS if tier in (Tier.A, Tier.B)]
SANDBOXES = [tier for tier in TIERS if tier.is_boxed]

Make = Callable[..., BotSpec]


def tiers(which: list[Tier]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("tier", which, ids=[f"tier_{tier}" for tier in which])


def view_of(tier: Tier, allowed: list[str] | tuple[str, ...] = ()) -> HostView:
    return HostView(BOXED_PATH, tuple(map(Path, allowed))) if tier.is_boxed else HOST


def bots_in(folder: Path) -> Make:
    """Makes a bot of which `programs/builds.py MODE …` is the build, or what else is given."""

    def make(
        *mode: str, build: list[list[str]] | None = None, runtime: list[str] | None = None, **files: str
    ) -> BotSpec:
        given = folder / "given"
        given.mkdir(exist_ok=True)
        shutil.copy(PROGRAMS / "builds.py", given)
        steps = [["python3", "builds.py", *mode]] if build is None else build
        (given / "bot.toml").write_text(
            f'command = ["python3", "builds.py"]\nbuild = {json.dumps(steps)}\nruntime = {json.dumps(runtime or [])}\n'
        )
        for name, text in files.items():
            (given / name).parent.mkdir(exist_ok=True)
            (given / name).write_text(text)
        return read_bot(given, view_of(Tier.A, runtime or []))

    return make


def builder_in(folder: Path, reaper: Reaper) -> Callable[..., Prepared]:
    """Builds a bot at a tier; no process is left of it."""

    def made(
        bot: BotSpec,
        tier: Tier,
        *,
        fetch: bool = False,
        passed: tuple[str, ...] = (),
        rebuild: bool = False,
        **limits: Any,
    ) -> Prepared:
        builder = Workshop(tier, BuildLimits(**({"seconds": 300} | limits)), fetch, reaper, passed)
        before = set(tree(os.getpid()))
        try:
            view = view_of(tier, bot.runtime)
            return prepare(bot, folder / "cache", view=view, builder=builder, rebuild=rebuild)
        finally:
            assert set(tree(os.getpid())) - before == set()
            assert list((folder / "cache").glob("*.making")) == []

    return made


def failure(build: Callable[..., Prepared], bot: BotSpec, tier: Tier, **options: Any) -> str:
    """Why a build failed, in its words."""
    with pytest.raises(BotsRefused) as caught:
        build(bot, tier, **options)
    assert isinstance(caught.value.__cause__, BuildFailed)
    (reason,) = caught.value.reasons.values()
    return reason
