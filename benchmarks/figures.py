"""One line of a table of figures: what was tried, what was seen, how sure that is, what it must be, and whether it is.

A bound holds where the figure itself is inside (`yes`), or out by at most two of its Monte Carlo errors (`within its
error`: a longer run decides); else it does not (`NO`). Methods that are spoilt on purpose must be out by more than two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

YES, NOISE, NO = "yes", "within its error", "NO"


class Figure(NamedTuple):
    """One line; `error` is the Monte Carlo error of `seen`, `must` and `holds` are empty where it is only told."""

    what: str
    seen: str
    error: str = ""
    must: str = ""
    holds: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing speaks against it."""
        return self.holds != NO

    def row(self) -> str:
        """Of a table in Markdown."""
        return f"| {' | '.join((self.what, self.seen, self.error, self.must, self.holds))} |"


class Seen(NamedTuple):
    """A number and its Monte Carlo error."""

    value: float
    error: float


def share(hits: Sequence[bool] | np.ndarray) -> Seen:
    """How often something happened; one that never or always did is as uncertain as one in all the runs."""
    mean, runs = float(np.mean(hits)), len(hits)
    return Seen(mean, math.sqrt(max(mean * (1 - mean), 1 / runs) / runs))


def told(what: str, seen: str, error: str = "") -> Figure:
    """Nothing is asked of it."""
    return Figure(what, seen, error)


def judged(excess: float, error: float) -> str:
    """By how far a figure is out of its bounds: 0 or less is inside."""
    return YES if excess <= 0 else NOISE if excess <= 2 * error else NO


def at_most(what: str, seen: Seen, bound: float, note: str = "") -> Figure:
    """A bound from above."""
    return Figure(what, _text(seen, note), _error(seen), f"at most {bound:g}", judged(seen.value - bound, seen.error))


def at_least(what: str, seen: Seen, bound: float, note: str = "") -> Figure:
    """A bound from below."""
    return Figure(what, _text(seen, note), _error(seen), f"at least {bound:g}", judged(bound - seen.value, seen.error))


def noticed(what: str, seen: Seen, bound: float, *, above: bool, note: str = "") -> Figure:
    """A spoilt method, whose figure must be beyond the bound, and not by chance."""
    beyond = (seen.value - bound) * (1 if above else -1) > 2 * seen.error
    must = f"spoilt: {'more' if above else 'less'} than {bound:g}"
    return Figure(what, _text(seen, note), _error(seen), must, YES if beyond else NO)


def _text(seen: Seen, note: str) -> str:
    return f"{seen.value:.4f}" + (f" ({note})" if note else "")


def _error(seen: Seen) -> str:
    return f"{seen.error:.4f}"
