"""The example bots, started as real programs: what they answer, that their games are repeatable, how good they are.

Those that make the choices of greedy are starter kits: `tests/system/kits` has them.
"""

from __future__ import annotations

import importlib.util
import random
import subprocess
from pathlib import Path
from statistics import fmean, stdev
from types import ModuleType

import pytest
from asking import (
    HELLO,
    QUIT,
    Message,
    Table,
    flat,
    games_of_the_vectors,
    line,
    play,
    questions_in,
    replies,
    shuffled,
    talk_to,
)

from protocol.codec import parse_answer
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.source.manifest import find_bots

EXAMPLES = Path(__file__).parents[2] / "example_bots"
BOTS = ("greedy", "memory", "pairs", "random")


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prepared]:
    found = find_bots([EXAMPLES / name for name in BOTS])
    assert not found.refused
    cache = tmp_path_factory.mktemp("cache")
    return {bot.identity.name: prepare(bot, cache) for bot in found.bots}


@pytest.fixture(scope="module")
def games() -> list[list[Message]]:
    return games_of_the_vectors()


@pytest.mark.parametrize("name", BOTS)
def test_every_question_is_answered_once_with_a_legal_action(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    asked = questions_in(flat(games))
    answers = [parse_answer(answer) for answer in replies(bots[name], flat(games))]
    assert len(asked) > 1500
    assert [answer.id for answer in answers] == [question["id"] for question in asked]
    assert all(answer.action in question["legal"] for answer, question in zip(answers, asked, strict=True))


@pytest.mark.parametrize("name", BOTS)
def test_a_game_is_repeatable_whatever_was_played_before(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    game, others = max(games, key=len), flat(games[:30])
    length = len(questions_in(game))
    alone = replies(bots[name], game)
    assert replies(bots[name], [*others, *game])[-length:] == alone
    assert replies(bots[name], [*game[: len(game) // 2], *game])[-length:] == alone


def test_another_seed_gives_another_random_game(bots: dict[str, Prepared], games: list[list[Message]]) -> None:
    start, *rest = max(games, key=len)
    assert replies(bots["random"], [start, *rest]) != replies(bots["random"], [{**start, "seed": 99}, *rest])


@pytest.mark.parametrize("name", BOTS)
def test_unknown_messages_and_fields_are_ignored(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    game = max(games, key=len)
    strange = {"type": "weather", "ids": [1], "text": 'a "type":"quit", and an "id":7'}
    more = [{**message, "mood": {"id_card": "QS", "list": [1]}} for message in game]
    assert replies(bots[name], [strange, *more[:3], strange, *more[3:]]) == replies(bots[name], game)


@pytest.mark.parametrize("name", BOTS)
def test_each_answer_is_flushed_and_quit_ends_the_bot(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    with talk_to(bots[name]) as process:
        assert process.stdin and process.stdout
        for message in [HELLO, *games[0][:-1]]:
            process.stdin.write(line(message))
            process.stdin.flush()
            if message["type"] != "start":
                assert process.stdout.readline().endswith(b"}\n")
        process.stdin.write(line(QUIT))
        process.stdin.flush()
        assert process.wait() == 0


@pytest.mark.parametrize("name", BOTS)
def test_the_end_of_stdin_ends_the_bot(name: str, bots: dict[str, Prepared]) -> None:
    sent = line(HELLO)
    done = subprocess.run(bots[name].argv, cwd=bots[name].folder, input=sent, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, b"", 1)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / name / "bot.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def score(one: Table, other: Table, *, players: int, deals: int) -> tuple[float, float]:
    """The mean score of `one` on every second seat against `other` on the rest, seats changed, and its error."""
    dice = random.Random(1)
    means = []
    for _ in range(deals):
        deck = shuffled(dice)
        points: list[float] = []
        for first in (0, 1):
            sides = [(seat + first) % 2 for seat in range(players)]
            places = play([(one, other)[side] for side in sides], deck).places
            points += [
                (places[a] < places[b]) + (places[a] == places[b]) / 2
                for a in range(players)
                for b in range(players)
                if sides[a] == 0 and sides[b] == 1
            ]
        means.append(fmean(points))
    return fmean(means), stdev(means) / deals**0.5


def test_greedy_beats_pairs(bots: dict[str, Prepared]) -> None:
    with talk_to(bots["pairs"]) as process:
        assert process.stdin and process.stdout

        def choose(question: Message) -> str:
            process.stdin.write(line(question))
            process.stdin.flush()
            return parse_answer(process.stdout.readline().rstrip(b"\n")).action

        mean, error = score(Table(load("greedy").choose), Table(choose), players=2, deals=100)
    assert mean - 3 * error > 0.6
