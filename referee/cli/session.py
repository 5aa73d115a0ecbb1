"""One run of a tournament: the round that is open, then the next one, each played, closed and published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

from referee.bots.prepare import Prepared
from referee.bots.sandbox.probing import in_words
from referee.bots.scratch import run_folder
from referee.cli.cluster_option import engine
from referee.cli.interrupts import stop_on_signals
from referee.cli.progress import progress
from referee.cli.publishing import publish_commitments
from referee.cli.words import many
from referee.errors import InputError
from referee.record import Bot, LineUp
from referee.store import Deals, Store
from referee.tournament.inquiry import Inquiry
from referee.tournament.league import League, Terms, missing, require_all, unwanted
from referee.tournament.orders import Job
from referee.tournament.rounds import Entry, Round
from referee.tournament.run import Tally, run
from referee.tournament.schedule import WHOLE, Block, Share, count_games
from referee.tournament.withdrawal import Withdrawals

Cores = tuple[frozenset[int] | None, frozenset[int] | None]
"""A worker's processors, and those of its bots where they are not its own."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a round: its games less those `played` and those that its withdrawn or absent bots owe."""

    round: Round
    played: Mapping[LineUp, Mapping[int, Deals]]
    withdrawals: Withdrawals
    bots: Collection[Bot]

    def blocks(self, share: Share) -> Iterator[Block]:
        """The blocks to play of a share; what is withdrawn while they are played is left out too."""
        return self.round.schedule.owed(self.played, share=share, unwanted=unwanted(self.bots, self.withdrawals))

    def count(self, share: Share) -> int:
        """How many games they have."""
        return count_games(self.blocks(share))


class Session:
    """A claimed store, the bots that are here, and where they play."""

    def __init__(
        self,
        store: Store,
        league: League,
        bots: Mapping[Bot, Prepared],
        *,
        out: Path,
        cores: Sequence[Cores],
        cluster: str | None,
        quiet: bool,
    ) -> None:
        self.store = store
        self.league = league
        self.bots = bots
        self._out = out
        self._cores = cores
        self._cluster = cluster
        self._quiet = quiet
        self.tally = Tally()
        self._inquiry = Inquiry()
        if store.kept is not None:
            self._say(f"{store.path} was brought up to date; as it was it is kept in {store.kept}")

    def play_all(self, entries: Collection[Entry], terms: Terms) -> None:
        """Play what is left of the open round, and then the next one, if anything is owed."""
        one = self.league.open
        if one is not None and not self._play(one):
            return
        following = self.league.open_next(entries, terms)
        if following is not None:
            self._play(following)
        else:
            self._say(f"nothing is owed: {all_there(self.league, entries)}")

    def require_all(self, *, drop_missing: bool) -> None:
        """Raise InputError where a bot of the open round is not here under its name, unless its games may be dropped.

        A mistyped path is not to close a round. Nor are bots of another round: to drop all games would tell the secret.
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

    def play_share(self, one: Round, share: Share) -> None:
        """Play a share of a round, all of whose bots have to be here; nothing where it is closed."""
        if one.closed:
            self._say(f"round {one.number} is closed: as its secret may be known, no game of it is played any more")
            return
        require_all(one, self.bots.keys(), self.league.withdrawals(one))
        self._play(one, share)

    def owed(self) -> int:
        """How many games of the open round are still to be played here."""
        one = self.league.open
        return 0 if one is None else self._left(one).count(WHOLE)

    def _play(self, one: Round, share: Share = WHOLE) -> bool:
        """Play a round and close it; whether it is closed."""
        publish_commitments(self.store, self._out)
        left = self._left(one)
        self._announce(left, share)
        while left.count(share):
            tally = self._run(left, share)
            self.tally.add(tally)
            # What was left out because of a withdrawal that later games have undone is owed again.
            left = self._left(one)
            if tally.stopped or tally.unplayed or not tally.played:
                break
        if self.tally.stopped or self.tally.unplayed or left.count(WHOLE):
            return False
        closed = self.league.close(one)
        secret = f"its secret was {closed.secret.hex()}" if closed.sealed else "it was not sealed"
        self._say(f"round {closed.number} is closed; {secret}")
        return True

    def _left(self, one: Round) -> Left:
        return Left(one, self.store.played(one.number), self.league.withdrawals(one), self.bots.keys())

    def _run(self, left: Left, share: Share) -> Tally:
        one, owed = left.round, left.count(share)
        conditions = one.manifest.conditions
        with run_folder() as scratch, stop_on_signals() as stop_wanted, progress(owed, quiet=self._quiet) as watcher:
            jobs = [Job(one.number, one.secret, dict(self.bots), conditions, scratch, *cores) for cores in self._cores]
            with closing(engine(self._cluster, jobs)) as pool:
                return run(
                    left.blocks(share),
                    pool=pool,
                    store=self.store,
                    withdrawals=left.withdrawals,
                    watcher=watcher,
                    stop_wanted=stop_wanted,
                    inquiry=self._inquiry,
                )

    # -- words

    def _announce(self, left: Left, share: Share) -> None:
        one, withdrawals = left.round, left.withdrawals
        self._say(f"isolation {in_words(one.manifest.conditions.isolation)}")
        for (size, deals), count in sorted(
            Counter((len(line_up), deals) for line_up, _, deals in one.manifest.owings()).items()
        ):
            self._say(f"tables of {size}: {many(count, 'line-up')}, {many(deals, 'deal')} each, {size} rotations")
        seal = f"its commitment is {one.commitment}" if one.sealed else "it is not sealed: its decks come from a seed"
        before = sum(len(deals) for rotations in left.played.values() for deals in rotations.values())
        games = many(one.manifest.count(), "game")
        owed = left.count(share)
        self._say(f"round {one.number}: {games}, of which {before} were played before: {owed} to play; {seal}")
        for bot in sorted(withdrawals.points):
            self._say(f"{bot.name} is withdrawn from this round after {withdrawals.faults(bot)} faults")
        absent = missing(one, self.bots.keys(), withdrawals)
        if absent:
            names = ", ".join(f"{bot.name} ({bot.hash[:8]})" for bot in absent)
            self._say(f"not here any more, so their games of this round are dropped: {names}")

    def _say(self, text: str) -> None:
        if not self._quiet:
            click.echo(text, err=True)


def all_there(league: League, entries: Collection[Entry]) -> str:
    """Why no round is to be opened, in words: withdrawn bots are not waited for."""
    withdrawn = league.withdrawn()
    names = sorted(entry.name for entry in entries if entry.bot in withdrawn)
    apart = f", but those of bots that were withdrawn: {', '.join(names)}" if names else ""
    return f"every line-up has its deals{apart}"
