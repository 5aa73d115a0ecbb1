"""Who enters a contest: the bots, their authors, and whether they fill the tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from referee.bots.cache.prepare import Prepared
from referee.contest.in_memory import PythonBot
from referee.contest.listener import Listener
from referee.errors import InputError
from referee.record import Bot
from referee.site.text import plain
from referee.store import is_begun, open_store
from referee.tournament.planning.planning import SameAuthor, Wanted, author_key
from referee.tournament.rounds.rounds import Entry, Round

Entrant = Prepared | PythonBot
"""A bot that can enter: a program that was prepared, or a Python function."""


def under_known_names(bots: Sequence[Entrant], known: Iterable[Bot], listener: Listener) -> list[Entrant]:
    """Return the bots, each under the name that its games are kept under.

    Names that differ in capitals alone are one bot's.
    """
    names = {(bot.name.casefold(), bot.hash): bot for bot in known}
    found: list[Entrant] = []
    for bot in bots:
        identity = bot.manifest.identity
        other = names.get((identity.name.casefold(), identity.hash), identity)
        if other != identity:
            listener.renamed(identity.name, other.name)
        found.append(replace(bot, manifest=replace(bot.manifest, identity=other)))
    return found


def known_bots(db: Path, carried: Round | None) -> list[Bot]:
    """Return the bots of a database, where there is one, and of a round of another machine; the latest come last."""
    known = list(carried.bots) if carried is not None else []
    if is_begun(db):
        with open_store(db) as store:
            known = [one.bot for one in sorted(store.saved_bots(), key=lambda one: one.saved)] + known
    return known


def entries_of(ready: Sequence[Entrant], authors: Mapping[str, str], max_entries: int | None) -> tuple[Entry, ...]:
    """Return the bots as they enter.

    Raises InputError if an author has too many, or if `authors` names a bot that is not here.
    """
    entries = tuple(
        Entry(
            name=bot.manifest.identity.name,
            hash=bot.manifest.identity.hash,
            players=tuple(sorted(bot.manifest.players)),
            author=authors.get(bot.manifest.identity.name, bot.manifest.author or ""),
        )
        for bot in ready
    )
    unknown = sorted(authors.keys() - {entry.name for entry in entries})
    if unknown:
        raise InputError(f"--author names {unknown[0]!r}, and there is no bot of that name")
    by_author: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_author[author_key(entry.author)].append(entry)
    for author, theirs in by_author.items():
        if author and max_entries is not None and len(theirs) > max_entries:
            raise InputError(
                f"{plain(theirs[0].author)} enters {len(theirs)} bots, and --max-entries allows {max_entries}: leave "
                f"out some of {', '.join(entry.name for entry in theirs)}"
            )
    return entries


def check_tables(entries: Sequence[Entry], wanted: Wanted) -> None:
    """Raise InputError if a table has too few bots, or too few authors if bots of one author are kept apart."""
    for size in wanted.players:
        able = [entry for entry in entries if size in entry.players]
        if len(able) < size:
            raise InputError(f"a table of {size} needs {size} bots that play at it, and there are {len(able)}")
        authors = {author_key(entry.author) or entry.bot for entry in able}
        if wanted.same_author is SameAuthor.APART and 2 < size > len(authors):
            raise InputError(
                f"a table of {size} needs bots of {size} authors that play at it with --same-author apart, and there "
                f"are {len(authors)}"
            )


def labels_of(bot: Entrant, entry: Entry) -> dict[str, str]:
    """Return what the store keeps of a bot's language and author."""
    words = (("language", bot.manifest.language), ("author", entry.author))
    return {key: value for key, value in words if value}
