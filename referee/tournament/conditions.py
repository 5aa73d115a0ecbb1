"""What all games of a season share."""

from __future__ import annotations

from dataclasses import dataclass

from referee.bots.limits import Limits, Reuse
from referee.rules import Rules

NO_ISOLATION = "none"
"""The tier of bots that run with the rights of whoever runs the referee."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The rules, the limits, the pace of a turn in ms, the life of processes, and how bots are kept apart."""

    rules: Rules
    limits: Limits
    pace_ms: int = 0
    processes: Reuse = Reuse.MANY_GAMES
    isolation: str = NO_ISOLATION
