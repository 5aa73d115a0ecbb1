"""What a bot that works while others are asked costs them: with nobody looking, and as the referee plays.

`python benchmarks/idle.py` lets a bot that thinks for some ms of a processor play against bots that use the same
processor meanwhile, each in a way of its own, and against a quiet one, in turns in one run. It prints for each way, as
medians over `--rounds`: the wall time of a think over that beside the quiet bot, and the processor time that the other
took during the thinks over that of the thinks themselves, which other load on the machine does not change. Each
sitting has one game before the one that is measured, since a bot is suspended from its next game on.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, Launcher
from referee.bots.process.limits import Limits
from referee.bots.process.pondering import PonderingMonitor
from referee.bots.process.system import Reaper, pin_to, usable_cores
from referee.bots.sandbox.probing import launcher_for
from referee.bots.seat.player import BotPlayer
from referee.bots.source.manifest import BotSpec
from referee.bots.tiers import Tier
from referee.cards import shuffled
from referee.play import DealtGame, GameEnd, GameStart, Reply, SystemClock, play_game
from referee.record import Bot
from referee.rules import DEFAULT_RULES, Question

PROGRAMS = Path(__file__).parent.parent / "tests" / "system" / "bots" / "hostile" / "programs"
PYTHON = "/usr/bin/python3"
QUIET = "nothing"
WAYS = (QUIET, "itself", "threads", "children", "daemon", "a_child_a_time", "wakers")
PATIENT = Limits(start_ms=60_000, move_ms=60_000)


class Thought(NamedTuple):
    """Of one sitting: the median wall time of a think in ms, and what the other took of a processor, as a share."""

    wall: float
    share: float


class Thinker:
    """A bot's player for its first questions; after them it answers at once, without its process."""

    def __init__(self, player: BotPlayer, questions: int, other: dict[str, Child]) -> None:
        self.player, self.questions, self.other = player, questions, other
        self.walls: list[float] = []
        self.taken = 0

    def begin(self, start: GameStart) -> None:
        self.player.begin(start)

    def ask(self, question: Question) -> Reply:
        if len(self.walls) >= self.questions:
            return Reply(question.legal[0], 0)
        before = self.other["other"].cpu_ns()
        reply = self.player.ask(question)
        self.taken += self.other["other"].cpu_ns() - before
        self.walls.append(reply.us / 1000)
        return reply

    def end(self, end: GameEnd) -> None:
        self.player.end(end)


class Remembering:
    """A launcher that remembers what it has made, by the bot's name."""

    def __init__(self, real: Launcher) -> None:
        self.real = real
        self.made: dict[str, Child] = {}

    def launch(self, bot: Prepared) -> Child:
        child = self.made[bot.manifest.identity.name] = self.real.launch(bot)
        return child


def prepared(name: str, program: str, argument: str) -> Prepared:
    argv = (PYTHON, "-S", "-B", program, argument)
    identity = Bot(name, sha256(name.encode()).hexdigest())
    manifest = BotSpec(identity, PROGRAMS, argv, (), None, None, frozenset({2}))
    return Prepared(manifest=manifest, folder=PROGRAMS, argv=argv)


def sitting(launcher: Launcher, way: str, think_ms: int, questions: int, *, watched: bool) -> Thought:
    clock, remembering = SystemClock(), Remembering(launcher)
    monitor = PonderingMonitor(clock) if watched else None
    bots = prepared("other", "idlers.py", way), prepared("thinker", "thinks.py", str(think_ms))
    other, player = (BotPlayer(one, launcher=remembering, clock=clock, limits=PATIENT, monitor=monitor) for one in bots)
    thinker = Thinker(player, questions, remembering.made)
    try:
        for deck, seats in ((b"first", [other, player]), (b"0", [other, thinker])):
            play_game(DealtGame("idle", DEFAULT_RULES, shuffled(deck), (1, 2)), seats, clock=clock)
            other.take_pondering()
    finally:
        other.kill()
        player.kill()
    return Thought(statistics.median(thinker.walls), thinker.taken / 1e6 / (think_ms * len(thinker.walls)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--think", type=int, nargs="+", default=[10, 140], help="ms of a processor")
    parser.add_argument("--sandbox", nargs="+", default=["D", "A"], choices=["A", "B", "C", "D"])
    options = parser.parse_args()
    pin_to({usable_cores()[0]})
    reaper = Reaper()
    for tier in map(Tier, options.sandbox):
        with tempfile.TemporaryDirectory() as scratch:
            Path(scratch).chmod(0o755)
            launcher = launcher_for(tier, scratch=Path(scratch), reaper=reaper)
            for think in options.think:
                measure(launcher, tier, think, options.rounds, options.questions)


def measure(launcher: Launcher, tier: Tier, think: int, rounds: int, questions: int) -> None:
    found: dict[tuple[str, bool], list[Thought]] = {}
    for _ in range(rounds):
        quiet = {watched: sitting(launcher, QUIET, think, questions, watched=watched) for watched in (True, False)}
        for way in WAYS:
            for watched in (True, False):
                one = quiet[watched] if way == QUIET else sitting(launcher, way, think, questions, watched=watched)
                base = quiet[False] if way == QUIET else quiet[watched]
                found.setdefault((way, watched), []).append(one._replace(wall=one.wall / base.wall))
    for way in WAYS:
        watched, alone = found[way, True], found[way, False]
        print(
            f"tier {tier}, think of {think} ms, {way}: wall over quiet {median(watched).wall:.2f} "
            f"(nobody looking {median(alone).wall:.2f}), processor taken {median(watched).share:.1%} "
            f"(nobody looking {median(alone).share:.1%})",
            flush=True,
        )


def median(thoughts: list[Thought]) -> Thought:
    return Thought(*(statistics.median(column) for column in zip(*thoughts, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
