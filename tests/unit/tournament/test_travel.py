"""Bots that travel: what is packed is what was hashed, and nothing else is ever built or written elsewhere."""

from __future__ import annotations

import os
import zlib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from referee.bots.building.workshop import Workshop
from referee.bots.source.manifest import BotSpec, find_bots
from referee.bots.source.tree import scan
from referee.bots.tiers import Tier
from referee.errors import BotsRefused, InputError
from referee.tournament.cluster.bot_transfer import at_hand, pack, receive, traveller

SOURCE = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain" / "first.py"
BUILDER = Workshop(Tier.D)


def found(path: Path) -> BotSpec:
    (bot,) = find_bots([path]).bots
    return bot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot with everything that a tree can hold."""
    bot = tmp_path / "given" / "rich"
    (bot / "data" / "deep").mkdir(parents=True)
    (bot / "bot.toml").write_text('command = ["./run.sh"]\n')
    (bot / "run.sh").write_text("#!/bin/sh\n")
    (bot / "run.sh").chmod(0o700)
    (bot / "data" / "deep" / "ü.bin").write_bytes(bytes(range(256)))
    (bot / "data" / "link").symlink_to("./deep/ü.bin")
    (bot / ".botignore").write_text("*.tmp\n")
    (bot / "left.tmp").write_text("out")
    return bot


def parcel(*entries: tuple[str, bytes, bytes], in_folder: bool = True) -> bytes:
    """Entries as they would be packed."""
    return zlib.compress(msgspec.msgpack.encode([in_folder, [list(entry) for entry in entries]]))


def refusal(bot: BotSpec, packed: bytes, tmp_path: Path) -> str:
    with pytest.raises(BotsRefused) as caught:
        receive(bot, packed, tmp_path, tmp_path / "cache", builder=BUILDER)
    ((name, reason),) = caught.value.reasons.items()
    assert name == bot.identity.name
    return reason


def test_a_folder_arrives_with_its_files_links_and_permissions(folder: Path, tmp_path: Path) -> None:
    bot = found(folder)
    there = receive(traveller(bot), pack(bot), tmp_path, tmp_path / "cache", builder=BUILDER)
    assert scan(there.folder).hash() == bot.identity.hash
    assert (there.folder / "data" / "link").readlink() == Path("deep/ü.bin")
    assert not (there.folder / "left.tmp").exists()
    assert there.argv == ("./run.sh",)
    assert not list(tmp_path.glob("arrived-*"))


def test_a_single_file_arrives_under_its_name(tmp_path: Path) -> None:
    bot = found(SOURCE)
    there = receive(traveller(bot), pack(bot), tmp_path, tmp_path / "cache", builder=BUILDER)
    assert [path.name for path in there.folder.iterdir()] == ["first.py"]
    assert there.manifest.identity == bot.identity


def test_equal_trees_are_equal_bytes_wherever_they_lie(folder: Path, tmp_path: Path) -> None:
    bot = found(folder)
    copy = tmp_path / "copied" / "other-name"
    copy.parent.mkdir()
    scan(folder).copy_to(copy)
    os.utime(copy / "bot.toml", (1, 1))
    assert pack(found(copy)) == pack(bot)


def test_it_is_at_hand_only_after_it_has_arrived(folder: Path, tmp_path: Path) -> None:
    bot, cache = found(folder), tmp_path / "cache"
    assert at_hand(traveller(bot), cache) is None
    there = receive(traveller(bot), pack(bot), tmp_path, cache, builder=BUILDER)
    again = at_hand(traveller(bot), cache)
    assert again is not None
    assert again.folder == there.folder


def test_a_traveller_does_not_say_where_it_lay(folder: Path) -> None:
    assert traveller(found(folder)).path == Path("rich")


def test_a_bot_that_was_changed_meanwhile_is_not_packed(folder: Path) -> None:
    bot = found(folder)
    (folder / "run.sh").write_text("#!/bin/sh\necho other\n")
    with pytest.raises(InputError, match="the files of rich were changed"):
        pack(bot)


def test_other_content_than_the_hash_says_is_refused_before_it_is_built(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "rich"
    other.mkdir(parents=True)
    (other / "bot.toml").write_text(f'command = ["sh"]\nbuild = ["touch", "{tmp_path / "was-built"}"]\n')
    bot = found(other)
    reason = refusal(replace(traveller(bot), identity=found(folder).identity), pack(bot), tmp_path)
    assert reason == "what came over the network is not what its hash says"
    assert not (tmp_path / "was-built").exists()


@pytest.mark.parametrize("path", ["../out", "/tmp/out", "a/../../out", ""])
def test_a_path_that_leads_out_is_refused(folder: Path, tmp_path: Path, path: str) -> None:
    reason = refusal(found(folder), parcel((path, b"f", b"text")), tmp_path)
    assert reason == "what came over the network has a path that leads out of its folder"
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_through_a_link_that_came_along(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    packed = parcel(("door", b"l", str(outside).encode()), ("door/file", b"f", b"text"))
    assert refusal(found(folder), packed, tmp_path) == f"it cannot be unpacked in {tmp_path}: File exists"
    assert not list(outside.iterdir())


def test_damaged_bytes_are_refused(folder: Path, tmp_path: Path) -> None:
    packed = pack(found(folder))
    for damaged in (packed[:-3], packed[1:], b"", parcel(("a", b"f", b"x"))[:9], zlib.compress(b"\xc1")):
        assert refusal(found(folder), damaged, tmp_path) == "what came over the network is damaged"
