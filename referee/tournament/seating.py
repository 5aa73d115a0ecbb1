"""Who sits where: each deal is played in every rotation of the seats, and who precedes whom changes with the deal."""

from __future__ import annotations

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
