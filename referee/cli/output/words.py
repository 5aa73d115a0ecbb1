"""Words that several commands need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.tournament.rounds.rounds import Round


def in_json(value: object, *, indent: int | None = None) -> str:
    """A document in visible ASCII: nothing that a bot said, or that stands in a name, reaches a terminal as it is."""
    return json.dumps(value, indent=indent).replace("\x7f", "\\u007f")


def sealed_in_words(one: Round) -> str:
    """What is known of an open round's decks: its commitment, or that they come from a seed."""
    return f"its commitment is {one.commitment}" if one.sealed else "it is not sealed: its decks come from a seed"


def closed_in_words(one: Round) -> str:
    """That a round is closed, and its secret."""
    secret = f"its secret was {one.secret.hex()}" if one.sealed else "it was not sealed"
    return f"round {one.number} is closed; {secret}"
