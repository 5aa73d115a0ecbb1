"""A season of a database: its rounds, who was withdrawn, and which games are rated."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from referee.errors import DatabaseError
from referee.ratings.standings import Standings, rate
from referee.record import Bot, GameResult
from referee.site.about import HeldNote, Withdrawn
from referee.store import Store
from referee.tournament.progress.withdrawal import withdrawn
from referee.tournament.rounds.rounds import Round
from referee.units import many


class Season:
    """One season of a store: its rounds, and the bots that were withdrawn in them."""

    def __init__(self, store: Store, number: int | None = None) -> None:
        """Read season `number`, by default the last one. Raises DatabaseError if there is no such season."""
        rounds = [Round.of(stored) for stored in store.rounds()]
        last = rounds[-1].manifest.season if rounds else 1
        self.number = last if number is None else number
        self.all_rounds = rounds
        self.rounds = [one for one in rounds if one.manifest.season == self.number]
        if number is not None and not self.rounds:
            raise DatabaseError(f"{store.path} has no season {number}: the last one is {last}")
        self.withdrawn: dict[Bot, int] = withdrawn(self.rounds, store)
        self._limits = {one.number: one.manifest.max_faults for one in self.rounds}

    def versions(self, current: Collection[Bot]) -> tuple[str, ...]:
        """Return a sentence for each bot of which older versions played: the best of many tries is luck in part."""
        played: defaultdict[str, set[Bot]] = defaultdict(set)
        for one in self.rounds:
            for bot in one.bots:
                played[bot.name.casefold()].add(bot)
        names = {bot: bot.name.casefold() for bot in sorted(current)}
        older = {bot: played[name] - {bot} for bot, name in names.items() if name in played}
        return tuple(
            f"{bot.name} has had {many(len(others) + 1, 'version')}; the games of this one count"
            for bot, others in older.items()
            if others
        )

    def notes(self) -> tuple[Withdrawn, ...]:
        """Return who was withdrawn, in which round and after how many faults."""
        return tuple(
            Withdrawn(bot=bot, round=number, faults=self._limits[number] or 0)
            for bot, number in sorted(self.withdrawn.items())
        )


def rated_bots(store: Store, season: Season, *, all_versions: bool = False) -> frozenset[Bot]:
    """Return the bots that can be rated: all that were not withdrawn, in their last version or in all versions."""
    current = store.bots().keys() if all_versions else store.current_bots()
    return frozenset(current).difference(season.withdrawn)


def current_results(
    store: Store,
    season: Season | None = None,
    *,
    all_versions: bool = False,
    bots: Collection[Bot] | None = None,
    rounds: Collection[int] | None = None,
) -> Iterator[GameResult]:
    """Yield the results that are rated: those of a season between the last versions of bots that were not withdrawn.

    Only whole deals count: if parts of a deal were rated, a bot that can keep games from being played would choose its
    cards. Games of older versions stay in the store and count only with `all_versions`. With `bots` only games among
    these bots count, with `rounds` only those of these rounds of the season.
    """
    season = season or Season(store)
    rated = rated_bots(store, season, all_versions=all_versions)
    if bots is not None:
        rated &= frozenset(bots)
    numbers = [one.number for one in season.rounds] or None if rounds is None else sorted(rounds)
    return (result for result in store.results(rounds=numbers, whole_deals=True) if rated.issuperset(result.seats))


def standings_of(store: Store, season: Season | None = None, *, all_versions: bool = False) -> Standings:
    """Return the standings of a season; see `current_results`."""
    return rate(current_results(store, season, all_versions=all_versions))


_NOTABLE = 100
"""A bot is reported as suspended if that happened in more than one of this many of its games."""


def held_bots(store: Store, season: Season, standings: Standings) -> tuple[HeldNote, ...]:
    """Return the bots of the standings that were suspended in more than one of a hundred of their games."""
    games: Counter[Bot] = Counter()
    for table in standings.tables:
        games.update({row.bot: row.games + row.unrated for row in table.rows})
    found = store.held([one.number for one in season.rounds] or None)
    return tuple(
        HeldNote(bot=bot, held=min(held.games, games[bot]), games=games[bot], cpu_ms=held.cpu_ms)
        for bot, held in sorted(found.items())
        if bot in games and _NOTABLE * held.games > games[bot]
    )


def isolation_notes(store: Store, season: Season) -> tuple[str, ...]:
    """Return a sentence if a season was played with and without cgroups; a round's manifest holds the tier alone."""
    ways = sorted(store.isolations([one.number for one in season.rounds] or None))
    if len(ways) < 2:
        return ()
    return (
        f"Games were played at {' and at '.join(ways)}: with cgroups memory is limited for all processes of a bot "
        "together, without them for each process",
    )
