"""Which line-ups can be formed of numbered bots, where the bots of one author are kept from one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

Indices = tuple[int, ...]
"""A line-up as the ascending indices of its bots."""


class Field:
    """The line-ups of `size` bots, of which no two have the same author.

    Bots are the numbers 0, 1, …, and so are authors; `authors` says the author of each bot. Where every bot has an
    author of its own, these are all line-ups of different bots.
    """

    def __init__(self, authors: Sequence[int], size: int) -> None:
        self.authors = tuple(authors)
        self.size = size
        self.bots_of: list[list[int]] = [[] for _ in range(max(authors, default=-1) + 1)]
        for bot, author in enumerate(authors):
            self.bots_of[author].append(bot)
        self._choices = _choices(map(len, self.bots_of), max(2, size))
        self._completions: dict[Indices, int] = {}

    @property
    def bots(self) -> int:
        return len(self.authors)

    @property
    def total(self) -> int:
        """How many line-ups there are."""
        return self._choices[self.size]

    @property
    def pairs(self) -> int:
        """How many pairs of bots have different authors."""
        return self._choices[2]

    @property
    def nobody_apart(self) -> bool:
        return len(self.bots_of) == self.bots

    def line_ups(self) -> Iterator[Indices]:
        """Every line-up, once."""
        for chosen in combinations(self.bots_of, self.size):
            yield from (tuple(sorted(table)) for table in product(*chosen))

    def completions(self, table: Sequence[int]) -> int:
        """How many line-ups hold these bots, which must be allowed together."""
        sizes = tuple(sorted(self.bots_with(bot) for bot in table))
        if sizes not in self._completions:
            self._completions[sizes] = _without(self._choices, sizes)[self.size - len(sizes)]
        return self._completions[sizes]

    def fewest_completions(self, seated: int) -> int:
        """The least that `completions` says of any `seated` bots: those of the authors with most bots."""
        largest = sorted(self.bots_of, key=len, reverse=True)[:seated]
        return self.completions([bots[0] for bots in largest])

    def bots_with(self, bot: int) -> int:
        """How many bots the author of this one has."""
        return len(self.bots_of[self.authors[bot]])


def _choices(sizes: Iterable[int], most: int) -> list[int]:
    """In how many ways 0, 1, …, `most` things can be taken from piles of these sizes, from no pile more than one.

    These are the elementary symmetric polynomials of the sizes: the coefficients of the product of all 1 + size * x.
    """
    ways = [1] + [0] * most
    for size in sizes:
        for number in range(most, 0, -1):
            ways[number] += size * ways[number - 1]
    return ways


def _without(ways: Sequence[int], sizes: Iterable[int]) -> list[int]:
    """What `_choices` says when piles of these sizes are taken away: the polynomial divided by each 1 + size * x."""
    left = list(ways)
    for size in sizes:
        for number in range(1, len(left)):
            left[number] -= size * left[number - 1]
    return left
