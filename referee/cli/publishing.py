"""From a store to a published leaderboard."""

from __future__ import annotations

import os
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import click

from referee import __version__
from referee.bots.process.limits import Limits
from referee.bots.tiers import Tier
from referee.cli.output.words import many
from referee.errors import DatabaseError, InputError
from referee.outputs import check_place
from referee.ratings.standings import Standings, rate
from referee.record import RECORD_VERSION, Bot, Result
from referee.rules import DEFAULT_RULES
from referee.site.about import About, HeldNote, Label, RoundNote, Withdrawn
from referee.site.ownership import PAGE, check_page
from referee.site.publish import publish, publish_rounds
from referee.site.text import plain
from referee.store import Store, StoredRound
from referee.tournament.progress.owed import stops_by_itself
from referee.tournament.progress.withdrawal import withdrawn
from referee.tournament.rounds.rounds import Round


class Season:
    """One season of a store: its rounds, and who was withdrawn in which of them."""

    def __init__(self, store: Store, number: int | None = None) -> None:
        """Read it; without a number the last one. Raises DatabaseError where there is none of that number."""
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
        """A sentence for each bot of which older versions played: the best of many tries is luck in part."""
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
        """Who was withdrawn, in words for the pages."""
        return tuple(
            Withdrawn(bot=bot, round=number, faults=self._limits[number] or 0)
            for bot, number in sorted(self.withdrawn.items())
        )


def rated_bots(store: Store, season: Season, *, all_versions: bool = False) -> frozenset[Bot]:
    """The bots that can be rated: those that were not withdrawn, as they are now or in all versions."""
    current = store.bots().keys() if all_versions else store.current_bots()
    return frozenset(current).difference(season.withdrawn)


def current_results(
    store: Store,
    season: Season | None = None,
    *,
    all_versions: bool = False,
    bots: Collection[Bot] | None = None,
    rounds: Collection[int] | None = None,
) -> Iterator[Result]:
    """The results that rate: of a season, without its withdrawn bots, between bots as they are now.

    Only whole deals count: were parts of one rated, a bot that can keep games from being played would choose its cards.
    The games of older versions stay in the store and out of the table, unless `all_versions`. With `bots` only games
    among these count, with `rounds` only those of these rounds of the season.
    """
    season = season or Season(store)
    rated = rated_bots(store, season, all_versions=all_versions)
    if bots is not None:
        rated &= frozenset(bots)
    numbers = [one.number for one in season.rounds] or None if rounds is None else sorted(rounds)
    return (result for result in store.results(rounds=numbers, whole_deals=True) if rated.issuperset(result.seats))


def standings_of(store: Store, season: Season | None = None, *, all_versions: bool = False) -> Standings:
    """The standings of a season; see `current_results`."""
    return rate(current_results(store, season, all_versions=all_versions))


_NOTABLE = 100
"""A bot is said to have been held where that was in more than one of so many of its games."""


def held_bots(store: Store, season: Season, standings: Standings) -> tuple[HeldNote, ...]:
    """Of the bots of the standings those that were held in more than one of a hundred of their games."""
    games: Counter[Bot] = Counter()
    for table in standings.tables:
        games.update({row.bot: row.games + row.unrated for row in table.rows})
    found = store.held([one.number for one in season.rounds] or None)
    return tuple(
        HeldNote(bot=bot, held=min(held.games, games[bot]), games=games[bot], cpu_ms=held.cpu_ms)
        for bot, held in sorted(found.items())
        if bot in games and _NOTABLE * held.games > games[bot]
    )


def about(
    store: Store,
    season: Season | None = None,
    notes: tuple[str, ...] = (),
    held: tuple[HeldNote, ...] = (),
) -> About:
    """What stands beside the numbers."""
    season = season or Season(store)
    conditions = season.rounds[-1].manifest.conditions if season.rounds else None
    limits = conditions.limits if conditions else Limits()
    tier = conditions.isolation if conditions else Tier.D
    return About(
        rules=conditions.rules if conditions else DEFAULT_RULES,
        limits={
            "start": _time(limits.start_ms),
            "move": _time(limits.move_ms),
            "game": _time(limits.game_ms),
        },
        tier=tier.words,
        season=season.number,
        rounds=_round_notes(store, season),
        withdrawn=season.notes(),
        held=held,
        versions={"referee": __version__, "record": str(RECORD_VERSION), "protocol": "1"},
        labels={
            bot: Label(language=words.get("language", ""), author=words.get("author", ""))
            for bot, words in store.bots().items()
        },
        notes=notes,
    )


