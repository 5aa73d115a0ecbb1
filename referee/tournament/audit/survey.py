"""What a database holds, at a glance: its rounds, how far they are, its bots. Secrets of open rounds are left out."""

from __future__ import annotations

import msgspec

from referee.record import Bot
from referee.store import RoundCount, Store
from referee.tournament.progress.owed import owed_of, stops_by_itself
from referee.tournament.progress.withdrawal import Withdrawals, withdrawals_of
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import count_games


class RoundSurvey(msgspec.Struct, frozen=True, kw_only=True):
    """A round: `games` of its manifest, how many are there, how many are still to be played, faults in them.

    Games that a withdrawal sets aside, or that are not there though the round is closed, are not owed; a round that
    stops by itself owes so many at most. `opened` and
    `closed` are ISO 8601 in UTC. `secret` and `seed` are None while it is open.
    """

    round: int
    season: int
    opened: str | None
    closed: str | None
    sealed: bool
    commitment: str
    secret: str | None
    seed: str | None
    bots: int
    games: int
    played: int
    owed: int
    faults: int
    withdrawn: tuple[Bot, ...]


class BotSurvey(msgspec.Struct, frozen=True, kw_only=True):
    """A bot with what it says of itself; `current` is the version that was saved last under its name."""

    name: str
    hash: str
    language: str
    author: str
    current: bool


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """A database: `size` and `log_size` are bytes of its file and of the log beside it."""

    path: str
    size: int
    log_size: int
    versions: dict[str, int]
    seasons: int
    games: int
    line_ups: int
    rounds: tuple[RoundSurvey, ...]
    bots: tuple[BotSurvey, ...]


def survey(store: Store) -> Survey:
    """Look at a database. Raises DatabaseError."""
    counts = store.round_counts()
    rounds = [Round.of(stored) for stored in store.rounds()]
    size, log_size = store.sizes()
    current = store.current_bots()
    return Survey(
        path=str(store.path),
        size=size,
        log_size=log_size,
        versions=store.versions(),
        seasons=max((one.manifest.season for one in rounds), default=0),
        games=sum(count.games for count in counts.values()),
        line_ups=store.line_up_count(),
        rounds=tuple(_round(store, one, counts[one.number]) for one in rounds),
        bots=tuple(
            BotSurvey(
                name=bot.name,
                hash=bot.hash,
                language=words.get("language", ""),
                author=words.get("author", ""),
                current=bot in current,
            )
            for bot, words in store.bots().items()
        ),
    )


def _round(store: Store, one: Round, count: RoundCount) -> RoundSurvey:
    withdrawals = withdrawals_of(one, store)
    return RoundSurvey(
        round=one.number,
        season=one.manifest.season,
        opened=count.opened,
        closed=count.closed,
        sealed=one.sealed,
        commitment=one.commitment,
        secret=one.secret.hex() if one.closed else None,
        seed=one.seed if one.closed else None,
        bots=len(one.bots),
        games=one.schedule.count(),
        played=count.games,
        owed=_owed(store, one, count, withdrawals),
        faults=count.faults,
        withdrawn=tuple(sorted(withdrawals.points)),
    )


def _owed(store: Store, one: Round, count: RoundCount, withdrawals: Withdrawals) -> int:
    """Counting is quick, looking for the games that are missing is not: it is done where some are not due."""
    if one.closed:
        return 0
    if not withdrawals.points and not stops_by_itself(one):
        return one.schedule.count() - count.games
    return count_games(owed_of(one, store))
