"""Cards, decks, and the shuffle against its specification."""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import cards
from referee.errors import RulesError

ZERO_KEY = bytes(16)
ZERO_DECK = (
    "JC 6H QC JD 7H 7D KS 9H TS 6S TH KD AS QD 9D 9S 9C 8S 8D KC TC JH 7S AC 7C KH AH 8C 8H TD QS 6D 6C QH AD JS"
)
DROPPING_KEY = bytes.fromhex("000000000000000000000000007c32c7")
DROPPING_DECK = (
    "8S 6C 7S KH 8D AD AC 8C 9H 6D 9C 7H JC JH AS TH KS 7D JS KC 6S KD QD QH 8H 6H QC 9S QS TD AH 9D TS TC JD 7C"
)
"""One key in some ten million whose stream has a number that `below` drops, found by trying."""
RULES_PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def specified_deck(key: bytes) -> str:
    """The shuffle of `docs/rules.md` once more, from the page alone; a stream of 64 digests is always enough here."""
    stream = b"".join(sha256(key + counter.to_bytes(8, "big")).digest() for counter in range(64)).hex()
    deck = [rank + suit for rank in "6789TJQKA" for suit in "CDHS"]
    for i in reversed(range(1, 36)):
        n = i + 1
        while True:
            word, stream = stream[:8], stream[8:]
            x = int(word, 16)
            if x < 2**32 - 2**32 % n:
                break
        deck[i], deck[x % n] = deck[x % n], deck[i]
    return " ".join(deck)


def test_canonical_order_is_by_rank_then_by_suit() -> None:
    assert " ".join(cards.NAMES) == (
        "6C 6D 6H 6S 7C 7D 7H 7S 8C 8D 8H 8S 9C 9D 9H 9S TC TD TH TS JC JD JH JS QC QD QH QS KC KD KH KS AC AD AH AS"
    )


def test_every_name_gives_its_card_back() -> None:
    assert [cards.card(name) for name in cards.NAMES] == list(range(36))


@pytest.mark.parametrize("name", ["", "10C", "CT", "tc", "TC ", "1C", "TX", "TCC"])
def test_what_is_no_card_is_refused_by_name(name: str) -> None:
    with pytest.raises(RulesError, match=re.escape(f"{name!r} is no card: a card is a rank of 6789TJQKA")):
        cards.card(name)


def test_queens_are_the_four_queens() -> None:
    assert cards.names(cards.cards_of(cards.QUEENS)) == ["QC", "QD", "QH", "QS"]


@pytest.mark.parametrize("name", cards.NAMES)
def test_same_rank_is_the_four_cards_of_a_rank(name: str) -> None:
    same = cards.cards_of(cards.SAME_RANK[cards.card(name)])
    assert cards.names(same) == [name[0] + suit for suit in "CDHS"]


@given(st.frozensets(st.integers(0, 35)))
def test_a_set_of_cards_gives_them_back_in_canonical_order(held: frozenset[int]) -> None:
    assert cards.cards_of(cards.set_of(held)) == tuple(sorted(held))


def test_deck_is_read_in_the_order_dealt() -> None:
    deck = cards.parse_deck(ZERO_DECK)
    assert (deck[0], deck[35]) == (cards.card("JC"), cards.card("JS"))
    assert " ".join(cards.names(deck)) == ZERO_DECK


def test_deck_with_a_card_twice_is_refused_and_says_which() -> None:
    with pytest.raises(RulesError, match="this one has 36 cards, twice 6H, without JC"):
        cards.parse_deck(ZERO_DECK.replace("JC", "6H"))


def test_deck_that_lacks_a_card_is_refused_and_says_which() -> None:
    with pytest.raises(RulesError, match="this one has 35 cards, without JS"):
        cards.parse_deck(ZERO_DECK.removesuffix(" JS"))


def test_deck_with_a_card_too_many_is_refused() -> None:
    with pytest.raises(RulesError, match="this one has 37 cards, twice JS"):
        cards.parse_deck(ZERO_DECK + " JS")


def test_empty_deck_is_refused() -> None:
    with pytest.raises(RulesError, match="this one has 0 cards"):
        cards.parse_deck("")


def test_key_of_sixteen_zero_bytes_gives_the_deck_of_the_test_vector() -> None:
    assert " ".join(cards.names(cards.shuffled(ZERO_KEY))) == ZERO_DECK
    assert specified_deck(ZERO_KEY) == ZERO_DECK


def test_a_number_that_would_make_some_results_likelier_is_dropped() -> None:
    assert " ".join(cards.names(cards.shuffled(DROPPING_KEY))) == DROPPING_DECK
    assert specified_deck(DROPPING_KEY) == DROPPING_DECK


def test_rules_page_shows_the_decks_of_the_test_vectors() -> None:
    blocks = re.findall(r"```\n(.*?)```", RULES_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [block.split() for block in blocks] == [ZERO_DECK.split(), DROPPING_DECK.split()]


def test_rules_page_shows_the_first_digest_of_the_test_vector() -> None:
    assert sha256(ZERO_KEY + bytes(8)).hexdigest() in RULES_PAGE.read_text(encoding="utf-8")


@given(st.binary(max_size=40))
def test_any_key_gives_the_deck_that_the_specification_gives(key: bytes) -> None:
    assert " ".join(cards.names(cards.shuffled(key))) == specified_deck(key)


@given(st.binary(max_size=40))
def test_shuffling_keeps_every_card_once(key: bytes) -> None:
    cards.check_deck(cards.shuffled(key))


def test_the_stream_goes_on_for_longer_than_any_deck_needs() -> None:
    stream = b"".join(sha256(b"key" + counter.to_bytes(8, "big")).digest() for counter in range(20))
    words = [int.from_bytes(stream[start : start + 4], "big") for start in range(0, len(stream), 4)]
    assert list(islice(cards._words(b"key"), 160)) == words


def chi_square(counts: list[int], expected: float) -> float:
    return sum((count - expected) ** 2 / expected for count in counts)


@cache
def many_decks() -> list[tuple[int, ...]]:
    return [cards.shuffled(b"uniform %d" % number) for number in range(7200)]


LIMIT = 66.62
"""The chi-square distribution with 35 degrees of freedom exceeds this once in a thousand times."""


@pytest.mark.parametrize("name", ["6C", "QH", "AS"])
def test_a_card_is_equally_likely_at_every_position(name: str) -> None:
    places = [deck.index(cards.card(name)) for deck in many_decks()]
    assert chi_square([places.count(place) for place in range(36)], 7200 / 36) < LIMIT


@pytest.mark.parametrize("place", [0, 17, 35])
def test_every_card_is_equally_likely_at_a_position(place: int) -> None:
    found = [deck[place] for deck in many_decks()]
    assert chi_square([found.count(card) for card in range(36)], 7200 / 36) < LIMIT
