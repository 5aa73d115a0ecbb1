"""A duel: is one bot better than another? Played until that is shown, and no longer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.bots.process.limits import DEFAULT_BOX, Box, Limits, Reuse
from referee.bots.tiers import Tier
from referee.contest.duel_standing import DuelStanding
from referee.contest.entries import Entrant, entries_of, labels_of
from referee.contest.in_memory import PythonBot
from referee.contest.listener import Listener
from referee.contest.loading import Programs, check_plays
from referee.contest.publishing import FaultExample, fault_examples
from referee.contest.rounds import Where, engine_for
from referee.errors import InputError
from referee.outputs import check_place
from referee.ratings.sequential.betting import DuelHypotheses
from referee.rules import DEFAULT_RULES, Rules
from referee.store import Store, Stored, open_store
from referee.tournament.engine.inquiry import Inquiry, Unplayed
from referee.tournament.engine.run import RunTally, run
from referee.tournament.planning.duel import Duel, DuelAsked, DuelPair, Duels
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.conditions import Conditions

MAX_DEALS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DuelSettings:
    """What a duel asks, and how its games are played; at most `max_deals` deals, each in every rotation.

    With more than two `players` NEW sits among copies of OLD. For the rest see `Settings`.
    """

    question: DuelHypotheses = field(default_factory=DuelHypotheses)
    players: int = 2
    max_deals: int = MAX_DEALS
    seed: str | None = None
    rules: Rules = DEFAULT_RULES
    limits: Limits = field(default_factory=Limits)
    pace_ms: int = 0
    reuse: Reuse = Reuse.MANY_GAMES

    def asked(self, tier: Tier, box: Box) -> DuelAsked:
        """Return the settings as a duel keeps them, for bots that are kept apart in this way."""
        conditions = Conditions(self.rules, self.limits, self.pace_ms, self.reuse, tier, box)
        question = self.question
        return DuelAsked(
            conditions, self.players, self.max_deals, question.s0, question.s1, question.alpha, question.beta
        )


@dataclass(frozen=True, slots=True)
class DuelResult:
    """How a duel stands at the end of a run; `interrupted` if it was stopped before a verdict.

    `faults` has an example for each bot that was at fault in a deal that counts.
    """

    standing: DuelStanding
    interrupted: bool
    tally: RunTally
    faults: tuple[FaultExample, ...]


def duel(
    new: Programs | PythonBot,
    old: Programs | PythonBot,
    settings: DuelSettings | None = None,
    *,
    db: str | Path | None = None,
    jobs: int | None = None,
    listener: Listener | None = None,
    stop_wanted: Callable[[], bool] = lambda: False,
) -> DuelResult:
    """Play two bots until it is shown which answer to `settings.question` holds, or the deals are used up.

    Each of the two is a Python function, or what `load_bots` returned for one path. With `db` the games are kept
    there, and a duel of the same two bots with the same settings goes on where it stopped. Raises InputError if the
    bots cannot play or the duel was begun with other settings, and RefereeError if this machine cannot play.
    """
    settings = settings or DuelSettings()
    first, second = _one(new), _one(old)
    check_plays([first.manifest, second.manifest], settings.players)
    isolation = _isolation(new, old)
    with _place(db) as place, closing(open_store(place, create=True)) as store:
        store.claim()
        session = _Session(store, first, second, isolation, Where(jobs), listener or Listener())
        standing = session.settle(settings)
        tally, interrupted = session.play(standing, stop_wanted)
        return DuelResult(standing, interrupted, tally, tuple(fault_examples(store, standing.faults_of_both())))


@contextmanager
def _place(db: str | Path | None) -> Iterator[Path]:
    if db is None:
        with tempfile.TemporaryDirectory(prefix="referee-duel-") as folder:
            yield Path(folder) / "duel.db"
        return
    check_place(Path(db), remedy="name a place outside it with --db")
    yield Path(db)


def _one(given: Programs | PythonBot) -> Entrant:
    if isinstance(given, PythonBot):
        return given
    if len(given.bots) != 1:
        raise InputError(f"a duel is between two bots, and one side has {len(given.bots)}")
    return given.bots[0]


def _isolation(*sides: Programs | PythonBot) -> tuple[Tier, Box]:
    found = {(side.tier, side.box) for side in sides if isinstance(side, Programs)}
    if len(found) > 1:
        raise InputError("both bots of a duel have to be prepared for the same isolation tier, with the same limits")
    return found.pop() if found else (Tier.D, DEFAULT_BOX)


class DuelWatcher:
    """A listener's view of a duel's games, which first go into its standing."""

    def __init__(self, listener: Listener, standing: DuelStanding) -> None:
        self._listener = listener
        self._standing = standing
        self.stuck = False
        """True if a game stays owed: no deal after it can count."""

    def played(self, games: Sequence[Stored]) -> None:
        """See `Listener`."""
        self._standing.add(game.result for game in games)
        self._listener.played(games)

    def unplayed(self, unplayed: Unplayed) -> None:
        """See `Listener`."""
        self.stuck = True
        self._listener.unplayed(unplayed)

    def withdrawn(self, *_: object) -> None:
        """Faults withdraw no bot from a duel."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)


