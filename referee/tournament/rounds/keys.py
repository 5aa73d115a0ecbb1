"""From a round's secret to every deal, game and seed: HMAC-SHA256 all the way down, one label for each purpose.

    secret of the round (16 bytes)
    +-- "deal", number of bots, name and hash of each, deal     a deal: its cards are `shuffled(deal key)`
    |   +-- "disguise", rotation                                the labels under which a rotation is dealt
    |   +-- "order", rotation                                   when a rotation plays the deal, within its block
    |   +-- "game", rotation, attempt                           one playing of it
    |       +-- "id"                                            what bots know the game by
    |       +-- "bot", seat                                     the seed of that seat's own dice
    +-- "seating", number of bots, name and hash of each        how a line-up sits in the round
    +-- "line-ups"                                              which line-ups play where there are too many

A key tells nothing of the one above it, nor of those beside it: a bot that knows its game's id and its own seed is no
nearer to the deck. An author may choose his bot's name and content as he likes; without the secret, which is drawn
when the round's bots are frozen, he cannot try out which of them get good deals. A secret that has been published is
spent: no bot enters its round afterwards.
"""

from __future__ import annotations

import hmac
from functools import lru_cache

from referee.cards import relabelling, shuffled
from referee.record import LineUp

SECRET_SIZE = 16
"""Bytes in a round's secret."""

_EIGHT = (8).to_bytes(4, "big")
_PRACTICE = b"practice"


def derive(key: bytes, label: str, *fields: str | int) -> bytes:
    """The 32 bytes that belong to `label` and `fields` under `key`: HMAC-SHA256(key, message).

    The message is the label and then the fields, one after the other. A text, such as the label, is written as the
    length of its UTF-8 in 4 bytes, most significant first, and that UTF-8; a number from 0 to 2**64 - 1 as 8, its
    own length, in 4 bytes and then the number in 8, most significant first. A label says what fields follow, so no
    two lists of fields make one message. `tests/unit/tournament/test_keys.py` spells one out.
    """
    framed = [_framed(field) if isinstance(field, str) else _EIGHT + field.to_bytes(8, "big") for field in fields]
    return hmac.digest(key, b"".join((_framed(label), *framed)), "sha256")


@lru_cache(maxsize=4096)  # every game frames the names of its bots
def _framed(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(4, "big") + data


def deal_key(secret: bytes, line_up: LineUp, deal: int) -> bytes:
    """The key of one deal of a line-up: derive(secret, "deal", size, name, hash, name, hash, ..., deal).

    `size` counts the bots; they stand as in the line-up, which a tournament sorts by name and then by hash. All
    rotations of a deal share this key.
    """
    return derive(secret, "deal", *_members(line_up), deal)


def dealt(key: bytes, rotation: int) -> tuple[int, ...]:
    """Return the deck of one rotation of a deal: the cards of the deal key, under labels of the rotation's own.

    The labels are `referee.cards.relabelling(derive(deal key, "disguise", rotation))`. A bot that still knows what it
    saw in another rotation of the deal finds no hand that it could look up.
    """
    labels = relabelling(derive(key, "disguise", rotation))
    return tuple([labels[card] for card in shuffled(key)])


def turn_of(key: bytes, rotation: int) -> bytes:
    """Return derive(deal key, "order", rotation): a rotation plays the deals of a block in ascending order of it."""
    return derive(key, "order", rotation)


def seating_key(secret: bytes, line_up: LineUp) -> bytes:
    """Return derive(secret, "seating", size, name, hash, name, hash, ...), for `referee.tournament.rounds.seating`."""
    return derive(secret, "seating", *_members(line_up))


def _members(line_up: LineUp) -> tuple[str | int, ...]:
    return (len(line_up), *[text for bot in line_up for text in (bot.name, bot.hash)])


def game_key(key: bytes, rotation: int, attempt: int = 0) -> bytes:
    """The key of one playing of a deal: derive(deal key, "game", rotation, attempt).

    Another `attempt` gives a game another id and other seeds with the same deck. A tournament always takes 0: a game
    that was void is played again with the same key, so that nobody gains by making one void.
    """
    return derive(key, "game", rotation, attempt)


def game_id(key: bytes) -> str:
    """What a game is known by: the first 8 bytes of derive(game key, "id"), as 16 hex digits."""
    return derive(key, "id")[:8].hex()


def bot_seed(key: bytes, seat: int) -> int:
    """The seed of a seat's own dice, from 0 to 2**31 - 1.

    It is the first 4 bytes of derive(game key, "bot", seat), most significant first, without the highest bit.
    """
    return int.from_bytes(derive(key, "bot", seat)[:4], "big") & 0x7FFFFFFF


def line_up_salt(secret: bytes) -> bytes:
    """The salt of `referee.tournament.planning.lineups`: derive(secret, "line-ups")."""
    return derive(secret, "line-ups")


def secret_from_seed(seed: str, number: int = 1) -> bytes:
    """The secret of a round that can be repeated from a text, for practice: who guesses the text has every deck.

    It is the 8 bytes of "practice" in ASCII and the first 8 of derive(those, "seed", seed, number of the round). The
    mark stays on the secret wherever that goes; of random secrets one in 2**64 bears it.
    """
    return _PRACTICE + derive(_PRACTICE, "seed", seed, number)[: SECRET_SIZE - len(_PRACTICE)]


def is_practice(secret: bytes) -> bool:
    """Whether `secret_from_seed` made this secret, so that its decks could be known beforehand."""
    return secret.startswith(_PRACTICE)
