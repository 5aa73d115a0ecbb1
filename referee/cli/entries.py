"""Who enters a tournament: the bots, whose they are, and whether they fill its tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from referee.bots.cache.prepare import Prepared
from referee.errors import InputError
from referee.record import Bot
from referee.site.text import plain
from referee.store import is_begun, open_store
from referee.tournament.planning.planning import SameAuthor, Wanted, author_key
from referee.tournament.rounds.rounds import Entry, Round


def under_known_names(bots: Sequence[Prepared], known: Iterable[Bot]) -> list[Prepared]:
    """Return the bots, those whose folder was renamed in capitals alone under the name that is known.

    Names that differ in capitals alone are one bot's, and its games are kept under the name that they were played with.
    """
    names = {(bot.name.casefold(), bot.hash): bot for bot in known}
    found = []
    for bot in bots:
        identity = bot.manifest.identity
        other = names.get((identity.name.casefold(), identity.hash), identity)
        if other != identity:
            click.echo(f"{identity.name} plays as {other.name}: under this name its games are kept", err=True)
        found.append(replace(bot, manifest=replace(bot.manifest, identity=other)))
    return found


def known_bots(db: Path, carried: Round | None) -> list[Bot]:
    """Return the bots of a database, where there is one, and of a round of another machine; the latest come last."""
    known = list(carried.bots) if carried is not None else []
    if is_begun(db):
        with open_store(db) as store:
            known = [one.bot for one in sorted(store.saved_bots(), key=lambda one: one.saved)] + known
    return known


def entries_of(ready: Sequence[Prepared], authors: Mapping[str, str], max_entries: int | None) -> tuple[Entry, ...]:
    """The bots as they enter. Raises InputError where an author has too many, or one is named that is not here."""
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
    """Raise InputError where a table has too few bots, or too few authors where theirs are kept apart."""
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


def labels_of(bot: Prepared, entry: Entry) -> dict[str, str]:
    """What is kept of a bot's own words, or the organiser's."""
    words = (("language", bot.manifest.language), ("author", entry.author))
    return {key: value for key, value in words if value}
