"""A contest: a database of rounds, the bots that enter, and what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.bots.process.limits import DEFAULT_BOX, Box, Limits, Reuse
from referee.bots.sandbox.probing import as_recorded
from referee.bots.tiers import Tier
from referee.contest.cores import Cores
from referee.contest.entries import Entrant, check_tables, entries_of, known_bots, labels_of, under_known_names
from referee.contest.in_memory import PythonBot
from referee.contest.listener import Announcement, Listener
from referee.contest.loading import Programs
from referee.contest.publishing import check_out, check_owner, publish_commitments, publish_leaderboard
from referee.contest.rounds import CourseListener, Left, Where, engine_for
from referee.contest.season import Season, standings_of
from referee.contest.stop_notes import stop_notes, stops_in_words
from referee.errors import InputError
from referee.outputs import check_never, check_place, new_file
from referee.ratings.standings import Standings
from referee.record import Bot, GameRecord
from referee.rules import DEFAULT_RULES, Rules
from referee.store import Store, open_store
from referee.tournament.engine.inquiry import Inquiry
from referee.tournament.engine.run import RunTally, run
from referee.tournament.planning.duel import refuse_duels
from referee.tournament.planning.league import League, Terms, missing, require_all
from referee.tournament.planning.lineups import LIMIT
from referee.tournament.planning.planning import SameAuthor, Wanted
from referee.tournament.progress.owed import course_of, stops_by_itself
from referee.tournament.progress.stages import Course
from referee.tournament.progress.withdrawal import MAX_FAULTS
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.rounds import Entry, Round, from_file, to_file
from referee.tournament.rounds.schedule import WHOLE, Share
from referee.tournament.rounds.until import Stopping
from referee.units import many

_LARGEST_ROUND = 64 << 20
"""Bytes of a round's file: millions of line-ups fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a contest plays: `deals` deals of each line-up, at tables of each number of `players`.

    Each deal is played in every rotation of the seats. Of more than `lineups` line-ups for one number of players a
    balanced sample is played. With `until`, rounds stop by themselves and `deals` is the most that a line-up plays.
    After `max_faults` faults in a round a bot is withdrawn from it; None means never. The decks come from `seed`, or
    without one from a secret whose commitment is published before the first game. `pace_ms` is the least time of a
    turn.
    """

    players: tuple[int, ...] = (2,)
    deals: int = 100
    lineups: int = LIMIT
    same_author: SameAuthor = SameAuthor.TOGETHER
    until: Stopping | None = None
    max_faults: int | None = MAX_FAULTS
    seed: str | None = None
    rules: Rules = DEFAULT_RULES
    limits: Limits = field(default_factory=Limits)
    pace_ms: int = 0
    reuse: Reuse = Reuse.MANY_GAMES

    @property
    def wanted(self) -> Wanted:
        """Which games the contest has in the end."""
        return Wanted(self.players, self.deals, self.lineups, self.same_author)

    def terms(self, tier: Tier, box: Box) -> Terms:
        """Return the settings as rounds keep them, for bots that are kept apart in this way."""
        conditions = Conditions(self.rules, self.limits, self.pace_ms, self.reuse, tier, box)
        return Terms(conditions, self.wanted, self.max_faults, self.seed, self.until)


class Contest:
    """A claimed database and the bots that are here; a context that closes the database.

    Make one with `open_contest`. Every method may raise DatabaseError.
    """

    def __init__(
        self,
        store: Store,
        bots: Mapping[Bot, Entrant],
        entries: tuple[Entry, ...],
        settings: Settings,
        *,
        tier: Tier = Tier.D,
        box: Box = DEFAULT_BOX,
        listener: Listener | None = None,
        publish_to: Path | None = None,
        force: bool = False,
        new_season: bool = False,
        carried: Round | None = None,
    ) -> None:
        self.store = store
        self.bots = bots
        self.entries = entries
        self.settings = settings
        self.listener = listener or Listener()
        self.league = League(store, new_season=new_season)
        self.tally = RunTally()
        """How all runs of this contest went, together."""
        self._terms = settings.terms(tier, box)
        self._out = publish_to
        self._force = force
        self._carried = carried
        self._inquiry = Inquiry()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    # -- playing

    def play(
        self,
        *,
        where: Where | None = None,
        drop_missing: bool = False,
        stop_wanted: Callable[[], bool] = lambda: False,
    ) -> RunTally:
        """Play what is left of the open round, then the next round if any games are still to be played; close them.

        Stops when `stop_wanted` returns True, after the games in progress. With `drop_missing`, games of bots that are
        not here any more are left out of the open round. Returns how the run went. Raises InputError if the tables
        cannot be filled, or if bots of the open round are missing, and RefereeError if this machine cannot play.
        """
        self._check()
        self._require_all(drop_missing=drop_missing)
        self._save_bots()
        where = where or Where()
        cores = where.cores()
        one = self.league.open
        if one is not None and not self._play(one, WHOLE, where, cores, stop_wanted):
            return self.tally
        following = self.league.open_next(self.entries, self._terms)
        if following is None:
            self.listener.remark(f"nothing is owed: {self._all_there()}")
            return self.tally
        if left_out := self._withdrawn_names():
            self.listener.remark(f"withdrawn earlier in this season, so left out until they are changed: {left_out}")
        self._play(following, WHOLE, where, cores, stop_wanted)
        return self.tally

    def play_share(
        self,
        share: Share = WHOLE,
        *,
        where: Where | None = None,
        stop_wanted: Callable[[], bool] = lambda: False,
    ) -> RunTally:
        """Play a share of the open round, or of the round `carried` from another machine; all its bots must be here.

        Plays nothing if the round is closed. Raises InputError if no round is open, or if it stops by itself, which
        takes all of its games.
        """
        self._check()
        one = self.open_round if self._carried is None else self.league.take(self._carried, self.bots.keys())
        self._save_bots()
        if one.closed:
            self.listener.remark(
                f"round {one.number} is closed: as its secret may be known, no game of it is played any more"
            )
            return self.tally
        if share != WHOLE and stops_by_itself(one):
            raise InputError(
                f"round {one.number} is looked at while it is played, and a share of it cannot tell when to stop: play "
                "all of it with --round, or with several machines by --cluster"
            )
        require_all(one, self.bots.keys(), self.league.withdrawals(one))
        where = where or Where()
        self._play(one, share, where, where.cores(), stop_wanted)
        return self.tally

    @property
    def open_round(self) -> Round:
        """The open round. Raises InputError if there is none."""
        if self.league.open is None:
            raise InputError(f"no round of {self.store.path} is open: open one with --plan, or name one with --round")
        return self.league.open

    def close_round(self) -> Round:
        """Close the open round as it stands and return it: from now on its secret may be known."""
        self._check()
        self._save_bots()
        return self.league.close(self.open_round)

    def plan(self, path: Path, *, reads: Sequence[Path] = (), force: bool = False) -> PlannedRound:
        """Open the next round, if none is open, and write it with its secret to `path` for other machines.

        Replaces an earlier plan of this contest, and any other file only with `force`; never one of `reads`. Raises
        InputError if there is nothing to play or the file cannot be written.
        """
        self._check()
        self._save_bots()
        check_never(path, reads=reads)
        was_open = self.league.open is not None
        force = force or self._is_plan(path)
        with new_file(path, reads=reads, force=force, private=True) as file:
            # The file comes first: if it cannot be written, no round is opened.
            one = self.league.open or self.league.open_next(self.entries, self._terms)
            if one is None:
                raise InputError(f"there is nothing to plan: {self._all_there()}")
            file.write(to_file(one))
        self.publish_commitments()
        return PlannedRound(one, was_open)

    def owed(self) -> int:
        """Return how many games of the open round are still to be played here."""
        one = self.league.open
        return 0 if one is None else self._left(one, self._course(one)).most(WHOLE)

    # -- results

    def standings(self, *, all_versions: bool = False) -> Standings:
        """Return the standings of this season: only whole deals, without withdrawn bots."""
        return standings_of(self.store, all_versions=all_versions)

    def records(self, players: int | None = None) -> Iterator[GameRecord]:
        """Yield all games in the order of the schedule, or those with this number of players."""
        return self.store.records() if players is None else self.store.records(players)

    def publish_commitments(self) -> None:
        """Write the commitments of all rounds to the folder that this contest publishes to, if it has one."""
        if self._out is not None:
            publish_commitments(self.store, self._out, force=self._force)

    def publish(
        self, out: str | Path | None = None, *, all_versions: bool = False, force: bool | None = None
    ) -> Standings:
        """Rate all games and write the leaderboard's pages; return the standings.

        `out` is the folder, by default the one that this contest publishes to. Raises InputError if it cannot be
        written, or if it holds the page of another contest and not `force`.
        """
        folder = self._out if out is None else Path(out)
        if folder is None:
            raise InputError("name a folder to publish to")
        force = self._force if force is None else force
        check_out(folder, Path(self.store.path), None, force=force)
        owed = self.owed()
        at_most = "" if self.league.open is None or not stops_by_itself(self.league.open) else ", at most,"
        notes = [f"{many(owed, 'game')} of this tournament are still{at_most} to be played"] if owed else []
        notes += stop_notes(self.league.of_season(), self.store)
        return publish_leaderboard(self.store, folder, tuple(notes), all_versions=all_versions, force=force)

    def season(self) -> Season:
        """Return the current season."""
        return Season(self.store)

    # -- how a round is played

    def _check(self) -> None:
        check_tables(self.entries, self.settings.wanted)
        self.league.check(self._terms, self._carried)

    def _save_bots(self) -> None:
        self.store.save_bots({entry.bot: labels_of(self.bots[entry.bot], entry) for entry in self.entries})

    def _require_all(self, *, drop_missing: bool) -> None:
        """Raise InputError if a bot of the open round is not here under its name, unless its games may be dropped.

        A mistyped path must not close a round. Nor may the bots of another contest: dropping all games would publish
        the secret.
        """
        one = self.league.open
        if one is None:
            return
        here = {bot.name for bot in self.bots}
        absent = sorted({bot.name for bot in missing(one, self.bots, self.league.withdrawals(one))} - here)
        if absent and (not drop_missing or here.isdisjoint(bot.name for bot in one.bots)):
            more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
            are = "is" if len(absent) == 1 else "are"
            raise InputError(
                f"round {one.number} is open in {self.store.path}, and of its bots {', '.join(absent[:5])}{more} {are} "
                "not here: name them too, give --drop-missing to leave out their games, or end the round with "
                "--close-round"
            )

    def _play(
        self, one: Round, share: Share, where: Where, cores: Sequence[Cores], stop_wanted: Callable[[], bool]
    ) -> bool:
        """Play a round and close it; return whether it is closed."""
        self.publish_commitments()
        course = self._course(one)
        left = self._left(one, course)
        self._announce(left, share, where)
        if left.count(share):
            left = self._play_left(left, share, where, cores, stop_wanted)
        if self.tally.stopped or self.tally.unplayed or left.count(WHOLE):
            return False
        closed = self.league.close(one)
        for sentence in () if course is None else stops_in_words(closed, course):
            self.listener.remark(sentence)
        self.listener.closed(closed)
        return True

    def _course(self, one: Round) -> Course | None:
        return course_of(one, self.store) if stops_by_itself(one) else None

    def _left(self, one: Round, course: Course | None) -> Left:
        """Return what is left of a round as it stands now; its course is advanced as far as its games go."""
        played, withdrawals = self.store.played(one.number), self.league.withdrawals(one)
        if course is not None:
            course.advance(played, withdrawals)
        return Left(one, played, withdrawals, self.bots.keys(), course)

    def _play_left(
        self, left: Left, share: Share, where: Where, cores: Sequence[Cores], stop_wanted: Callable[[], bool]
    ) -> Left:
        """Play a round, stage by stage if it stops by itself, with the same workers; return what is left then."""
        one, course = left.round, left.course
        with ExitStack() as stack:
            engine = engine_for(stack, one, self.bots, where, cores)
            watcher = stack.enter_context(_begun(self.listener, left.most(share)))
            while left.count(share):
                tally = run(
                    left.to_play(share, engine.workers),
                    pool=engine,
                    store=self.store,
                    withdrawals=left.withdrawals,
                    watcher=watcher if course is None else CourseListener(watcher, course),
                    stop_wanted=stop_wanted,
                    inquiry=self._inquiry,
                )
                self.tally.add(tally)
                # Games that were left out because of a withdrawal which later games have undone are owed again.
                left = self._left(one, course)
                if tally.stopped or tally.unplayed or not tally.played:
                    break
        return left

    def _announce(self, left: Left, share: Share, where: Where) -> None:
        one, withdrawals = left.round, left.withdrawals
        before = self.store.isolations([other.number for other in self.league.of_season()])
        now = as_recorded(one.manifest.conditions.isolation)
        others = tuple(sorted(before)) if where.cluster is None and now not in before else ()
        self.listener.announce(
            Announcement(
                round=one,
                owed=left.most(share),
                played=sum(len(deals) for rotations in left.played.values() for deals in rotations.values()),
                course=left.course,
                withdrawn=dict.fromkeys(sorted(withdrawals.points), withdrawals.max_faults or 0),
                absent=tuple(missing(one, self.bots.keys(), withdrawals)),
                isolations=others,
            )
        )

    def _all_there(self) -> str:
        """Return why no round is opened, in words: withdrawn bots are not waited for."""
        names = self._withdrawn_names()
        return f"every line-up has its deals{f', but those of bots that were withdrawn: {names}' if names else ''}"

    def _withdrawn_names(self) -> str:
        withdrawn = self.league.withdrawn()
        return ", ".join(sorted(entry.name for entry in self.entries if entry.bot in withdrawn))

    def _is_plan(self, path: Path) -> bool:
        """Return True if the file is a plan of one of this contest's rounds."""
        try:
            known = {one.commitment for one in self.league.rounds}
            return path.is_file() and read_round(path).commitment in known
        except (OSError, InputError):
            return False