class _Session:
    """A claimed store, and the two bots."""

    def __init__(
        self,
        store: Store,
        new: Entrant,
        old: Entrant,
        isolation: tuple[Tier, Box],
        where: Where,
        listener: Listener,
    ) -> None:
        self.store = store
        self._new, self._old = entries_of([new, old], {}, None)
        self._bots = {entry.bot: bot for entry, bot in ((self._new, new), (self._old, old))}
        self._labels = {entry.bot: labels_of(self._bots[entry.bot], entry) for entry in (self._new, self._old)}
        self._duels = Duels(store)
        self._isolation = isolation
        self._where = where
        self._listener = listener

    def settle(self, settings: DuelSettings) -> DuelStanding:
        """Return the duel of these two as it stands: that of the same settings before, or else a new one.

        Raises DatabaseError, naming the differences, if it was begun with other settings.
        """
        asked, seed = settings.asked(*self._isolation), settings.seed
        pair = DuelPair(self._new.bot, self._old.bot)
        last = self._duels.last(pair)
        if last is not None:
            self._duels.check(last, asked, seed)
            standing = self._standing(last)
            if not last.round.closed or standing.is_over:
                return standing
        before = self._duels.supersede(pair)
        if before is not None:
            self._listener.remark(
                f"the bots have changed: round {before.round.number}, a duel of them as they were, is closed without a "
                "verdict, and a new one begins"
            )
        self.store.save_bots(self._labels)
        return DuelStanding(self._duels.begin(self._new, self._old, asked, seed))

    def play(self, standing: DuelStanding, stop_wanted: Callable[[], bool]) -> tuple[RunTally, bool]:
        """Play until there is a verdict, and close the duel; return how it went and whether it was stopped before."""
        tally = RunTally()
        if not standing.is_over:
            alike = _are_alike(self._bots[self._new.bot], self._bots[self._old.bot])
            self._listener.announce_duel(standing, alike=alike)
            tally = self._run(standing, stop_wanted)
        if not standing.is_over:
            return tally, stop_wanted()
        if not standing.duel.round.closed:
            standing.duel = self._duels.close(standing.duel)
            self._listener.closed(standing.duel.round)
        return tally, False

    def _standing(self, duel: Duel) -> DuelStanding:
        standing = DuelStanding(duel)
        standing.add(self.store.results(duel.players, [duel.round.number]))
        return standing

    def _run(self, standing: DuelStanding, stop_wanted: Callable[[], bool]) -> RunTally:
        one = standing.duel.round
        watcher = DuelWatcher(self._listener, standing)
        cores = self._where.cores()
        owed = one.schedule.owed(self.store.played(one.number), workers=len(cores))
        with ExitStack() as stack:
            engine = engine_for(stack, one, self._bots, self._where, cores)
            stack.callback(self._listener.end)
            self._listener.begin(one.manifest.count())
            return run(
                map(one.schedule.in_order, owed),
                pool=engine,
                store=self.store,
                withdrawals=Withdrawals(one.schedule, None),
                watcher=watcher,
                stop_wanted=lambda: standing.is_over or watcher.stuck or stop_wanted(),
                inquiry=Inquiry(),
            )


def _are_alike(one: Entrant, two: Entrant) -> bool:
    """True if two bots are the same program; one that is a single file may have another name."""
    if one.manifest.identity.hash == two.manifest.identity.hash:
        return True
    if isinstance(one, PythonBot) or isinstance(two, PythonBot):
        return False
    paths = [one.manifest.path, two.manifest.path]
    return all(path.is_file() for path in paths) and paths[0].read_bytes() == paths[1].read_bytes()
