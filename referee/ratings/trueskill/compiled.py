"""`Chain.sweep` and the moments of `truncated`, compiled by numba where it is installed.

Every step is that of the arrays, in the same order, so that the numbers are the same up to rounding. What is gained is
that 64 groups at a time stay in the processor's nearest cache, and that rows need no indices. All is in this one file,
since numba keeps what it compiled until the file changes.
"""

from __future__ import annotations

from math import copysign, exp, sqrt

import numpy as np
from numba import njit  # an extra: whoever imports this looks whether it is there

from referee.ratings.data.columns import Flags, Integers
from referee.ratings.maths import truncated
from referee.ratings.maths.truncated import Floats

_END, _STEPS, _NARROW = truncated.END, truncated.STEPS, truncated.NARROW
_TERMS, _NEGLIGIBLE, _LEAST_VARIANCE = truncated.TERMS, truncated.NEGLIGIBLE, truncated.LEAST_VARIANCE


_COMPILED = njit(cache=True, error_model="numpy")
_INLINE = njit(cache=True, error_model="numpy", inline="always")
Rule = tuple[Floats, Floats]
_LANES = 64
"""Groups worked on side by side."""
_PI, _PHI, _RHO, _PSI, _LEAD, _UNIT, _GAP, _LOW, _HIGH, _VALUE, _OTHER, _RATIO, _SHIFT, _LEFT = range(
    0, 14 * _LANES, _LANES
)
_LINK, _LOWER, _LOWERED, _UPPER, _UPPERED = range(14 * _LANES, 19 * _LANES, _LANES)
_ROUND = 1.5 * 2.0**52
"""Added and taken away again, it rounds to the nearest whole number."""


@_COMPILED
def _excess(t: float) -> float:
    value = t
    for term in range(_TERMS, 1, -1):
        value = t + term / value
    return 1 / value


@_COMPILED
def _integrated(low: float, margin: float, rule: Rule) -> tuple[float, float]:
    reach = min(2 * margin, 2 * _NEGLIGIBLE / (low + sqrt(low * low + 2 * _NEGLIGIBLE)))
    mass = mean = 0.0
    for number in range(len(rule[0])):
        node, weight = rule[0][number], rule[1][number]
        step = reach * node
        density = weight * exp(-step * (low + step / 2))
        mass += density
        mean += density * step
    mean /= mass
    variance = 0.0
    for number in range(len(rule[0])):
        node, weight = rule[0][number], rule[1][number]
        step = reach * node
        variance += weight * exp(-step * (low + step / 2)) / mass * (step - mean) ** 2
    return low + mean, variance


@_COMPILED
def _gather(room: Floats, lanes: int, at: int, to: int, table: Floats) -> None:
    for lane in range(lanes):
        near = max(min(room[at + lane], _END), -_END)
        room[to + lane] = table[np.int64(near * _STEPS + _ROUND - _ROUND + _END * _STEPS)]


@_INLINE
def _mills(t: float, value: float) -> float:
    near = max(min(t, _END), -_END)
    at = (near * _STEPS + _ROUND - _ROUND) / _STEPS
    step = near - at
    first = at * value - 1
    second = at * first + value
    third = at * second + 2 * first
    return value + step * (first + step / 2 * (second + step / 3 * third))


@_COMPILED
def _won(room: Floats, lanes: int, table: Floats) -> None:
    _gather(room, lanes, _LOW, _VALUE, table)
    for lane in range(lanes):
        low = room[_LOW + lane]
        shift = 1 / _mills(low, room[_VALUE + lane])
        room[_SHIFT + lane] = shift
        room[_LEFT + lane] = 1 - shift * (shift - low)
    if room[_LOW : _LOW + lanes].max() <= _END:
        return
    for lane in range(lanes):
        low = room[_LOW + lane]
        if low > _END:
            beyond = _excess(low)
            room[_SHIFT + lane] = low + beyond
            room[_LEFT + lane] = max(1 - (low + beyond) * beyond, _LEAST_VARIANCE)


