"""How a league grows: 200 bots, up to a million games of two, played in memory, stored and rated for real.

`python benchmarks/million.py` opens a round between 200 bots and stores its games through the referee's own loop, for
several numbers of deals. Games are played by dice in memory, some thousands of them, whose records then stand for all:
what is measured is the referee, not the rules. It prints for each size the processor's seconds per 100,000 games: for
opening the round, for storing all games, for finding what is owed and for the standings; and the peak of resident
memory (VmHWM) after storing and after rating. A column that stays level is linear.

Then it takes the last games of the largest round away again, and times the real command from its start to the first
game that it stores, with 200 real bots (copies of a small program of C under 200 names).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path
from random import Random

from referee.bots.process.limits import Limits
from referee.bots.source.manifest import find_bots
from referee.cards import names, shuffled
from referee.contest.listener import Listener
from referee.contest.season import standings_of
from referee.play import DealtGame, GameEnd, GameStart, Reply, SystemClock, play_game
from referee.record import GameRecord
from referee.rules import DEFAULT_RULES, Question
from referee.store import Stored, open_store
from referee.tournament.engine.run import run
from referee.tournament.engine.worker_messages import Finished
from referee.tournament.planning.league import League, Terms
from referee.tournament.planning.planning import Wanted
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.rounds import Entry
from referee.tournament.rounds.schedule import Block, count_games, games_of

SCANNER = Path(__file__).parent / "scanner"
REFEREE = (sys.executable, "-m", "referee")
BOTS = 200
GAMES_OF_A_DEAL = BOTS * (BOTS - 1)
TEMPLATES = 2_000
LEFT = 40
"""Games that are taken away before the round is gone on with."""


class Dice:
    """A player in memory."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)

    def begin(self, start: GameStart) -> None: ...

    def ask(self, question: Question) -> Reply:
        return Reply(self._dice.choice(question.legal), 40, None)

    def end(self, end: GameEnd) -> None: ...


class InMemory:
    """The engine of a run: games by dice, repeated under the names of those that are owed."""

    def __init__(self, number: int, secret: bytes) -> None:
        self._number = number
        self._secret = secret
        self._templates = cycle([self._play(seed) for seed in range(TEMPLATES)])

    def run(self, blocks: Iterator[Block], wait: Callable[[], float | None]) -> Iterator[Finished | None]:
        del wait
        for block in blocks:
            yield Finished(tuple(self._games(block)), (), done=True)

    def arrived(self) -> Iterator[Finished]:
        return iter(())

    def urge(self, block: Block) -> None: ...

    def revise(self, change: Callable[[Block], Block]) -> None: ...

    def stop(self) -> None: ...

    def drop(self, unwanted: Callable[[Block], bool]) -> None: ...

    def close(self) -> None: ...

    def _games(self, block: Block) -> Iterator[Stored]:
        for game in games_of(block, self._secret, of_round=self._number):
            template = next(self._templates)
            seats = "".join(str(block.line_up.index(bot)) for bot in game.seats)
            yield template._replace(
                round=self._number,
                game_id=game.game_id,
                line_up=block.line_up,
                deal=game.deal,
                rotation=game.rotation,
                seats=seats,
            )

    @staticmethod
    def _play(seed: int) -> Stored:
        from referee.record import Bot

        bots = (Bot("a", "a" * 64), Bot("b", "b" * 64))
        deck = shuffled(seed.to_bytes(32, "big"))
        played = play_game(
            DealtGame("0" * 16, DEFAULT_RULES, deck, (1, 2)), [Dice(seed), Dice(seed + 1)], clock=SystemClock(), pace=0
        )
        record = GameRecord(
            round=1,
            game_id="0" * 16,
            seats=bots,
            deal=0,
            rotation=0,
            rules=DEFAULT_RULES,
            key="00" * 32,
            deck=tuple(names(deck)),
            seeds=(1, 2),
            steps=played.steps,
            faults=played.faults,
            reason=played.outcome.reason,
            places=played.outcome.places,
            hand_sizes=played.outcome.hand_sizes,
            forfeited=played.outcome.forfeited,
            ms=3,
        )
        return Stored.of(record)


def bots_under(folder: Path) -> list[Path]:
    """200 real bots: copies of a small program of C under other names."""
    paths = []
    for number in range(BOTS):
        path = folder / "bots" / f"bot{number:03}"
        shutil.copytree(SCANNER, path)
        paths.append(path)
    return paths


