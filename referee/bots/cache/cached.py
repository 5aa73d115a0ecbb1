"""The copy of a bot in the cache as one that can be started, found by its name and hash."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from referee.bots.cache.prepare import Prepared, default_cache, prepare
from referee.bots.source.manifest import BotSpec, read_bot
from referee.bots.source.programs import HOST, HostView
from referee.errors import BotsRefused, InputError
from referee.record import Bot


def cached(bot: Bot, cache: Path | None = None, *, view: HostView = HOST) -> Prepared | None:
    """The very version of a bot that played, where a whole copy of it lies in the cache; else None.

    `view` is what of this machine it will see.
    """
    cache = default_cache() if cache is None else cache
    if not bot.hash.isalnum():
        return None
    try:
        copies = sorted(cache.glob(f"{bot.hash}*/bot"))
    except OSError:
        return None
    for copy in copies:
        try:
            return prepare(_as_played(copy, bot, view), cache, view=view)
        except (InputError, BotsRefused):
            continue
    return None


def _as_played(copy: Path, bot: Bot, view: HostView) -> BotSpec:
    """What the copy says of itself, under the name and hash of the bot; a built copy has more in it than was hashed.

    Raises InputError if it is not a bot.
    """
    try:
        found = read_bot(copy, view)
    except InputError:  # a bot of one file; beside it there is at most what was built from it
        for path in sorted(copy.iterdir()):
            single = _single(path, bot, view)
            if single is not None:
                return single
        raise
    return replace(found, identity=bot)


def _single(path: Path, bot: Bot, view: HostView) -> BotSpec | None:
    try:
        found = read_bot(path, view)
    except InputError:
        return None
    return found if found.identity == bot else None