@_COMPILED
def _drawn(room: Floats, lanes: int, margin: float, table: Floats, rule: Rule) -> None:
    for lane in range(lanes):
        distance, width = abs(room[_GAP + lane]), margin * room[_UNIT + lane]
        room[_LOW + lane], room[_HIGH + lane] = distance - width, distance + width
        room[_RATIO + lane] = -2 * distance * width
    _gather(room, lanes, _LOW, _VALUE, table)
    _gather(room, lanes, _HIGH, _OTHER, table)
    for lane in range(lanes):
        room[_RATIO + lane] = exp(room[_RATIO + lane])
    for lane in range(lanes):
        low, high, ratio = room[_LOW + lane], room[_HIGH + lane], room[_RATIO + lane]
        mass = _mills(low, room[_VALUE + lane]) - ratio * _mills(high, room[_OTHER + lane])
        shift = (1 - ratio) / mass
        room[_SHIFT + lane] = shift
        room[_LEFT + lane] = 1 + (low - high * ratio) / mass - shift * shift
    for lane in range(lanes):
        low, width = room[_LOW + lane], margin * room[_UNIT + lane]
        if width < _NARROW or (room[_HIGH + lane] > _END and low > 0):
            room[_SHIFT + lane], room[_LEFT + lane] = _integrated(low, width, rule)
        room[_SHIFT + lane] = -copysign(room[_SHIFT + lane], room[_GAP + lane])
        room[_LEFT + lane] = max(room[_LEFT + lane], _LEAST_VARIANCE)


@_COMPILED
def _cut(room: Floats, lanes: int, tied: bool, margin: float, table: Floats, rule: Rule) -> None:
    for lane in range(lanes):
        variance, others = 1 / room[_PI + lane], 1 / room[_RHO + lane]
        unit = 1 / sqrt(variance + others)
        mean, other = room[_PHI + lane] / room[_PI + lane], room[_PSI + lane] / room[_RHO + lane]
        gap = (mean - other + room[_LEAD + lane]) * unit
        room[_UNIT + lane], room[_GAP + lane], room[_LOW + lane] = unit, gap, margin * unit - gap
    if tied:
        _drawn(room, lanes, margin, table, rule)
    else:
        _won(room, lanes, table)
    for lane in range(lanes):
        variance, others = 1 / room[_PI + lane], 1 / room[_RHO + lane]
        mean, other = room[_PHI + lane] / room[_PI + lane], room[_PSI + lane] / room[_RHO + lane]
        unit, left = room[_UNIT + lane], room[_LEFT + lane]
        push, curvature = room[_SHIFT + lane] * unit, (1 - left) * unit * unit
        room[_LINK + lane] = curvature / left
        found = curvature / (1 - curvature * others)
        room[_LOWER + lane], room[_LOWERED + lane] = found, found * (other - push * others) - push
        found = curvature / (1 - curvature * variance)
        room[_UPPER + lane], room[_UPPERED + lane] = found, found * (mean + push * variance) + push


@_COMPILED
def _blur(room: Floats, lanes: int, noise: float) -> None:
    for lane in range(lanes):
        blur = 1 + noise * room[_PI + lane]
        room[_PI + lane], room[_PHI + lane] = room[_PI + lane] / blur, room[_PHI + lane] / blur


@_COMPILED
def _down_and_up(
    room: Floats,
    lanes: int,
    ties: Flags,
    leads: Floats,
    own: Floats,
    below: Floats,
    lower: Floats,
    links: Floats,
    margin: float,
    table: Floats,
    rule: Rule,
) -> None:
    """What `Chain.sweep` does: down to the last difference and back up; what is above one stays as on the way down.

    `below[k]` is what difference k says about the performance above it, and `lower[k + 1]` about the one below it.
    """
    last = len(ties) - 1
    above = np.empty_like(own)
    above[0] = own[0]
    for turn in range(2 * last + 1):
        k = turn if turn <= last else 2 * last - turn
        for lane in range(lanes):
            room[_PI + lane], room[_PHI + lane] = above[k, 0, lane], above[k, 1, lane]
        for lane in range(lanes):
            room[_RHO + lane], room[_PSI + lane] = own[k + 1, 0, lane], own[k + 1, 1, lane]
        for lane in range(lanes if k < last else 0):
            room[_RHO + lane] += below[k + 1, 0, lane]
            room[_PSI + lane] += below[k + 1, 1, lane]
        room[_LEAD : _LEAD + lanes] = leads[k, :lanes]
        _cut(room, lanes, ties[k], margin, table, rule)
        lower[k + 1, 0, :lanes] = room[_LOWER : _LOWER + lanes]
        lower[k + 1, 1, :lanes] = room[_LOWERED : _LOWERED + lanes]
        links[k, :lanes] = room[_LINK : _LINK + lanes]
        if turn < last:
            for lane in range(lanes):
                above[k + 1, 0, lane] = own[k + 1, 0, lane] + room[_LOWER + lane]
                above[k + 1, 1, lane] = own[k + 1, 1, lane] + room[_LOWERED + lane]
        else:
            below[k, 0, :lanes] = room[_UPPER : _UPPER + lanes]
            below[k, 1, :lanes] = room[_UPPERED : _UPPERED + lanes]


