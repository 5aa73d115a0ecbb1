"""What the next round plays: all that is wanted of the bots as they are now, less what earlier rounds played."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from referee.record import Bot, LineUp
from referee.store import Deals
from referee.tournament.planning.lineups import LIMIT, line_ups
from referee.tournament.rounds.rounds import Entry, Round
from referee.tournament.rounds.schedule import Owing
from referee.tournament.rounds.until import Stopping, Until, looks

_BLOCKS = 64
"""A small round is cut into about so many blocks, so that no worker is idle for long at its end."""
_MOST = 100
"""Games of a block at most. More would gain little, and put the first tables of a long round far ahead of others."""
_LEAST = 10
"""Games of a block at least: every block starts its bots anew, which costs more than a few idle workers."""

Played = Mapping[LineUp, Mapping[int, Deals]]
Claims = Mapping[LineUp, Sequence[range]]


class SameAuthor(StrEnum):
    """Whether bots of one author may meet at tables of three and more."""

    TOGETHER = "together"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a tournament is to have in the end: so many deals of every line-up, and which line-ups.

    At most `limit` of them for each number of `players`, of more a balanced sample.
    """

    players: tuple[int, ...]
    deals: int
    limit: int = LIMIT
    same_author: SameAuthor = SameAuthor.TOGETHER


def owings(
    wanted: Wanted, entries: Iterable[Entry], *, rounds: Iterable[Round], season: int, played: Played, salt: bytes
) -> list[Owing]:
    """What the next round of `season` owes, in the order of its schedule; nothing where all is there.

    `entries` are the bots that play. `rounds` are all that were opened, of any season, since the deals of a line-up
    are numbered on through all of them. A deal counts where it was played in this season, in every rotation. Line-ups
    that were formed in this season stay, so that a new bot does not make others play anew.
    """
    everything = list(rounds)
    claims = claimed(one for one in everything if one.manifest.season == season)
    used = claimed(everything)
    found = []
    for line_up in _line_ups(wanted, list(entries), claims, salt):
        there = _complete(played.get(line_up, {}), len(line_up), claims.get(line_up, ()))
        if there < wanted.deals:
            found.append(Owing(line_up, first_unclaimed(line_up, used), wanted.deals - there))
    return found


def owings_until(
    wanted: Wanted, stopping: Stopping, entries: Iterable[Entry], *, rounds: Iterable[Round], season: int, salt: bytes
) -> list[Owing]:
    """What the next round owes at most that stops by itself; nothing where one of this season asked the same.

    Each such round is a test of its own field: it counts no games but its own, and so owes all deals of all line-ups.
    """
    everything = list(rounds)
    ours = [one for one in everything if one.manifest.season == season]
    wanted_line_ups = list(_line_ups(wanted, list(entries), claimed(ours), salt))
    if any(_has_asked(one, wanted, stopping, wanted_line_ups) for one in ours):
        return []
    used = claimed(everything)
    return [Owing(line_up, first_unclaimed(line_up, used), wanted.deals) for line_up in wanted_line_ups]


def _has_asked(one: Round, wanted: Wanted, stopping: Stopping, line_ups: list[LineUp]) -> bool:
    until = one.manifest.until
    there = {owing.line_up: owing.deals for owing in one.manifest.owings()}
    return (
        isinstance(until, Until)
        and until.is_as(stopping)
        and one.closed
        and not one.unplayed
        and all(there.get(line_up) == wanted.deals for line_up in line_ups)
    )


def looked_at(stopping: Stopping, owed: Sequence[Owing]) -> tuple[int, Until]:
    """For a round that stops by itself: how many games its blocks have at most, and its rule."""
    by_size: defaultdict[int, int] = defaultdict(int)
    for owing in owed:
        by_size[len(owing.line_up)] += len(owing.line_up)
    every, block = looks(owed[0].deals, min(by_size.values()))
    return block, Until(every=every, **msgspec.structs.asdict(stopping))


def claimed(rounds: Iterable[Round]) -> Claims:
    """The deals that belong to some rounds, by line-up."""
    found: defaultdict[LineUp, list[range]] = defaultdict(list)
    for one in rounds:
        for line_up, first, deals in one.manifest.owings():
            found[line_up].append(range(first, first + deals))
    return found


def first_unclaimed(line_up: LineUp, claims: Claims) -> int:
    """The first deal of a line-up after all that are claimed."""
    return max((deals.stop for deals in claims.get(line_up, ())), default=0)


def block_size(owed: Iterable[Owing]) -> int:
    """How many games a round's blocks have at most: 100, and fewer, but 10 at least, where there would be too few."""
    games = sum(len(line_up) * deals for line_up, _, deals in owed)
    return max(_LEAST, min(_MOST, games // _BLOCKS))


def _line_ups(wanted: Wanted, entries: list[Entry], claims: Claims, salt: bytes) -> Iterator[LineUp]:
    plays = {entry.bot: entry.players for entry in entries}
    apart = wanted.same_author is SameAuthor.APART
    authors = {entry.bot: author_key(entry.author) for entry in entries} if apart else None
    for size in wanted.players:
        there = [
            line_up
            for line_up in claims
            if len(line_up) == size
            and all(size in plays.get(bot, ()) for bot in line_up)
            and not (authors and _share_an_author(line_up, authors))
        ]
        yield from there
        yield from line_ups(plays, size, salt=salt, limit=wanted.limit, there=there, authors=authors)


def author_key(author: str) -> str:
    """What two spellings of one author share: case, width and spaces make nobody another person. Empty for nobody."""
    return " ".join(unicodedata.normalize("NFKC", author).casefold().split())


def _share_an_author(line_up: LineUp, authors: Mapping[Bot, str]) -> bool:
    named = [authors[bot] for bot in line_up if authors[bot]]
    return len(line_up) > 2 and len(set(named)) < len(named)


def _complete(played: Mapping[int, Deals], rotations: int, claims: Sequence[range]) -> int:
    """How many of the claimed deals were played in all rotations."""
    if len(played) < rotations:
        return 0
    return sum(all(deal in there for there in played.values()) for deals in claims for deal in deals)
