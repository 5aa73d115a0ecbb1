"""Cards, the deck, and the shuffle, which is specified byte for byte so that any language can redo a deal.

A card is an index from 0 to 35, rank times 4 plus suit, so that canonical order (by rank, then by suit) is
numerical order. A set of cards, such as a hand, is a 36-bit integer in which bit n stands for card n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import count
from struct import Struct

from referee.errors import RulesError

RANKS = "6789TJQKA"
SUITS = "CDHS"
NAMES: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)
DECK_SIZE = len(NAMES)

BITS: tuple[int, ...] = tuple(1 << card for card in range(DECK_SIZE))
SAME_RANK: tuple[int, ...] = tuple(0b1111 << (card & ~3) for card in range(DECK_SIZE))
"""By card: the set of the four cards of its rank."""
_QUEEN = RANKS.index("Q")
_OTHER_RANKS = [rank for rank in range(len(RANKS)) if rank != _QUEEN]
QUEENS = 0b1111 << (4 * _QUEEN)
ALL_CARDS = (1 << DECK_SIZE) - 1

_EVERY_CARD = frozenset(range(DECK_SIZE))
_INDEX = {name: card for card, name in enumerate(NAMES)}


def card(name: str) -> int:
    """The card written `name`, such as `TD`. Raises RulesError where there is no such card."""
    try:
        return _INDEX[name]
    except KeyError:
        raise RulesError(
            f"{name!r} is no card: a card is a rank of {RANKS} and a suit of {SUITS}, such as TD"
        ) from None


def cards_of(held: int) -> tuple[int, ...]:
    """The cards of a set, in canonical order."""
    found = []
    while held:
        lowest = held & -held
        found.append(lowest.bit_length() - 1)
        held ^= lowest
    return tuple(found)


def set_of(cards: Iterable[int]) -> int:
    """The set of some different cards."""
    held = 0
    for one in cards:
        held |= BITS[one]
    return held


def names(cards: Iterable[int]) -> list[str]:
    """How cards are written."""
    return [NAMES[one] for one in cards]


def parse_deck(text: str) -> tuple[int, ...]:
    """A deck written as 36 cards with blanks between them; the first is dealt first. Raises RulesError."""
    return deck_of(text.split())


def deck_of(written: Iterable[str]) -> tuple[int, ...]:
    """A deck of cards as they are written, first dealt first. Raises RulesError."""
    deck = tuple(card(name) for name in written)
    check_deck(deck)
    return deck


def check_deck(deck: tuple[int, ...]) -> None:
    """Raise RulesError unless `deck` is each of the 36 cards once."""
    if len(deck) == DECK_SIZE and frozenset(deck) == _EVERY_CARD:
        return
    twice = sorted({one for one in deck if deck.count(one) > 1})
    missing = [one for one in range(DECK_SIZE) if one not in deck]
    raise RulesError(
        f"a deck is each of the {DECK_SIZE} cards once, and this one has {len(deck)} cards"
        + (f", twice {' '.join(names(twice))}" if twice else "")
        + (f", without {' '.join(names(missing))}" if missing else "")
    )


def shuffled(key: bytes) -> tuple[int, ...]:
    """The deck that belongs to `key`, first card dealt first; every order equally likely for a random key.

    The specification, for other languages, which `docs/rules.md` repeats with a test vector:

    1. The byte stream is SHA-256(key + counter) for counter 0, 1, 2, … as 8 bytes, most significant first,
       one digest after the other.
    2. `below(n)`: take 4 bytes of the stream as an unsigned number x, most significant byte first; while
       x >= 2**32 - 2**32 % n, take the next 4 instead; the result is x % n. So every result is equally likely.
    3. Fisher and Yates, Durstenfeld's form: the deck begins in canonical order 6C 6D … AS; for i = 35 down to 1,
       swap the cards at i and below(i + 1).
    """
    return tuple(_permuted(range(DECK_SIZE), _words(key)))


def relabelling(key: bytes) -> tuple[int, ...]:
    """Return, by card, the card that stands for it under the relabelling of `key`.

    The eight ranks other than the queen change places, and so do the four suits within each rank. Only the equality of
    ranks and the queens matter to the rules, so a deal plays the same under other labels. The specification, which
    `docs/records.md` repeats with a test vector, uses the stream and the shuffle of `shuffled`:

    1. The ranks 6 7 8 9 T J K A are shuffled. The rank at position i of the result stands for the i-th of that list.
    2. Then, for each of the nine ranks from 6 to A, the suits C D H S are shuffled, with the numbers that follow in the
       stream. The suit at position i of the result stands for the i-th suit of that rank.
    """
    words = _words(key)
    new_ranks = dict(zip(_OTHER_RANKS, _permuted(_OTHER_RANKS, words), strict=True)) | {_QUEEN: _QUEEN}
    return tuple(
        4 * new_ranks[rank] + suit for rank in range(len(RANKS)) for suit in _permuted(range(len(SUITS)), words)
    )


def permutations_of(items: Sequence[int], key: bytes, count: int) -> Iterator[tuple[int, ...]]:
    """Yield `count` shuffles of `items`, each of them from the original order, with one stream: that of `key`."""
    words = _words(key)
    for _ in range(count):
        yield tuple(_permuted(items, words))


def _permuted(items: Sequence[int], words: Iterator[int]) -> list[int]:
    """Shuffle `items` with the next numbers of a stream, as `shuffled` specifies."""
    found = list(items)
    for i in range(len(found) - 1, 0, -1):
        limit = 0x100000000 - 0x100000000 % (i + 1)
        x = next(words)
        while x >= limit:
            x = next(words)
        j = x % (i + 1)
        found[i], found[j] = found[j], found[i]
    return found


def _words(key: bytes) -> Iterator[int]:
    # A deck takes 35 numbers, and five digests have 40: more are needed where six numbers are dropped, hardly ever.
    yield from _FIVE_DIGESTS.unpack(b"".join([_digest(key, counter) for counter in range(5)]))
    for counter in count(5):
        yield from _ONE_DIGEST.unpack(_digest(key, counter))


_ONE_DIGEST = Struct(">8L")
_FIVE_DIGESTS = Struct(">40L")


def _digest(key: bytes, counter: int) -> bytes:
    return sha256(key + counter.to_bytes(8, "big")).digest()
