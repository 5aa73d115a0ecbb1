"""Who sits where: each deal is played in every rotation of the seats, and who precedes whom changes with the deal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from referee.cards import permutations_of
from referee.record import Bot, LineUp
from referee.tournament.rounds.keys import seating_key

ORDERS: dict[int, tuple[tuple[int, ...], ...]] = {
    size: tuple(tuple(map(int, order)) for order in orders.split())
    for size, orders in {
        2: "01",
        3: "012 021",
        4: "0123 0321 0132 0231 0213 0312",
        5: "01234 02413 03142 04321",
        6: (
            "012345 024153 035142 054321 013254 045231 021435 031524 042513 053412 "
            "014532 023541 034215 051243 025314 041352 015423 032451 043125 052134"
        ),
    }.items()
}
"""By number of players: the circles in which a line-up sits, deal after deal, as indices into it.

Over a whole list everyone sits at every distance before everyone else equally often. Immediately before, this holds
already after 1, 2, 6, 4 and 10 circles, the fewest that can do it: equal shares need a multiple of size - 1, and
size - 1 circles in which no neighbours recur exist for all sizes but 4 and 6 (T. W. Tillson, A Hamiltonian
decomposition of K*2m, 2m >= 8, J. Combin. Theory B 29, 1980). Cut off anywhere, nobody has sat before somebody more
than once oftener than anyone before anyone, but for the third circle of four players and the fifth of six, where by
the same theorem the difference must be 2.

With five players the circles go on by 1, 2, 4 and 3 places; with three and four they are all there are. With six they
are the twenty images of one circle, a 6-cycle of PGL(2, 5), under that group, which takes any three of its six points
to any three in just one way: so any three bots have any three relative places once. The twenty fall in six ways into
halves that each balance neighbours; of these, and of the orders of a half whose beginnings are balanced as above, the
first was taken.
"""


def seats_of(size: int, deal: int, rotation: int) -> tuple[int, ...]:
    """Who sits where in a game: by seat, the index into the line-up.

    `size` is 2 to 6, `rotation` 0 to size - 1. The line-up's first has the seat `rotation`. Over all rotations of a
    deal everyone has every seat once.
    """
    circles = ORDERS[size]
    circle = circles[deal % len(circles)]
    return circle[size - rotation :] + circle[: size - rotation]


BALANCE = {2: 1, 3: 2, 4: 6, 5: 4, 6: 10}
"""By number of players: after how many deals everyone has sat immediately before everyone else equally often."""

CANDIDATES = 24
"""How many orders of its members are tried for each line-up."""


class Seating(NamedTuple):
    """How a line-up sits in a round: its first deal, and its members in the order in which the circles take them."""

    first: int
    order: tuple[int, ...]

    def seats(self, deal: int, rotation: int) -> tuple[int, ...]:
        """Return by seat the index into the line-up."""
        return tuple([self.order[index] for index in seats_of(len(self.order), deal - self.first, rotation)])


def spread(secret: bytes, played: Iterable[tuple[LineUp, int, int]]) -> dict[LineUp, Seating]:
    """Return the seating of each line-up of a round, given with its first deal and its number of deals.

    Where the deals of a line-up are not a multiple of `BALANCE`, the rest of them leaves some bots immediately before
    others more often. So line-ups are taken one after the other, as the round names them. Each draws `CANDIDATES`
    orders from its own stream, and gets the first of those whose rest falls to the pairs of bots that have had least
    so far, over all line-ups of its size. Names decide nothing: the orders come from the secret.
    """
    counts: dict[int, Counter[tuple[Bot, Bot]]] = {}
    found = {}
    for line_up, first, deals in played:
        size = len(line_up)
        there, rest = counts.setdefault(size, Counter()), _neighbours(size, deals % BALANCE[size])
        drawn = permutations_of(range(size), seating_key(secret, line_up), CANDIDATES if rest else 1)
        order = min(drawn, key=lambda order: _cost(there, rest, [line_up[member] for member in order]))
        for (one, two), times in rest.items():
            there[line_up[order[one]], line_up[order[two]]] += times
        found[line_up] = Seating(first, order)
    return found


def _neighbours(size: int, deals: int) -> Counter[tuple[int, int]]:
    """Return how many of the first `deals` circles have one place immediately before another."""
    return Counter((circle[place - 1], circle[place]) for circle in ORDERS[size][:deals] for place in range(size))


def _cost(there: Counter[tuple[Bot, Bot]], rest: Counter[tuple[int, int]], bots: Sequence[Bot]) -> int:
    """Return by how much the sum of the squares of all counts grows, but for what is the same for every order."""
    return sum(times * there[bots[one], bots[two]] for (one, two), times in rest.items())