@dataclass(frozen=True, slots=True)
class PlannedRound:
    """A round that was written for other machines; `was_open` if it had been opened before."""

    round: Round
    was_open: bool


@contextmanager
def _begun(listener: Listener, games: int) -> Iterator[Listener]:
    listener.begin(games)
    try:
        yield listener
    finally:
        listener.end()


def read_round(path: Path) -> Round:
    """Return the round in a file that `Contest.plan` wrote. Raises InputError if it cannot be read or is not one."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_ROUND + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST_ROUND:
        raise InputError(f"{path} has more than {_LARGEST_ROUND >> 20} MiB, so `referee tournament` did not write it")
    return from_file(data, str(path))


def open_contest(
    db: str | Path,
    *,
    bots: Programs | Sequence[PythonBot] = (),
    settings: Settings | None = None,
    authors: Mapping[str, str] | None = None,
    max_entries: int | None = None,
    publish_to: str | Path | None = None,
    force: bool = False,
    new_season: bool = False,
    create: bool = True,
    carried: Round | None = None,
    listener: Listener | None = None,
) -> Contest:
    """Open the database of a contest, or make it.

    `bots` are those that enter; if there are any, the database is claimed, so that no other process plays on it.
    `authors` maps names of bots to their authors, instead of what the bots say; with `max_entries` an author may enter
    at most that many. `publish_to` is the leaderboard's folder: the commitment of each round is written there before
    the round's first game. `new_season` closes the open round and begins a separate table. `carried` is a round of
    another machine that will be played.

    Raises InputError if the bots, the database or the folder cannot be used, and DatabaseError if it is in use.
    """
    db = Path(db)
    listener = listener or Listener()
    programs = bots if isinstance(bots, Programs) else None
    given: Sequence[Entrant] = bots.bots if isinstance(bots, Programs) else bots
    known = under_known_names(given, known_bots(db, carried), listener)
    here = {bot.manifest.identity: bot for bot in known}
    entries = entries_of(list(here.values()), authors or {}, max_entries)
    out = None if publish_to is None else Path(publish_to)
    settings = settings or Settings()
    if entries:
        check_tables(entries, settings.wanted)
    check_place(db, remedy="name a place outside it with --db")
    if out is not None:
        check_out(out, db, carried, force=force)
    store = open_store(db, create=create)
    with ExitStack() as stack:
        stack.enter_context(closing(store))
        if entries:
            store.claim()
        refuse_duels(store)
        if out is not None:
            check_owner(store, out, carried, force=force)
        contest = Contest(
            store,
            here,
            entries,
            settings,
            tier=Tier.D if programs is None else programs.tier,
            box=DEFAULT_BOX if programs is None else programs.box,
            listener=listener,
            publish_to=out,
            force=force,
            new_season=new_season,
            carried=carried,
        )
        stack.pop_all()
    return contest
