"""The strengths of a table once more, by definition: loops over games, dense matrices, no algebra saved."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.maths.student import quantile
from referee.record import Bot, GameResult


class Slow(NamedTuple):
    """By bots in order of name: strengths, and by two contrasts, parts of deals in their errors, and the model's covariance."""

    logits: NDArray[np.float64]
    influence: NDArray[np.float64]
    model: NDArray[np.float64]
    seats: int

    def errors(self, contrast: NDArray[np.float64]) -> tuple[float, float]:
        """Standard error and degrees of freedom."""
        z = self.influence @ contrast
        deals = len(z)
        second, fourth = sum(z**2), sum(z**4)
        freedom = deals - 1 if fourth == 0 else second**2 / fourth - 1
        robust, model = second * deals / (deals - 1), contrast @ self.model @ contrast
        error = math.sqrt(max((freedom * robust + 4 * model) / (freedom + 4), 0.49 * model))
        return error, (freedom + 4) ** 2 / (freedom + 4**2 / (12 * (self.seats - 1)))

    def reach(self, contrast: NDArray[np.float64], tail: float = 0.025) -> float:
        error, freedom = self.errors(contrast)
        return quantile(tail, freedom) * error


def slow(results: Sequence[GameResult]) -> Slow:
    """Rated games of bots that all met."""
    bots = sorted({bot for result in results for bot in result.seats})
    size = len(bots)
    by_line_up: defaultdict[tuple[Bot, ...], list[GameResult]] = defaultdict(list)
    for result in results:
        by_line_up[result.line_up].append(result)
    weight = {line_up: len(results) / len(by_line_up) / len(games) for line_up, games in by_line_up.items()}

    def pairs(result: GameResult) -> list[tuple[int, int, float]]:
        seated = list(zip(result.seats, result.places, strict=True))
        return [
            (bots.index(one), bots.index(other), 1.0 if place < behind else 0.5 if place == behind else 0.0)
            for number, (one, place) in enumerate(seated)
            for other, behind in seated[number + 1 :]
        ]

    def win(strengths: NDArray[np.float64], one: int, other: int) -> float:
        return 1 / (1 + math.exp(strengths[other] - strengths[one]))

    def slope_and_bend(strengths: NDArray[np.float64], power: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        slope, bend = np.zeros(size), np.zeros((size, size))
        for result in results:
            by = weight[result.line_up] ** power
            for one, other, won in pairs(result):
                p, unit = win(strengths, one, other), np.eye(size)[one] - np.eye(size)[other]
                slope += by * (won - p) * unit
                bend += by * p * (1 - p) * np.outer(unit, unit)
        for bot in range(size):
            p = 1 / (1 + math.exp(-strengths[bot]))
            slope[bot] += 0.5 * (1 - p) - 0.5 * p
            bend[bot, bot] += p * (1 - p)
        return slope, bend

    strengths = np.zeros(size)
    for _ in range(400):
        slope, bend = slope_and_bend(strengths, 1)
        step = np.linalg.solve(bend, slope)
        strengths += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-13:
            break
    bread = np.linalg.inv(slope_and_bend(strengths, 1)[1])
    centre = np.eye(size) - 1 / size
    scores: defaultdict[object, NDArray[np.float64]] = defaultdict(lambda: np.zeros(size))
    surplus: defaultdict[object, NDArray[np.float64]] = defaultdict(lambda: np.zeros(size))
    variance = 4.0
    for result in results:
        deal = result.line_up, result.deal
        for one, other, won in pairs(result):
            p, unit = win(strengths, one, other), np.eye(size)[one] - np.eye(size)[other]
            scores[deal] += weight[result.line_up] * (won - p) * unit
            surplus[deal] += (won - p) * unit
            variance += 2 * p * (1 - p)
    dispersion = (4.0 + sum(sum(one**2) for one in surplus.values())) / variance
    influence = np.array(list(scores.values())) @ bread @ centre
    model = dispersion * centre @ bread @ slope_and_bend(strengths, 2)[1] @ bread @ centre
    return Slow(centre @ strengths, influence, model, len(results[0].seats))
