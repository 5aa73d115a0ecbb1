"""What a bot gets from its referee: time, and how long its process lives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a bot may take, in ms, None for no limit: to say ready, for a decision, for its decisions of a game."""

    start_ms: int | None = 10_000
    move_ms: int | None = 1_000
    game_ms: int | None = None


class Reuse(StrEnum):
    """Whether one process plays many games, or each game gets a new one."""

    MANY_GAMES = "many_games"
    FRESH = "fresh"
