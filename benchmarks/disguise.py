"""What a perfect memory of the other rotations is worth, and what relabelling does to the luck of a deal.

`python benchmarks/disguise.py --games 20000` takes some minutes on one processor.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from manners import Careless, Manner, Memory, Table
from rememberer import Deck, Told, play

from referee.cards import shuffled
from referee.ratings.scores.scores import half_points
from referee.rules import Question
from referee.tournament.rounds.keys import dealt, derive


def memory(games: int, block: int, players: int, *, labelled: bool) -> None:
    """Print how often the bot names a hand, and what its score gains in the rotations in which it has a memory."""
    dice = Random(0)
    with_it, without = [], []
    for key, memories in deals(games, block):
        deck = dealt(key, 0) if labelled else dealt(key, 1)
        with_it.append(play(deck, 1, players, memories, labelled=labelled, dice=dice))
        without.append(play(deck, 1, players, dice=dice))
    gain = np.array([one.points - other.points for one, other in zip(with_it, without, strict=True)]) / (
        2 * (players - 1)
    )
    share = (players - 1) / players  # the first rotation of a deal has nothing to remember
    error = 1.96 * gain.std() / len(gain) ** 0.5
    kind = "same labels" if labelled else "disguise"
    print(f"{players} players, blocks of {block}, {kind}: {len(gain)} games")
    for name, told in (("with the memory", with_it), ("without it", without)):
        print(f"  {name}: " + ", ".join(f"{words} {rate:.2%}" for words, rate in rates(told)))
    print(
        f"  gain: {gain.mean():+.4f} ± {error:.4f} where it remembers, {gain.mean() * share:+.4f} ± {error * share:.4f}"
        " over all rotations"
    )


def deals(games: int, block: int) -> Iterator[tuple[bytes, Sequence[Deck]]]:
    """Yield the key of each deal, with the decks of its block as another rotation was dealt them."""
    for number in range(games // block):
        keys = [derive(b"memory", "deal", number, deal) for deal in range(block)]
        memories = [dealt(key, 0) for key in keys]
        yield from ((key, memories) for key in keys)


def rates(told: Sequence[Told]) -> Iterator[tuple[str, float]]:
    """Yield how often a hand, or its ranks, was named at the first and at the last question."""
    for when, named in (("first", [one.first for one in told]), ("last", [one.last for one in told])):
        asked = [one for one in named if one is not None]
        yield f"hand at its {when} question", sum(one.cards for one in asked) / len(asked)
        yield f"ranks at its {when} question", sum(one.ranks for one in asked) / len(asked)


class Blind(Manner):
    """Greedy, but for cards that cost the same it throws dice: labels are nothing to it."""

    def cost(self, card: int, question: Question) -> tuple[float, ...]:  # type: ignore[override]
        return (*super().cost(card, question), self.dice.random())


class BlindMemory(Blind, Memory):
    """The same of a bot that knows which cards it laid."""


PAIRS: dict[str, tuple[type[Manner], type[Manner]]] = {
    "greedy and its memory, both blind to labels": (Blind, BlindMemory),
    "greedy and its memory": (Manner, Memory),
    "greedy and careless": (Manner, Careless),
    "greedy and itself": (Manner, Manner),
}


def luck(count: int) -> None:
    """Print the variance of a deal's score and the correlation of its rotations, with and without disguise."""
    for name, manners in PAIRS.items():
        for how, deck_of in (("same cards", lambda key, _: shuffled(key)), ("disguise", dealt)):
            points = np.array(
                [
                    [
                        score(manners, rotation, deck_of(derive(b"luck", "deal", deal), rotation), deal)
                        for rotation in (0, 1)
                    ]
                    for deal in range(count)
                ]
            )
            variance = points.mean(axis=1).var(ddof=1)
            error = variance * (2 / count) ** 0.5
            together = np.corrcoef(points.T)[0, 1]
            print(
                f"{name}, {how}: {count} deals, mean {points.mean():.4f}, "
                f"variance of a deal {variance:.4f} ± {error:.4f}, "
                f"correlation of its rotations {together:+.3f} ± {1 / count**0.5:.3f}"
            )


def score(manners: Sequence[type[Manner]], rotation: int, deck: Deck, deal: int) -> float:
    """Return the first bot's score of one game, which sits at the seat of the rotation."""
    seats = [manners[0], manners[1]] if rotation == 0 else [manners[1], manners[0]]
    places = Table(seats, deck, Random(f"{deal} {rotation}")).play()
    return half_points(places)[rotation] / 2


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20_000)
    options = parser.parse_args()
    luck(options.games)
    memory(options.games, 50, 2, labelled=False)
    memory(options.games // 4, 1, 2, labelled=False)
    memory(options.games // 4, 50, 3, labelled=False)
    memory(options.games // 4, 50, 2, labelled=True)


if __name__ == "__main__":
    main()
