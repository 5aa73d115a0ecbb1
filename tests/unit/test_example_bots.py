"""The example bots, started as real programs: what they answer, that their games are repeatable, how good they are.

Those that make the choices of greedy are starter kits: `tests/system/kits` has them.
"""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from statistics import fmean, stdev
from types import ModuleType

import pytest
from asking import (
    Message,
    Table,
    play,
    shuffled,
)

EXAMPLES = Path(__file__).parents[2] / "example_bots"
BOTS = ("greedy", "memory", "pairs", "random")


@pytest.mark.parametrize("name", BOTS)
def test_an_example_is_short_and_has_a_short_page(name: str) -> None:
    folder = EXAMPLES / name
    assert len((folder / "README.md").read_text().splitlines()) <= 25
    (source,) = (path for path in folder.iterdir() if path.suffix in (".py", ".js"))
    text = source.read_text()
    assert len(text.splitlines()) < 150
    assert not any(f"{word} {ours}" in text for word in ("import", "from") for ours in ("referee", "protocol"))


# -- strength, in this process


class Remembering(Table):
    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def begin(self, start: Message) -> None:
        self.choose = self.module.Memory(start).choose


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


def test_greedy_beats_random_by_far() -> None:
    dice = random.Random(2)
    mean, error = score(
        Table(load("greedy").choose), Table(lambda question: dice.choice(question["legal"])), players=2, deals=100
    )
    assert mean - 3 * error > 0.8


def test_memory_beats_greedy() -> None:
    mean, error = score(Remembering(load("memory")), Table(load("greedy").choose), players=3, deals=400)
    assert mean - 2 * error > 0.5
