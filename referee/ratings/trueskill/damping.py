"""How far each sweep goes: all the way, until means and precisions chase one another."""

from __future__ import annotations

import math

import numpy as np

from referee.ratings.maths.truncated import Floats

_FIRST = 5
"""Sweeps that start far away may do what they like."""
_SLOW = 0.3
"""Two sweeps are to take off at least 1 less this of what moves."""
_LEAST = 1 / 64


class Tempo:
    """What the next sweep moves: `means` or not, and the precisions by `pace`, from 0 to 1 of the way.

    Both are moved at once at first. For a bot that only won, each moves the other's aim by more than itself: where
    that shows, they are moved in turns. Precisions whose aim then swings about them, as after nothing but draws, are
    moved a part of the way.
    """

    def __init__(self) -> None:
        self.means = True
        self.pace = 1.0
        self._turns = False
        self._part = 1.0
        self._moved = [math.inf, math.inf]
        self._left = [math.inf, math.inf]
        self._sweeps = 0
        self._before: Floats | None = None

    def after(self, moved: float, narrower: Floats, narrowed: float) -> float:
        """Choose the next sweep, and say how far means and standard deviations are still going to move, at a guess.

        By the last one, some mean moved by `moved`, the logarithms of the precisions by `narrower`, of shape (bots,),
        and some standard deviation by `narrowed`.
        """
        self._sweeps += 1
        if self._turns and not self.means:
            self._adapt(narrower)
        latest = max(moved, narrowed / (self.pace or 1))
        # What moves shrinks by as much every two sweeps, though often by little and much in turns.
        share = latest / self._moved[0] if 0 < latest < self._moved[0] < math.inf else float(latest > 0)
        self._moved = [self._moved[1], latest]
        self._left = [self._left[1], latest * (share if self._turns else math.sqrt(share))]
        left = max(self._left) if self._turns else self._left[1]
        self._turns = self._turns or (self._sweeps > _FIRST and share > _SLOW)
        if self._turns:
            self.means = not self.means
            self.pace = 0.0 if self.means else self._part
        return left

    def _adapt(self, narrower: Floats) -> None:
        if self._before is not None:
            size = float(np.dot(self._before, self._before))
            along = float(np.dot(narrower, self._before)) / size if size else 0.0
            if along < -0.3:
                self._part = max(self._part * (0.5 if along < -0.8 else 0.7), _LEAST)
            elif along > 0.3:
                self._part = min(self._part * 1.4, 1.0)
        self._before = narrower
