"""How the other seats play, in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from referee.actions import KEEP, WIDOW, Action
from referee.rules import Question

Manner = Callable[[Question], Action]


def takes(question: Question) -> Action:
    """The first legal action: the lowest card, the largest discard, the widow."""
    return question.legal[0]


def keeps(question: Question) -> Action:
    """Lays its lowest card, and keeps what it draws."""
    return question.legal[0] if question.drawn is None else KEEP


def only_widows(question: Question) -> Action:
    """Puts widows down, and keeps all else."""
    return question.legal[0] if question.drawn is None or question.legal[0] is WIDOW else KEEP


@dataclass(frozen=True, slots=True)
class AtRandom:
    """Any legal action, the same for the same question and seed, whatever was asked before."""

    seed: int

    def __call__(self, question: Question) -> Action:
        """The action."""
        asked = question
        seen = f"{self.seed} {asked.seat} {asked.hand} {asked.drawn} {asked.talon_size} {asked.kept_in_a_row}"
        return asked.legal[crc32(seen.encode()) % len(asked.legal)]
