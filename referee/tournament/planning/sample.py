"""Samples of line-ups, fresh or added to earlier ones: even appearances, nearly even meetings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from operator import add
from random import Random

from referee.tournament.planning.field import Field, Indices
from referee.tournament.rounds.keys import derive

_SAME_SALT_FOR_ALL = b"fresh"


def fresh_sample(field: Field, limit: int) -> list[Indices]:
    """Return `limit` different line-ups, fewer than there are.

    No bot appears more than once oftener than another bot that could take its place in one of its line-ups and make a
    new one. The sample depends only on how many bots each author has, not on a salt: the salt gives the bots their
    numbers. So the sample also tells how often a bot of an author with that many bots appears under any salt.
    """
    sample = _Sample(field, _SAME_SALT_FOR_ALL, room=limit)
    for _ in range(limit):
        sample.seat([], rank=sample.appearances)
    sample.level()
    return sample.added


def additions(field: Field, there: Collection[Indices], targets: Sequence[int], salt: bytes) -> list[Indices]:
    """Return line-ups that bring every bot to its target of appearances, counting those in `there`.

    The bot that lacks most opens each of them. The other seats go to the bots that have met the table least, whether or
    not they lack anything: with the neediest at every seat, newcomers would meet each other and nobody else. None of
    the line-ups could be left out. All bots of one author must have the same target, and no more than they have
    line-ups.
    """
    sample = _Sample(field, salt, room=len(there) + sum(targets), there=there, targets=targets)
    all_equal = [0] * field.bots
    while (opener := sample.neediest(targets)) is not None:
        sample.seat([opener], rank=all_equal)
    sample.drop_needless(targets)
    return sample.added


class _Sample:
    """A sample in the making, filled greedily, one line-up after another, beside those in `there`.

    `met` counts the meetings of every two bots. A bot is settled if it had half of its target from the start, and a
    newcomer if not. `_held` counts the line-ups in which given bots sit together, for numbers of bots that may have no
    further line-up: so a table that is filled never turns out to be taken.
    """

    def __init__(
        self,
        field: Field,
        salt: bytes,
        *,
        room: int,
        there: Iterable[Indices] = (),
        targets: Iterable[int] | None = None,
    ) -> None:
        self.field = field
        self.added: list[Indices] = []
        self.appearances = [0] * field.bots
        self.met = [[0] * field.bots for _ in range(field.bots)]
        self._dice = Random(int.from_bytes(derive(salt, "lots")))  # noqa: S311
        self._lots = self._draw_lots()
        self._scarce = [seated for seated in range(1, field.size + 1) if field.fewest_completions(seated) <= room]
        self._held: Counter[Indices] = Counter()
        for table in there:
            self._count(table, 1)
        wanted = [1] * field.bots if targets is None else targets
        self._settled = [2 * there >= target for there, target in zip(self.appearances, wanted, strict=True)]

    def neediest(self, targets: Sequence[int]) -> int | None:
        """Return the bot that lacks most appearances, among equals by lot, or None if all have their targets."""
        lacking = [target - there for target, there in zip(targets, self.appearances, strict=True)]
        most = max(lacking, default=0)
        if most <= 0:
            return None
        return min((bot for bot, lack in enumerate(lacking) if lack == most), key=self._lots.__getitem__)

    def seat(self, table: list[int], *, rank: Sequence[int]) -> None:
        """Complete `table` to a new line-up, seat by seat."""
        cost, habit = [0] * self.field.bots, [(self.field.size - 1) * there for there in self.appearances]
        for bot in table:
            cost, habit = self._with(bot, cost, habit)
        while len(table) < self.field.size:
            bot = self._next(table, rank, cost, habit)
            table.append(bot)
            cost, habit = self._with(bot, cost, habit)
        line_up = tuple(sorted(table))
        self.added.append(line_up)
        self._count(line_up, 1)
        self._lots = self._draw_lots()

    def _with(self, bot: int, cost: list[int], habit: list[int]) -> tuple[list[int], list[int]]:
        """Return what each bot costs at a table, and how used it is, once `bot` sits there too.

        A pair costs the square of its meetings less the square of the meetings to be expected of the rarer of the two.
        Squares keep the most frequent pair down. Two settled bots cost nothing: they met while there were fewer bots,
        and counting that would keep them from sitting together beside a newcomer, who would meet them too seldom.
        """
        field, met = self.field, self.met[bot]
        if self._settled[bot]:
            habit = [before + more * more * old for before, more, old in zip(habit, met, self._settled, strict=True)]
        expected, pairs = (field.size - 1) * field.bots, 2 * field.pairs
        price = [
            (pairs * times) ** 2 - (expected * min(self.appearances[bot], there)) ** 2
            for times, there in zip(met, self.appearances, strict=True)
        ]
        if self._settled[bot]:
            price = [0 if old else one for one, old in zip(price, self._settled, strict=True)]
        return list(map(add, cost, price)), habit

    def _next(self, table: Sequence[int], rank: Sequence[int], cost: Sequence[int], habit: Sequence[int]) -> int:
        """Return the bot for the next seat: of the lowest rank, and among equals the one that costs least.

        If several are still equal, a lot picks one of them, which decides between settled bots and newcomers without
        favour. The seat goes to the least used bot of that kind: `habit` counts its meetings in all line-ups, and the
        squares of those with the settled bots at this table.
        """
        seated = {self.field.authors[bot] for bot in table}
        waiting = [bot for bot, author in enumerate(self.field.authors) if author not in seated]
        while True:
            least = min((rank[bot], cost[bot]) for bot in waiting)
            equal = [bot for bot in waiting if (rank[bot], cost[bot]) == least]
            drawn = min(equal, key=self._lots.__getitem__)
            kind = [bot for bot in equal if self._settled[bot] is self._settled[drawn]]
            bot = min(kind, key=lambda bot: (habit[bot], self._lots[bot]))
            if not self._is_exhausted(bot, table):
                return bot
            waiting.remove(bot)

    def _draw_lots(self) -> list[float]:
        """Draw a lot for every bot. Python promises the same numbers in every version for `random` alone."""
        return [self._dice.random() for _ in range(self.field.bots)]

    def _is_exhausted(self, bot: int, table: Sequence[int]) -> bool:
        """True if every line-up that holds this table and this bot is taken."""
        if len(table) + 1 not in self._scarce:
            return False
        together = tuple(sorted((*table, bot)))
        return self._held[together] >= self.field.completions(together)

    def drop_needless(self, targets: Sequence[int]) -> None:
        """Remove every added line-up whose bots all reach their targets without it."""
        for table in self.added[::-1]:
            if all(self.appearances[bot] > targets[bot] for bot in table):
                self.added.remove(table)
                self._count(table, -1)

    def level(self) -> None:
        """Replace bots by others that appear at least twice less often, until no such replacement is possible.

        Each one lowers the sum of the squares of appearances, so this ends.
        """
        changed = True
        while changed:
            changed = False
            for number in range(len(self.added)):
                while self._replace_one(number):
                    changed = True

    def _replace_one(self, number: int) -> bool:
        """Make one replacement at this table. Return False if there is none."""
        field, appearances, table = self.field, self.appearances, self.added[number]
        rarest = max(appearances[bot] for bot in table) - 2
        if rarest < min(appearances):
            return False
        seated = {field.authors[bot]: bot for bot in table}
        for new in range(field.bots):
            if appearances[new] > rarest or new in table:
                continue
            same = seated.get(field.authors[new])
            for old in table if same is None else (same,):
                changed = tuple(sorted({*table, new} - {old}))
                if appearances[new] + 2 <= appearances[old] and not self._held[changed]:
                    self._count(table, -1)
                    self._count(changed, 1)
                    self.added[number] = changed
                    return True
        return False

    def _count(self, table: Indices, change: int) -> None:
        for bot in table:
            self.appearances[bot] += change
        for one, two in combinations(table, 2):
            self.met[one][two] += change
            self.met[two][one] += change
        self._held.update(dict.fromkeys(self._subsets(table), change))

    def _subsets(self, table: Indices) -> Iterable[Indices]:
        return (some for seated in self._scarce for some in combinations(table, seated))
