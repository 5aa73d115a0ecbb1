"""From a store to a published leaderboard."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from referee.bots.process.limits import Limits
from referee.bots.tiers import Tier
from referee.contest.season import Season, held_bots, isolation_notes, standings_of
from referee.errors import InputError
from referee.outputs import check_place
from referee.ratings.standings import Standings
from referee.record import RECORD_VERSION, Bot, Fault
from referee.rules import DEFAULT_RULES
from referee.site.about import About, HeldNote, Label, RoundNote
from referee.site.ownership import PAGE, check_page
from referee.site.publish import publish, publish_rounds
from referee.store import Store, StoredRound
from referee.tournament.progress.owed import stops_by_itself
from referee.tournament.progress.withdrawal import withdrawn
from referee.tournament.rounds.rounds import Round
from referee.version import __version__


def about(
    store: Store,
    season: Season | None = None,
    notes: tuple[str, ...] = (),
    held: tuple[HeldNote, ...] = (),
) -> About:
    """Return what a page says beside the numbers: rules, limits, rounds, authors, notes."""
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


def _round_notes(store: Store, season: Season) -> tuple[RoundNote, ...]:
    """Games are counted only for rounds that stop by themselves: counting reads all of a round's games."""
    return tuple(_note(one, _played(store, one) if stops_by_itself(one) else None) for one in season.all_rounds)


def _played(store: Store, one: Round) -> int:
    """Return how many games of a round were played, except those of withdrawn bots, whose number is chance."""
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
    """Write the commitments of all rounds into `out`. Raises InputError if they cannot be written."""
    season = Season(store)
    manifests = {one.number: one.text.decode() for one in season.all_rounds}
    publish_rounds(about(store, season), manifests, out, force=force)


def publish_leaderboard(
    store: Store, out: Path, notes: tuple[str, ...] = (), *, all_versions: bool = False, force: bool = False
) -> Standings:
    """Rate the games and write all pages into `out`. Raises InputError if they cannot be written."""
    season = Season(store)
    standings = standings_of(store, season, all_versions=all_versions)
    publish_commitments(store, out, force=force)
    versions = () if all_versions else season.versions(store.current_bots())
    notes = (*notes, *versions, *isolation_notes(store, season))
    publish(standings, about(store, season, notes, held_bots(store, season, standings)), out)
    return standings


def faults_of(standings: Standings) -> Counter[Bot]:
    """Return in how many games each bot was at fault, at tables of all sizes together."""
    return sum((Counter({row.bot: row.faults for row in table.rows}) for table in standings.tables), Counter())


class FaultExample(NamedTuple):
    """A bot, in how many `games` it was at fault, and one of its faults, in the game `game_id`."""

    bot: Bot
    games: int
    game_id: str
    fault: Fault


def fault_examples(store: Store, faults: Mapping[Bot, int]) -> Iterator[FaultExample]:
    """Yield one fault of each bot that `faults` counts at least one for."""
    wanted = {bot for bot, count in faults.items() if count}
    for record, fault in store.faults() if wanted else ():
        bot = record.seats[fault.seat]
        if bot in wanted:
            wanted.remove(bot)
            yield FaultExample(bot, faults[bot], record.game_id, fault)
        if not wanted:
            return


def check_out(out: Path, db: Path, carried: Round | None, *, force: bool) -> None:
    """Make the leaderboard's folder before anything is played.

    Raises InputError if it cannot be written, if it would replace the database `db` or a bot, or if `db` is still to be
    made and another database's page is there, unless `force` is given.
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
    """Raise InputError if `out` holds the page of another database, unless `force` is given."""
    check_page(out, _commitments(store.rounds(), carried), force=force)


def _commitments(rounds: Iterable[StoredRound], carried: Round | None) -> set[str]:
    return {one.commitment for one in rounds} | (set() if carried is None else {carried.commitment})


def _is_one(file: Path, other: Path) -> bool:
    """True if two names are of one file, or would be if it was made."""
    return file.resolve() == other.resolve()


def _time(ms: int | None) -> str:
    return "none" if ms is None else f"{ms / 1000:g} s"
