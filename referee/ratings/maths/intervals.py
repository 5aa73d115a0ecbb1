"""From what deals and model say of errors to intervals: one standard error each, and its degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from referee.ratings.data.columns import Numbers
from referee.ratings.maths.student import quantiles, upper_tail

TAIL = 0.025
"""Beyond each end of an interval of 95%."""
WORTH = 4.0
"""How much the model's variance weighs beside the robust one, in degrees of freedom."""
KNOWN = 12.0
"""Degrees of freedom with which the model's variance is itself known between two bots; so many for each other seat.

Its squared relative error is 2 over them.
"""
LEAST = 0.7
"""The share of the model's error that is believed in any case."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Standard errors of some estimates and the degrees of `freedom` of Student's t for them: arrays of one shape."""

    error: Numbers
    freedom: Numbers

    def reach(self, tail: float) -> Numbers:
        """Half the length of the intervals that leave `tail` on each side."""
        reach: Numbers = quantiles(tail, self.freedom) * self.error
        return reach


def moderated(robust: Numbers, freedom: Numbers, model: Numbers, seats: int) -> Errors:
    """Errors from `robust` variances by deal, with their degrees of freedom, and those of the `model` of a table size.

    Where they rest on few deals, robust variances are short of the truth or far beyond it, the more so for estimates
    of which rare results decide. So both variances are averaged, the robust one weighing as much as it has degrees of
    freedom and the model's as much as `WORTH` (the moderated t of Smyth 2004). The average is known better than either:
    its own degrees of freedom are those of Satterthwaite (1946). With more deals the model is soon forgotten,
    but for `LEAST` of its error: that deals all came out alike does not prove that they always will.
    """
    together = freedom + WORTH
    variances = (freedom * robust + WORTH * model) / together
    error = np.sqrt(np.maximum(variances, LEAST**2 * model))
    return Errors(error, together**2 / (freedom + WORTH**2 / (KNOWN * (seats - 1))))


def probability(value: float, error: float, freedom: float) -> float:
    """How probable it is, by t, that the true value is above 0; from .001 to .999, as far as tails can be trusted."""
    return min(max(1 - upper_tail(value / error, freedom), 0.001), 0.999)
