"""The axis on which all intervals of a table are drawn, on pages and in terminals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

STEP = 0.05
"""An axis ends at multiples of this."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Scores from `low` to `high`."""

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def around(cls, values: Iterable[float | None]) -> Axis:
        """The shortest that has all values; from 0 to 1 where there are none."""
        known = [value for value in values if value is not None]
        if not known:
            return cls()
        low = math.floor(min(known) / STEP + 1e-9) * STEP
        high = max(math.ceil(max(known) / STEP - 1e-9) * STEP, low + STEP)
        return cls(round(low, 9), round(high, 9))

    @property
    def ends(self) -> tuple[str, str]:
        """Where it begins and ends, in words."""
        return f"{self.low:.2f}", f"{self.high:.2f}"

    @property
    def shows_middle(self) -> bool:
        """Whether the middle of all scores is on it, and not at an end."""
        return self.low < 0.5 < self.high

    def share(self, value: float) -> float:
        """How far along a value is: 0 at the beginning, 1 at the end."""
        return (value - self.low) / (self.high - self.low)
