"""What a seat cannot see does not reach it: not in a question, not in a byte, not in the words of an error.

The pairs of games come from `worlds`. That the test can fail is shown by leaks planted on purpose, each of which it finds.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from random import Random

import pytest
from seats import prepared
from worlds import Pair, World, some_pair

from referee import play
from referee.actions import KEEP
from referee.bots.process.launcher import PlainLauncher
from referee.bots.process.limits import Limits
from referee.bots.seat.player import BotPlayer
from referee.errors import BotFault, Verdict
from referee.rules import MAX_PLAYERS, MIN_PLAYERS, Question

PLAYERS = range(MIN_PLAYERS, MAX_PLAYERS + 1)


@cache
def pairs(players: int) -> list[Pair | None]:
    """The same pairs in every run, for what is counted."""
    return [some_pair(Random(f"{players} {number}"), players=players) for number in range(60)]


@cache
def all_pairs() -> list[Pair]:
    return [pair for players in PLAYERS for pair in pairs(players) if pair is not None]


# -- Real programs, and the words of their faults

BOT = """
import json, sys
answers, mode = json.loads(sys.argv[1]), sys.argv[2]
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready","protocol":1}', flush=True)
    elif "id" in message and answers:
        print(json.dumps({"id": message["id"], "action": answers.pop(0)}), flush=True)
    elif "id" in message:
        if mode == "dies":
            sys.exit(3)
        wrong = "keep" if message["phase"] == "lay" else "lay 6C"
        print({"illegal": json.dumps({"id": message["id"], "action": wrong}), "garbage": "{"}[mode], flush=True)
"""
"""Gives the answers it was started with, and then does what is wrong."""


class Others:
    """Another seat's player in memory: the world's answers and faults, then the first legal action."""

    def __init__(self, world: World, seat: int) -> None:
        self._absent = seat in world.setting.absent
        self._answers = iter([one.action for one in world.asked if one.seat == seat])

    def begin(self, start: play.GameStart) -> None:
        if self._absent:
            raise BotFault(Verdict.START_FAILED, "it never came")

    def ask(self, question: Question) -> play.Reply:
        action = next(self._answers, KEEP)
        if action is None:
            raise BotFault(Verdict.CRASH, "it is gone")
        return play.Reply(action if action in question.legal else question.legal[0], 1)

    def end(self, end: play.GameEnd) -> None: ...


class Ear:
    """Hears what a bot is sent."""

    def __init__(self) -> None:
        self.heard = b""

    def sent(self, data: bytes, at: int) -> None:
        self.heard += data

    def received(self, data: bytes, at: int) -> None: ...

    def logged(self, data: bytes, at: int) -> None: ...


def heard(world: World, pair: Pair, mode: str, folder: Path) -> bytes:
    """All that a real program at the seat is sent, ids apart; it goes wrong at the pair's cut."""
    answers = [one.action.text for one in world.asked if one.seat == pair.seat and one.action is not None][: pair.cut]
    ear, clock = Ear(), play.SystemClock()
    bot = prepared(sys.executable, "-c", BOT, json.dumps(answers), mode)
    player = BotPlayer(bot, launcher=PlainLauncher(folder), clock=clock, limits=Limits(move_ms=None), tap=ear)
    players = [player if seat == pair.seat else Others(world, seat) for seat in range(world.setting.players)]
    game = play.DealtGame("a1b2", world.setting.rules, world.setting.deck, tuple(range(len(players))))
    try:
        play.play_game(game, players, clock=clock)
    finally:
        player.stop()
    return re.sub(rb'"id":\d+', b'"id":0', ear.heard)


@pytest.mark.parametrize("mode", ["illegal", "garbage", "dies"])
def test_a_real_program_is_sent_the_same_bytes_to_the_last_word_of_its_fault(mode: str, tmp_path: Path) -> None:
    cut_short = [pair for pair in all_pairs() if pair.second.state.outcome is None]
    for pair in cut_short[::40]:
        first, second = (heard(world, pair, mode, tmp_path) for world in (pair.first, pair.second))
        assert first == second
        assert first.count(b'"type":"act"') == pair.cut + 1
        assert b'{"type":"fault"' in first or mode == "dies"


def test_a_real_program_is_sent_the_same_bytes_to_the_end_of_a_game(tmp_path: Path) -> None:
    whole = [pair for pair in all_pairs() if pair.second.state.outcome is not None]
    for pair in whole[::12]:
        first, second = (heard(world, pair, "dies", tmp_path) for world in (pair.first, pair.second))
        assert first == second
        assert b'{"type":"end"' in first
