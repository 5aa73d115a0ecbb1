"""How the games of a round follow from its secret: as they do now, or as they did in rounds of older versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from referee.cards import shuffled
from referee.record import LineUp
from referee.tournament.rounds.keys import dealt
from referee.tournament.rounds.seating import Seating, seats_of

FORMAT: Literal[2] = 2
"""Of the manifests of rounds that are opened now. The records of their games have the same version."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """What the `format` of a round's manifest decides, and how its line-ups sit.

    In format 1 all rotations of a deal are dealt the same cards, and who sits where follows from the names alone.
    A line-up without a seating sits in the order of its members.
    """

    format: int = FORMAT
    seatings: Mapping[LineUp, Seating] = field(default_factory=dict)

    def deck(self, key: bytes, rotation: int) -> tuple[int, ...]:
        """Return the deck of one rotation of the deal with this key."""
        return shuffled(key) if self.format == 1 else dealt(key, rotation)

    def seats(self, line_up: LineUp, deal: int, rotation: int) -> tuple[int, ...]:
        """Return by seat the index into the line-up."""
        seating = self.seatings.get(line_up)
        return seats_of(len(line_up), deal, rotation) if seating is None else seating.seats(deal, rotation)

    def only(self, line_ups: Collection[LineUp]) -> Derivation:
        """Return the same for some line-ups alone, to be sent elsewhere."""
        return Derivation(self.format, {one: self.seatings[one] for one in line_ups if one in self.seatings})
