"""Bots that travel: a source tree as bytes, and from these to a built copy in the cache of another machine.

What travels is the source and not the build, which is made for one machine. A tree is packed entry by entry, in the
order in which it is hashed (`referee.bots.source.tree`), so that equal trees are equal bytes. The receiver compares the
hash before anything of it is built or run. It is no tar file: a list of paths and contents has no owners, devices
and times to leave out, and needs no filter that only later releases of Python 3.11 have.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

import msgspec

from referee.bots.cache.build import Builder
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.cache.removal import remove_tree
from referee.bots.source.manifest import BotSpec
from referee.bots.source.programs import HOST, HostView
from referee.bots.source.tree import AS_GIVEN, EntryKind, scan
from referee.errors import BotsRefused, InputError

_NOWHERE = Path("/nonexistent")
_OVERHEAD = 2048
"""Bytes that an entry has beside its content, at most."""
_LARGEST = AS_GIVEN.size + AS_GIVEN.entries * _OVERHEAD


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    path: str
    kind: bytes
    content: bytes


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """A tree; `in_folder` is whether the bot is a folder, and no single file."""

    in_folder: bool
    entries: tuple[_Entry, ...]


def pack(bot: BotSpec) -> bytes:
    """The source tree of a bot, compressed. Raises InputError where it is no longer what its hash says, OSError."""
    tree = scan(bot.path)
    entries = tuple(_Entry(entry.path, entry.kind.value, b"".join(tree.content(entry))) for entry in tree.entries)
    if scan(bot.path).hash() != bot.identity.hash:
        raise InputError(f"the files of {bot.identity.name} were changed after the tournament was begun: try again")
    return zlib.compress(msgspec.msgpack.encode(_Packed(bot.path.is_dir(), entries)))


def traveller(bot: BotSpec) -> BotSpec:
    """A bot without the place where it lies, which says nothing to another machine but its last name."""
    return replace(bot, path=Path(bot.path.name))


def at_hand(bot: BotSpec, cache: Path | None = None, *, view: HostView = HOST) -> Prepared | None:
    """The copy that this machine's cache has, compared with its hash; None where it has none that is whole."""
    try:
        return prepare(replace(bot, path=_NOWHERE / bot.path.name), cache, view=view)
    except BotsRefused:  # it would have to be made anew, and there is nothing here to make it from
        return None


def receive(
    bot: BotSpec, packed: bytes, scratch: Path, cache: Path | None = None, *, view: HostView = HOST, builder: Builder
) -> Prepared:
    """Unpack and build a bot that came as `pack` made it; where another was quicker, that copy is used.

    `scratch` is a folder for the time of it; for `view` and `builder` see `prepare`. Raises BotsRefused as that does,
    and where what came is not what the bot's hash says or cannot be written.
    """
    folder = scratch / f"arrived-{bot.identity.hash}"
    try:
        path = _unpack(packed, folder, bot.path.name)
        if scan(path).hash() != bot.identity.hash:
            raise InputError("what came over the network is not what its hash says")
        return prepare(replace(bot, path=path), cache, view=view, builder=builder)
    except BotsRefused as refused:
        reasons = "; ".join(refused.reasons.values()).replace(str(folder / bot.path.name), bot.path.name)
        raise BotsRefused({bot.identity.name: reasons}) from None
    except InputError as error:
        raise BotsRefused({bot.identity.name: str(error)}) from None
    except OSError as error:
        raise BotsRefused({bot.identity.name: f"it cannot be unpacked in {scratch}: {error.strerror}"}) from None
    finally:
        remove_tree(folder)


def _unpack(packed: bytes, folder: Path, name: str) -> Path:
    """Write a tree below `folder`, which is made; where the bot lies then. Raises InputError, OSError."""
    tree = _decoded(packed)
    base = folder / name if tree.in_folder else folder
    base.mkdir(parents=True)
    # Links come last: so no file is ever written through one.
    for entry in sorted(tree.entries, key=lambda entry: entry.kind == EntryKind.LINK.value):
        target = base / _inside(entry.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.kind == EntryKind.LINK.value:
            target.symlink_to(entry.content.decode())
            continue
        with target.open("xb") as file:
            file.write(entry.content)
        target.chmod(0o755 if entry.kind == EntryKind.PROGRAM.value else 0o644)
    return folder / name


def _decoded(packed: bytes) -> _Packed:
    unzip = zlib.decompressobj()
    try:
        data = unzip.decompress(packed, _LARGEST)
        if unzip.eof:
            return msgspec.msgpack.decode(data, type=_Packed)
    except (zlib.error, msgspec.DecodeError):
        pass
    raise InputError("what came over the network is damaged")


def _inside(path: str) -> PurePosixPath:
    inside = PurePosixPath(path)
    if inside.is_absolute() or ".." in inside.parts or not inside.parts:
        raise InputError("what came over the network has a path that leads out of its folder")
    return inside
