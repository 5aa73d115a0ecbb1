"""What all games of a season share."""

from __future__ import annotations

from dataclasses import dataclass

from referee.bots.process.limits import DEFAULT_BOX, Box, Limits, Reuse
from referee.bots.tiers import Tier
from referee.rules import Rules


@dataclass(frozen=True, slots=True)
class Conditions:
    """The rules, the limits, the pace of a turn in ms, the life of processes, how bots are kept apart, their boxes."""

    rules: Rules
    limits: Limits
    pace_ms: int = 0
    processes: Reuse = Reuse.MANY_GAMES
    isolation: Tier = Tier.D
    box: Box = DEFAULT_BOX
