"""A balanced sample of the line-ups of bots that may all meet: even appearances, nearly even meetings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, count, pairwise
from operator import add

from referee.tournament.field import Indices
from referee.tournament.keys import derive

Exchange = tuple[int, int]
"""Two slots of a sample, whose bots change places."""

_ATTEMPTS = 3
_PASSES = 30
_UNEVEN = 1_000
"""The price of two bots that meet once too often or too seldom; what else has a price costs a few units."""
_NEVER = 1 << 40


def balanced_sample(bots: int, size: int, limit: int, salt: bytes) -> list[Indices]:
    """`limit` different line-ups of `size` of the bots 0, 1, …: at most half of all that there are.

    Appearances differ by at most 1, wherever the sample is cut off. It is the first sample in which meetings differ
    by at most 2, or the most even of several.
    """
    best: _Sample | None = None
    for attempt in count(1):
        sample = _Sample(bots, size, limit, derive(salt, "attempt", attempt))
        sample.fill()
        sample.even_out()
        if sample.all_different() and (best is None or sample.spread() < best.spread()):
            best = sample
        if best is not None and (best.spread() <= 2 or attempt >= _ATTEMPTS):
            return best.line_ups()
    raise AssertionError("counting ends nowhere")


class _Sample:
    """A sample in the making: filled greedily, then improved by exchanges.

    Its line-ups stand one after another in `slots`, `size` slots each. Every `bots` slots are also a round, in which
    each bot has one slot (a last round may be cut short): so appearances are even, and stay so as long as exchanges
    are made within rounds. `met` says how often two bots meet, `times` how often a line-up is there.
    """

    def __init__(self, bots: int, size: int, wanted: int, salt: bytes) -> None:
        self.bots = bots
        self.size = size
        self.wanted = wanted
        self.salt = salt
        self.slots: list[int] = []
        self.met = [[0] * bots for _ in range(bots)]
        self.times: Counter[Indices] = Counter()
        self.dice = 1
        self.dearer: list[int] = []
        self.cheaper: list[int] = []

    def line_ups(self) -> list[Indices]:
        return [tuple(sorted(table)) for table in self._tables()]

    def all_different(self) -> bool:
        return max(self.times.values(), default=1) == 1

    def spread(self) -> int:
        """How much oftener some two bots meet than some other two."""
        met = self._meetings()
        return max(met) - min(met)

    def fill(self) -> None:
        """Seat bot after bot, of those left in the round always the one that has met the least of this table."""
        left: list[int] = []
        for _ in range(self.wanted):
            table: list[int] = []
            load = [0] * self.bots
            while len(table) < self.size:
                left = left or self._shuffled_bots()
                bot = min(left, key=load.__getitem__)
                left.remove(bot)
                table.append(bot)
                load = list(map(add, load, self.met[bot]))
                load[bot] = _NEVER
            self.slots += table
            self._count(table, 1)

    def _shuffled_bots(self) -> list[int]:
        start = len(self.slots)
        return sorted(range(self.bots), key=lambda bot: derive(self.salt, "round", start, bot))

    def even_out(self) -> None:
        """Make line-ups different, and meetings even.

        An exchange that mends one pair may spoil two others: such steps lead out of dead ends.
        """
        for _ in range(_PASSES):
            low, high = self._aim()
            self._set_prices(low, high)
            moves = sum(self._exchange_some(self._changes(number), _NEVER) for number in self._repeated())
            for one, two in combinations(range(self.bots), 2):
                if self.met[one][two] > high:
                    moves += self._exchange_some(self._partings(one, two), _UNEVEN * 3 // 2)
                elif self.met[one][two] < low:
                    moves += self._exchange_some(self._joinings(one, two), _UNEVEN * 3 // 2)
            if not moves:
                return

    def _aim(self) -> tuple[int, int]:
        """The fewest and most meetings to aim at: 1 apart where all but a pair in 1,000 are so already, else 2."""
        pairs = Counter(self._meetings())

        def outside(low: int, width: int) -> int:
            return pairs.total() - sum(pairs[low + more] for more in range(width + 1))

        for width in (1, 2):
            low = min(range(min(pairs), max(pairs) + 1), key=lambda low: outside(low, width))
            if 1_000 * outside(low, width) <= pairs.total():
                break
        return low, low + width

    def _set_prices(self, low: int, high: int) -> None:
        """Price a pair by its distance from the mean, squared, and dearly outside `low` to `high`."""
        twice_mean = round(2 * self.wanted * self.size * (self.size - 1) / (self.bots * (self.bots - 1)))
        prices = [
            (2 * met - twice_mean) ** 2 + _UNEVEN * max(low - met, 0, met - high) ** 2
            for met in range(-1, self.wanted + 2)
        ]
        self.dearer = [more - now for now, more in pairwise(prices[1:])]
        self.cheaper = [less - now for less, now in pairwise(prices)]

    def _repeated(self) -> Iterator[int]:
        return (number for number, table in enumerate(self._tables()) if self.times[tuple(sorted(table))] > 1)

    def _changes(self, number: int) -> Iterator[Exchange]:
        """The exchanges that change a line-up."""
        first = number * self.size
        return (way for slot in range(first, first + self.size) for way in self._exchanges(slot))

    def _partings(self, one: int, two: int) -> Iterator[Exchange]:
        """The exchanges that end a meeting."""
        for number, table in enumerate(self._tables()):
            if one in table and two in table:
                first = number * self.size
                yield from self._exchanges(first + table.index(one))
                yield from self._exchanges(first + table.index(two))

    def _joinings(self, one: int, two: int) -> Iterator[Exchange]:
        """The exchanges that make a meeting."""
        for start in range(0, len(self.slots), self.bots):
            bots = self.slots[start : start + self.bots]
            if one in bots and two in bots:
                p, q = start + bots.index(one), start + bots.index(two)
                for mover, host in ((p, q), (q, p)):
                    for way in self._exchanges(mover):
                        if way[1] // self.size == host // self.size and way[1] != host:
                            yield way

    def _exchanges(self, slot: int) -> Iterator[Exchange]:
        """The exchanges of this slot with others of its round, at other tables."""
        start, number = slot - slot % self.bots, slot // self.size
        for other in range(start, min(start + self.bots, len(self.slots))):
            if other // self.size != number:
                yield slot, other

    def _exchange_some(self, ways: Iterable[Exchange], below: int) -> bool:
        """Make one of the cheapest exchanges that cost less than `below` and make new line-ups, if there is one.

        Which of them, is left to chance, or steps sideways would go round in circles; the chance is a linear
        congruential generator of our own, the same in every version of Python.
        """
        priced = sorted((cost, *way) for way in ways if (cost := self._cost(*way)) < below)
        good = [way for way in priced if self._makes_new(way[1], way[2])]
        if not good:
            return False
        near = [way for way in good if way[0] < good[0][0] + _UNEVEN // 2]
        self.dice = (self.dice * 1_103_515_245 + 12_345) % 2**31
        _, p, q = near[(self.dice >> 16) % len(near)]
        self._exchange(p, q)
        return True

    def _cost(self, p: int, q: int) -> int:
        met_p, met_q = self.met[self.slots[p]], self.met[self.slots[q]]
        dearer, cheaper = self.dearer, self.cheaper
        cost = 0
        for bot in self._others(p):
            cost += cheaper[met_p[bot]] + dearer[met_q[bot]]
        for bot in self._others(q):
            cost += cheaper[met_q[bot]] + dearer[met_p[bot]]
        return cost

    def _makes_new(self, p: int, q: int) -> bool:
        """Whether an exchange makes two line-ups of different bots that are not there yet."""
        new = {tuple(sorted({*self._others(p), self.slots[q]})), tuple(sorted({*self._others(q), self.slots[p]}))}
        return len(new) == 2 and all(len(table) == self.size and not self.times[table] for table in new)

    def _exchange(self, p: int, q: int) -> None:
        for slot in (p, q):
            self._count([self.slots[slot], *self._others(slot)], -1)
        self.slots[p], self.slots[q] = self.slots[q], self.slots[p]
        for slot in (p, q):
            self._count([self.slots[slot], *self._others(slot)], 1)

    def _count(self, table: list[int], change: int) -> None:
        self.times[tuple(sorted(table))] += change
        for one, two in combinations(table, 2):
            self.met[one][two] += change
            self.met[two][one] += change

    def _meetings(self) -> list[int]:
        return [met for one, row in enumerate(self.met) for met in row[:one]]

    def _tables(self) -> Iterator[list[int]]:
        return (self.slots[first : first + self.size] for first in range(0, len(self.slots), self.size))

    def _others(self, slot: int) -> list[int]:
        """Who sits at the table of this slot, in its other slots."""
        first = slot - slot % self.size
        return self.slots[first:slot] + self.slots[slot + 1 : first + self.size]
