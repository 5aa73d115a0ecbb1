"""Who enters a tournament: the bots, whose they are, and whether they fill its tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from referee.bots.prepare import Prepared
from referee.errors import InputError
from referee.site.text import plain
from referee.tournament.planning import SameAuthor, Wanted, author_key
from referee.tournament.rounds import Entry


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
