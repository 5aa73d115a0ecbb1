"""Line-ups that are added one by one: to those that are there, or where bots of one author are kept apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop
from itertools import combinations
from operator import add

from referee.tournament.field import Field, Indices
from referee.tournament.keys import derive

_SAME_FOR_ALL = b"apart"


def additions(field: Field, there: Collection[Indices], targets: Sequence[int], salt: bytes) -> list[Indices]:
    """The line-ups that bring every bot to its target of appearances, those in `there` counted.

    None of them could be left out. Bots of one author must have one target, and none more than it has line-ups.
    """
    growth = _Growth(field, there, salt, room=len(there) + sum(targets))
    while any(needs := growth.needs(targets)):
        growth.seat(needs)
    growth.drop_needless(targets)
    return growth.added


def spread_sample(field: Field, limit: int) -> list[Indices]:
    """`limit` different line-ups, fewer than there are.

    No bot appears more than once oftener than another that could take its place in one of its line-ups and make a
    new one. Depends on the numbers of bots that authors have, and on nothing else: so it says beforehand how often a
    bot of such an author appears, whatever the salt that gives bots their numbers.
    """
    growth = _Growth(field, (), _SAME_FOR_ALL, room=limit)
    nothing = [0] * len(field.bots_of)
    for _ in range(limit):
        growth.seat(nothing)
    growth.level()
    return growth.added


class _Growth:
    """Line-ups in the making, beside those that are there.

    `met` says how often two bots meet. `_held` says in how many line-ups some bots sit together, for such
    numbers of bots as could possibly have no further line-up: so a table that is filled never turns out to be there.
    """

    def __init__(self, field: Field, there: Iterable[Indices], salt: bytes, *, room: int) -> None:
        self.field = field
        self.added: list[Indices] = []
        self.appearances = [0] * field.bots
        self.met = [[0] * field.bots for _ in range(field.bots)]
        self._salt = salt
        self._lots: list[bytes] = []
        self._scarce = [seated for seated in range(1, field.size + 1) if field.fewest_completions(seated) <= room]
        self._held: Counter[Indices] = Counter()
        for table in there:
            self._count(table, 1)

    def needs(self, targets: Sequence[int]) -> list[int]:
        """How many appearances the bots of each author lack."""
        lacking = [max(0, target - there) for target, there in zip(targets, self.appearances, strict=True)]
        return [sum(lacking[bot] for bot in bots) for bots in self.field.bots_of]

    def seat(self, needs: Sequence[int]) -> None:
        """Add a line-up: of the author who lacks most the bot with the fewest appearances, and so on.

        Among equals the bot comes first that has met the least of this table, and then lots decide. The author who
        lacks most comes first, as only one of the author's bots can sit at a table.
        """
        if len(self.added) % max(1, self.field.bots // self.field.size) == 0:
            self._lots = [derive(self._salt, "lot", len(self.added), bot) for bot in range(self.field.bots)]
        table: list[int] = []
        load = [0] * self.field.bots
        while len(table) < self.field.size:
            waiting = self._waiting(table, needs, load)
            while self._is_exhausted(bot := heappop(waiting)[-1], table):
                pass
            table.append(bot)
            load = list(map(add, load, self.met[bot]))
        line_up = tuple(sorted(table))
        self.added.append(line_up)
        self._count(line_up, 1)

    def _waiting(
        self, table: Sequence[int], needs: Sequence[int], load: Sequence[int]
    ) -> list[tuple[int, int, int, bytes, int]]:
        """A heap of the bots that may join a table, whoever is to come first on top."""
        authors, seated = self.field.authors, {self.field.authors[bot] for bot in table}
        waiting = [
            (-needs[author], self.appearances[bot], load[bot], self._lots[bot], bot)
            for bot, author in enumerate(authors)
            if author not in seated
        ]
        heapify(waiting)
        return waiting

    def _is_exhausted(self, bot: int, table: Sequence[int]) -> bool:
        """Whether every line-up that holds this table and this bot is there already."""
        if len(table) + 1 not in self._scarce:
            return False
        together = tuple(sorted((*table, bot)))
        return self._held[together] >= self.field.completions(together)

    def drop_needless(self, targets: Sequence[int]) -> None:
        """Take back every line-up whose bots all reach their targets without it."""
        for table in self.added[::-1]:
            if all(self.appearances[bot] > targets[bot] for bot in table):
                self.added.remove(table)
                self._count(table, -1)

    def level(self) -> None:
        """Let bots take the place of others that appear at least twice oftener, until nowhere one can.

        Each time the sum of the squares of appearances falls, so this ends.
        """
        changed = True
        while changed:
            changed = False
            for number in range(len(self.added)):
                while self._replace_one(number):
                    changed = True

    def _replace_one(self, number: int) -> bool:
        """Make one replacement at this table, if there is one."""
        field, appearances, table = self.field, self.appearances, self.added[number]
        rarest = max(appearances[bot] for bot in table) - 2
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