def entries_of(paths: list[Path]) -> list[Entry]:
    found = find_bots(paths)
    return [
        Entry(name=bot.identity.name, hash=bot.identity.hash, players=tuple(sorted(bot.players))) for bot in found.bots
    ]


def peak() -> float:
    """MiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def timed(work: Callable[[], object]) -> tuple[float, object]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def measure(db: Path, entries: list[Entry], deals: int) -> None:
    """One size; prints a row."""
    wanted = Wanted((2,), deals, limit=GAMES_OF_A_DEAL)
    terms = Terms(Conditions(DEFAULT_RULES, Limits()), wanted, 25, "million")
    with open_store(db, create=True) as store:
        store.claim()
        store.save_bots({entry.bot: {} for entry in entries})
        opening, one = timed(lambda: League(store).open_next(entries, terms))
        engine = InMemory(one.number, one.secret)
        storing, _ = timed(
            lambda: run(
                one.schedule.owed({}),
                pool=engine,
                store=store,
                withdrawals=Withdrawals(one.schedule, 25),
                watcher=Listener(),
                stop_wanted=lambda: False,
            )
        )
        after_storing = peak()
        owing, left = timed(lambda: count_games(one.schedule.owed(store.played(one.number))))
        assert left == 0
    with open_store(db) as store:
        rating, standings = timed(lambda: standings_of(store))
        [table] = standings.tables
        games = table.games
    per = games / 100_000
    size = db.stat().st_size / games
    print(
        f"| {games:>9,} | {opening / per:7.2f} | {storing / per:7.2f} | {owing / per:7.2f} | {rating / per:7.2f} "
        f"| {after_storing:6.0f} | {peak():6.0f} | {size:6.0f} |",
        flush=True,
    )


def in_a_process(db: Path, folder: Path, deals: int) -> None:
    subprocess.run([sys.executable, __file__, "--one", str(deals), "--db", str(db), "--bots", str(folder)], check=True)


def resume(db: Path, paths: list[Path], deals: int) -> None:
    """Take the last games away and time the command until it has stored one of them anew."""
    with closing(sqlite3.connect(db)) as open_db, open_db:
        rows = open_db.execute(
            "SELECT line_up, deal, rotation, record FROM games ORDER BY deal DESC, line_up LIMIT ?", (LEFT,)
        ).fetchall()
        open_db.executemany("DELETE FROM games WHERE line_up = ? AND deal = ? AND rotation = ?", [r[:3] for r in rows])
        open_db.executemany("DELETE FROM records WHERE record = ?", [r[3:] for r in rows])
    words = ["tournament", *map(str, paths), "--deals", str(deals), "--lineups", str(GAMES_OF_A_DEAL), "-q"]
    words += ["--seed", "million", "--db", str(db), "--out", str(db.parent / "out")]
    warm = subprocess.run([*REFEREE, *words, "--plan", str(db.parent / "round.json")], check=False)  # bots in the cache
    assert warm.returncode == 0
    with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as reader:
        before = reader.execute("SELECT max(record) FROM records").fetchone()[0]
        began = time.perf_counter()
        command = subprocess.Popen([*REFEREE, *words], stdout=subprocess.DEVNULL)
        while reader.execute("SELECT max(record) FROM records").fetchone()[0] <= before:
            assert command.poll() is None
            time.sleep(0.005)
        wall = time.perf_counter() - began
        fields = Path(f"/proc/{command.pid}/stat").read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        print(
            f"resumed: {wall:.2f} s from the start of the command to its first stored game, {used:.2f} s of a processor"
        )
        command.kill()
        command.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--db", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--bots", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--deals", type=int, nargs="*", default=[3, 6, 13, 26], help="sizes, each 39,800 games a deal")
    given = parser.parse_args()
    if given.one:
        measure(given.db, entries_of(sorted((given.bots / "bots").iterdir())), given.one)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        paths = bots_under(folder)
        print(
            "| games | opening | storing | owed | rating | MiB stored | MiB rated | bytes a game |\n"
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        )
        for deals in given.deals:
            in_a_process(folder / f"{deals}.db", folder, deals)
        resume(folder / f"{given.deals[-1]}.db", paths, given.deals[-1])


if __name__ == "__main__":
    main()