@_COMPILED
def _add(room: Floats, lanes: int, noise: float, gap: Floats, share: Floats) -> None:
    """Add what the game does to a player: of beliefs `_RHO` and `_PSI`, told `_PI` and `_PHI` of the performance."""
    _blur(room, lanes, noise)
    for lane in range(lanes):
        both = room[_RHO + lane] + room[_PI + lane]
        room[_GAP + lane] = (room[_PSI + lane] + room[_PHI + lane]) / both
        room[_LEFT + lane] = room[_PI + lane] / both
    for lane in range(lanes):
        gap[lane] += room[_GAP + lane]
    for lane in range(lanes):
        share[lane] += room[_LEFT + lane]


@_COMPILED
def pass_chains(
    ties: Flags,
    orders: Integers,
    groups: tuple[int, int],
    row: int,
    precision: Floats,
    force: Floats,
    means: Floats,
    upward: Floats,
    scale: tuple[float, float],
    table: Floats,
    rule: Rule,
    gaps: Floats,
    shares: Floats,
    bonds: Floats,
) -> None:
    """One pass of all chains of a run of groups, and what it says on average over the orders of the tied.

    `ties` and `orders` are the run's, `groups` where it begins and ends in what follows, and `row` where its rows do:
    one for each order and group. `precision`, `force` and `means`, of shape (n, groups), are the beliefs about the
    players; `upward`, of shape (n - 2, 2, rows), the messages that `Chain.sweep` takes and leaves. `scale` is a
    performance's variance and the margin, `table` and `rule` are those of `truncated`. Written to are `gaps` and
    `shares`, of shape (n, groups): how far the mean moves, and what share of the precision then is the game's; and the
    `bonds` of `network`, of shape (n (n - 1) / 2, groups), unless that has no rows.
    """
    noise, margin = scale
    n = len(ties) + 1
    room = np.empty(19 * _LANES)
    own, below, lower = np.zeros((n, 2, _LANES)), np.zeros((n, 2, _LANES)), np.zeros((n, 2, _LANES))
    leads, links = np.empty((n - 1, _LANES)), np.empty((n - 1, _LANES))
    for first in range(groups[0], groups[1], _LANES):
        lanes = min(_LANES, groups[1] - first)
        part = slice(first, first + lanes)
        gaps[:, part] = 0.0
        shares[:, part] = 0.0
        bonds[:, part] = 0.0
        for number in range(len(orders)):
            order = orders[number]
            at = row + number * (groups[1] - groups[0]) + first - groups[0]
            for k in range(n):
                room[_PI : _PI + lanes] = precision[order[k], part]
                room[_PHI : _PHI + lanes] = force[order[k], part]
                _blur(room, lanes, noise)
                own[k, 0, :lanes] = room[_PI : _PI + lanes]
                own[k, 1, :lanes] = room[_PHI : _PHI + lanes]
            for k in range(n - 1):
                leads[k, :lanes] = means[order[k], part] - means[order[k + 1], part]
            for k in range(n - 2):
                below[k + 1, :, :lanes] = upward[k, :, at : at + lanes]
            _down_and_up(room, lanes, ties, leads, own, below, lower, links, margin, table, rule)
            for k in range(n - 2):
                upward[k, :, at : at + lanes] = below[k + 1, :, :lanes]
            for k in range(n):
                for lane in range(lanes):
                    room[_PI + lane] = below[k, 0, lane] + lower[k, 0, lane]
                    room[_PHI + lane] = below[k, 1, lane] + lower[k, 1, lane]
                room[_RHO : _RHO + lanes] = precision[order[k], part]
                room[_PSI : _PSI + lanes] = force[order[k], part]
                _add(room, lanes, noise, gaps[order[k], part], shares[order[k], part])
            for lane in range(lanes if len(bonds) else 0):
                _bind(links[:, lane], noise, order, bonds[:, first + lane])
        gaps[:, part] /= len(orders)
        shares[:, part] /= len(orders)
        bonds[:, part] /= len(orders)


@_COMPILED
def _bind(links: Floats, noise: float, order: Integers, bonds: Floats) -> None:
    """Add the bonds of one row: see `network.bonds`."""
    n = len(order)
    head, tail = np.empty(n), np.empty(n)
    head[0] = tail[n - 1] = 1.0
    for k in range(n - 1):
        link = noise * links[k]
        head[k + 1] = 1 + link * head[k] / (link + head[k])
    for k in range(n - 2, -1, -1):
        link = noise * links[k]
        tail[k] = 1 + link * tail[k + 1] / (link + tail[k + 1])
    for i in range(n - 1):
        potential = 1 / (noise * (head[i] + tail[i] - 1))
        for k in range(i, n - 1):
            link = noise * links[k]
            potential = potential * (link / (link + tail[k + 1]))
            a, b = min(order[i], order[k + 1]), max(order[i], order[k + 1])
            bonds[a * (2 * n - a - 1) // 2 + b - a - 1] += potential
