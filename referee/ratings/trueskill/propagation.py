"""TrueSkill for all games at once, by expectation propagation (Minka 2001) to its fixed point.

Each game has one normal factor for each of its players. In a sweep every game is looked at anew: its own factors are
divided out of the players' skills, the game is played with what is left, and its factors become what is missing
between that and its outcome. All games see the same skills, so neither their order nor the bots' names matter.

The means are moved by Newton's step over all bots, since going by one's own games alone would have two bots that only
met each other change places for ever. Games tell differences only, so the mean of all bots that are joined by games is
the prior's at the fixed point: it is held there, where the sweeps would creep.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from referee.errors import RefereeError
from referee.ratings.data.components import components
from referee.ratings.maths.truncated import Floats
from referee.ratings.trueskill.damping import Tempo
from referee.ratings.trueskill.layout import runs
from referee.ratings.trueskill.message_pass import Look, look
from referee.ratings.trueskill.patterns import Pattern
from referee.ratings.trueskill.sites import SiteBlock, Sites

_PRECISE = 1e-9
"""The sweeps end when no mean and no standard deviation is going to move by more."""
_ROUGH = 1.0
"""Until a sweep moves less than this, one order of tied players is enough."""
_NEAR = 0.01
"""Once less than this moves, Newton's matrix is good enough."""
_SWEEPS = 500
_CLOSEST = 1e-10
"""How well games are looked at in the end whose messages are not kept."""
_KEPT = 1 << 21
"""Messages within chains that are kept, of 16 bytes (some 60 with arrays' indices)."""


class Scale(NamedTuple):
    """TrueSkill's constants: the prior's mean and standard deviation, a performance's, and the width of a draw."""

    mu: float
    sigma: float
    beta: float
    margin: float


class SkillFit(NamedTuple):
    """Means and standard deviations, of shape (bots,), what the games said, and how many sweeps it took."""

    mu: Floats
    sigma: Floats
    sites: Sites | None
    sweeps: int


def propagate(found: list[Pattern], bots: int, scale: Scale, way: type[Look] | None = None) -> SkillFit:
    """The skills of `bots` bots after all games of `found`; who is in none keeps the prior.

    `way` is how games are looked at: without it, by the number of rows. Raises RefereeError where nothing settles,
    which no set of games is known to do.
    """
    if not found:
        return SkillFit(np.full(bots, scale.mu), np.full(bots, scale.sigma), None, 0)
    return _Propagation(found, bots, scale, way).run()


class _Propagation:
    def __init__(self, found: list[Pattern], bots: int, scale: Scale, way: type[Look] | None) -> None:
        self._way = way
        self._found = found
        self._scale = scale
        self._sites = Sites.of(found)
        self._joined = components(bots, self._sites.bots.T)
        self._prior = 1 / scale.sigma**2
        self._mean = np.full(bots, scale.mu)
        self._step = np.zeros(bots)
        self._precision = np.full(bots, self._prior)
        self._newton: Floats = np.empty((bots, bots))

    def run(self) -> SkillFit:
        unequal = any(len(pattern.orders()) > 1 for pattern in self._found)
        sweeps = self._settle(_ROUGH if unequal else _PRECISE, unfolded=False)
        if unequal:
            sweeps += self._settle(_PRECISE, unfolded=True)
        return SkillFit(self._mean, self._precision**-0.5, self._sites, sweeps)

    def _blocks(self, *, unfolded: bool) -> Iterator[SiteBlock]:
        parts = list(runs(self._found, unfolded=unfolded))
        rows = [sum(run.rows for run in part) for part in parts]
        way = self._way or look(sum(rows))
        start = held = 0
        for part, many in zip(parts, rows, strict=True):
            stop, held = start + sum(run.many for run in part), held + many * (len(self._sites.bots) - 2)
            seen = way(part, self._scale.beta**2, self._scale.margin, keep=held <= _KEPT)
            yield SiteBlock(self._sites.part(slice(start, stop)), seen)
            start = stop

    def _settle(self, enough: float, *, unfolded: bool) -> int:
        """Sweep until nothing moves by more than `enough`; returns how often."""
        blocks = list(self._blocks(unfolded=unfolded))
        tempo = Tempo()
        moving = math.inf
        for sweep in range(1, _SWEEPS + 1):
            near = moving <= _NEAR
            close = min(max(moving / 100, _CLOSEST), _NEAR)
            for block in blocks:
                block.sweep(self._mean, self._precision, self._step, tempo.pace, bind=not near, close=close)
            if not near:
                self._linearise()
            moving = tempo.after(*self._move(means=tempo.means))
            if moving <= enough:
                return sweep
        raise RefereeError(
            f"The TrueSkill ratings of {self._sites.counts.sum()} games of {len(self._sites.bots)} players did not "
            f"settle: after {_SWEEPS} sweeps they still move by {moving:.1e}, which is a fault of the referee's; the "
            "games are safe, and can be rated in parts until it is mended (--include, --exclude, --rounds)"
        )

    def _linearise(self) -> None:
        """Work out Newton's matrix for the games as they are."""
        held = self._sites.held(len(self._mean))
        self._newton[:] = np.linalg.inv(np.diag(self._prior + held.sum(axis=0)) - held)

    def _move(self, *, means: bool) -> tuple[float, Floats, float]:
        """Move all skills to where the games have them; returns what `Tempo.after` takes."""
        sums = self._sites.sums(len(self._mean))
        mean = self._mean.copy()
        if means:
            mean += self._newton @ (sums.force - self._prior * (mean - self._scale.mu))
            for group in self._joined:
                mean[group] += self._scale.mu - mean[group].mean()
        before, self._precision = self._precision, self._prior + sums.precision
        self._step, self._mean = mean - self._mean, mean
        narrowed = np.abs(self._precision**-0.5 - before**-0.5).max()
        return float(np.abs(self._step).max()), np.log(self._precision / before), float(narrowed)
