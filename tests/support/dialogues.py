"""Games as one seat's bot was told of them: played by real programs, and pairs that look alike to a seat."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

from seats import FirstLegal, prepared
from worlds import Pair, World, some_pair

from referee.bots.process.launcher import PlainLauncher
from referee.bots.process.limits import Limits
from referee.bots.process.system import Reaper
from referee.bots.seat.player import BotPlayer
from referee.cards import names, shuffled
from referee.errors import Verdict, VoidGame
from referee.play import DealtGame, Player, SystemClock, play_game
from referee.record import Bot, Fault, GameRecord, Step
from referee.rules import DEFAULT_RULES, Ending

LIMITS = Limits(start_ms=5000, move_ms=400, game_ms=60_000)
BOTS = tuple(Bot(f"bot{seat}", f"{seat}" * 64) for seat in range(6))
_REPLAYS = 5


class Ear:
    """Hears what a bot is sent and what it says."""

    def __init__(self) -> None:
        self.sent_lines = b""
        self.said = b""

    def sent(self, data: bytes, at: int) -> None:
        self.sent_lines += data

    def received(self, data: bytes, at: int) -> None:
        self.said += data

    def logged(self, data: bytes, at: int) -> None: ...


def game(players: Sequence[Player], deck: bytes = b"3") -> GameRecord:
    """The record of one game."""
    cards, seeds = shuffled(deck), tuple(range(11, 11 + len(players)))
    steps, faults, outcome = play_game(DealtGame("a1b2", DEFAULT_RULES, cards, seeds), players, clock=SystemClock())
    return GameRecord(
        round=4,
        game_id="a1b2",
        seats=BOTS[: len(players)],
        deal=5,
        rotation=1,
        rules=DEFAULT_RULES,
        key="6b6579",
        deck=tuple(names(cards)),
        seeds=seeds,
        steps=steps,
        faults=faults,
        reason=outcome.reason,
        places=outcome.places,
        hand_sizes=outcome.hand_sizes,
        forfeited=outcome.forfeited,
        ms=1,
    )


def by_program(
    folder: Path, *argv: str, reaper: Reaper | None = None, limits: Limits = LIMITS, deck: bytes = b"3"
) -> tuple[GameRecord, Ear]:
    """A game with a real program at seat 1 of three, and all that it heard and said.

    A game that is void is played again, as in a tournament: a busy machine may wake the referee too late.
    """
    for _ in range(_REPLAYS):
        with suppress(VoidGame):
            return _attempt(folder, *argv, reaper=reaper, limits=limits, deck=deck)
    return _attempt(folder, *argv, reaper=reaper, limits=limits, deck=deck)


def _attempt(folder: Path, *argv: str, reaper: Reaper | None, limits: Limits, deck: bytes) -> tuple[GameRecord, Ear]:
    ear = Ear()
    launcher = PlainLauncher(folder, reaper)
    player = BotPlayer(prepared(*argv), launcher=launcher, clock=SystemClock(), limits=limits, tap=ear)
    try:
        return game([FirstLegal(), player, FirstLegal()], deck), ear
    finally:
        player.kill()


@cache
def pairs() -> list[Pair]:
    found = [some_pair(Random(f"dialogue {number}")) for number in range(80)]
    return [pair for pair in found if pair is not None]


def record_of(world: World, pair: Pair) -> GameRecord:
    """A world as a record, in which the pair's seat is at fault at the cut, if it gets there."""
    steps, faults, own = [], [Fault(seat, None, Verdict.CRASH, "gone", {}) for seat in world.setting.absent], 0
    for asked in world.asked:
        action = asked.action
        if asked.seat == pair.seat:
            action = None if own == pair.cut else action
            own += 1
        if action is None:
            evidence = {"stderr": "x"} if asked.seat == pair.seat else {"stderr": f"{world.setting.deck}"}
            faults.append(Fault(asked.seat, len(steps), Verdict.CRASH, "gone", dict(evidence)))
        mine = asked.seat == pair.seat
        steps.append(Step(asked.seat, None if action is None else action.text, 7 if mine else len(world.asked)))
        if mine and action is None:
            break
    outcome = world.state.outcome
    return GameRecord(
        game_id="a1b2",
        seats=BOTS[: world.setting.players],
        deal=0,
        rotation=0,
        rules=world.setting.rules,
        key="6b" if pair.first is world else "6c",
        deck=tuple(names(world.setting.deck)),
        seeds=tuple(99 if seat == pair.seat else world.setting.deck[seat] for seat in range(world.setting.players)),
        steps=tuple(steps),
        faults=tuple(faults),
        reason=Ending.FORFEIT if outcome is None else outcome.reason,
        places=() if outcome is None else outcome.places,
        hand_sizes=() if outcome is None else outcome.hand_sizes,
        forfeited=() if outcome is None else outcome.forfeited,
        ms=world.setting.deck[0],
    )