def isolation_notes(store: Store, season: Season) -> tuple[str, ...]:
    """A sentence where a season was played in more than one way; a round's manifest holds the tier alone."""
    ways = sorted(store.isolations([one.number for one in season.rounds] or None))
    if len(ways) < 2:
        return ()
    return (
        f"Games were played at {' and at '.join(ways)}: with cgroups memory is limited for all processes of a bot "
        "together, without them for each process",
    )


def _round_notes(store: Store, season: Season) -> tuple[RoundNote, ...]:
    """Games are counted only where a manifest does not tell their number: that takes a look at all of them."""
    return tuple(_note(one, _played(store, one) if stops_by_itself(one) else None) for one in season.all_rounds)


def _played(store: Store, one: Round) -> int:
    """How many games of a round are there; how many a withdrawn bot had begun by then is chance, so without those."""
    gone = withdrawn([one], store).keys()
    found = store.played(one.number).items()
    return sum(len(deals) for line_up, rotations in found if gone.isdisjoint(line_up) for deals in rotations.values())


def _note(one: Round, played: int | None) -> RoundNote:
    return RoundNote(
        played=played,
        number=one.number,
        season=one.manifest.season,
        unplayed=one.unplayed,
        games=one.manifest.count(),
        commitment=one.commitment,
        sealed=one.sealed,
        secret=one.secret.hex() if one.closed else None,
        seed=one.seed,
    )


def publish_commitments(store: Store, out: Path, *, force: bool = False) -> None:
    """Write what rounds are committed to into `out`. Raises InputError where it cannot be written."""
    season = Season(store)
    manifests = {one.number: one.text.decode() for one in season.all_rounds}
    publish_rounds(about(store, season), manifests, out, force=force)


def publish_leaderboard(
    store: Store, out: Path, notes: tuple[str, ...] = (), *, all_versions: bool = False, force: bool = False
) -> Standings:
    """Rate and write all pages into `out`. Raises InputError where it cannot be written."""
    season = Season(store)
    standings = standings_of(store, season, all_versions=all_versions)
    publish_commitments(store, out, force=force)
    versions = () if all_versions else season.versions(store.current_bots())
    notes = (*notes, *versions, *isolation_notes(store, season))
    publish(standings, about(store, season, notes, held_bots(store, season, standings)), out)
    return standings


def faults_of(standings: Standings) -> Counter[Bot]:
    """In how many games each bot was at fault, at all tables together."""
    return sum((Counter({row.bot: row.faults for row in table.rows}) for table in standings.tables), Counter())


def tell_faults(store: Store, faults: Mapping[Bot, int], db: Path) -> None:
    """One line on stderr for each bot with `faults`: how many, one of them, and where to see it."""
    untold = {bot for bot, count in faults.items() if count}
    for record, fault in store.faults() if untold else ():
        bot = record.seats[fault.seat]
        if bot not in untold:
            continue
        untold.remove(bot)
        click.echo(
            f"{bot.name}: {many(faults[bot], 'fault')}, such as {fault.verdict}: {plain(fault.detail, limit=300)} "
            f"(referee replay {shlex.quote(str(db))} {record.game_id})",
            err=True,
        )
        if not untold:
            return


def check_out(out: Path, db: Path, carried: Round | None, *, force: bool) -> None:
    """Make the leaderboard's folder before anything is played.

    Raises InputError where it cannot be written, where it would replace the database `db` or a bot, and where `db` is
    still to be made and another database's page is there, unless `force` is given.
    """
    check_place(out, remedy="name a place outside it with --out")
    if any(_is_one(db, out / name) for name in PAGE):
        raise InputError(f"{db} has the name of a page that is published in {out}: name another with --db or --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{out} cannot be the leaderboard's folder: {error.strerror}; choose another with --out"
        raise InputError(why) from None
    if not os.access(out, os.W_OK | os.X_OK):
        raise InputError(f"{out} may not be written by this user; choose another folder with --out")
    if not db.exists():
        check_page(out, _commitments((), carried), force=force)


def check_owner(store: Store, out: Path, carried: Round | None, *, force: bool) -> None:
    """Raise InputError where `out` holds the page of another database, unless `force` is given."""
    check_page(out, _commitments(store.rounds(), carried), force=force)


def _commitments(rounds: Iterable[StoredRound], carried: Round | None) -> set[str]:
    return {one.commitment for one in rounds} | (set() if carried is None else {carried.commitment})


def _is_one(file: Path, other: Path) -> bool:
    """True if two names are of one file, or would be if it was made."""
    return file.resolve() == other.resolve()


def _time(ms: int | None) -> str:
    return "none" if ms is None else f"{ms / 1000:g} s"
