"""Bots that travel: what is packed is what was hashed, and nothing else is ever built or written elsewhere."""

from __future__ import annotations

from pathlib import Path

from referee.bots.building.workshop import Workshop
from referee.bots.source.manifest import BotSpec, find_bots
from referee.bots.tiers import Tier
from referee.tournament.cluster.bot_transfer import pack, receive, traveller

BUILDER = Workshop(Tier.D)


def found(path: Path) -> BotSpec:
    (bot,) = find_bots([path]).bots
    return bot


def test_what_another_has_built_meanwhile_is_used_and_not_built_again(tmp_path: Path) -> None:
    home = tmp_path / "built"
    home.mkdir()
    (home / "bot.toml").write_text(f'command = ["sh"]\nbuild = ["sh", "-c", "echo built >> {tmp_path / "builds"}"]\n')
    bot = found(home)
    for _ in range(2):
        receive(traveller(bot), pack(bot), tmp_path, tmp_path / "cache", builder=BUILDER)
    assert (tmp_path / "builds").read_text() == "built\n"
