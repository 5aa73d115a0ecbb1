"""A bot with a perfect memory of the other rotations of its deals, to measure what such a memory is worth.

It is given more than any bot could remember: the whole deck of every deal of the block, as another rotation was dealt
it. What it does not have are the labels of the game that it plays and the order of the deals. It weighs every deal and
every relabelling that agree with what it has seen, exactly, by Bayes' rule: all of them were equally likely before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import factorial, prod
from random import Random
from typing import NamedTuple

from referee.actions import KEEP, LAYS, WIDOW, Action
from referee.cards import BITS, QUEENS, SAME_RANK, cards_of
from referee.ratings.scores.scores import half_points
from referee.rules import DEFAULT_RULES, Phase, Question, State, deal

RANKS = range(9)
QUEEN = 6
OTHERS = [rank for rank in RANKS if rank != QUEEN]
Deck = tuple[int, ...]


class Greedy:
    """Plays as docs/greedy.md says; one object is one seat of one game."""

    def __init__(self, seat: int) -> None:
        self.seat = seat

    def choose(self, question: Question) -> Action:
        if question.phase is Phase.LAY:
            return LAYS[min(cards_of(question.hand), key=lambda card: self.cost(card, question))]
        best = question.legal[0]
        sizes = question.hand_sizes
        gives_way = len(question.widows) == 3 and sizes[self.seat] > min(sizes)
        return KEEP if best is WIDOW and gives_way else best

    def cost(self, card: int, question: Question) -> tuple[float, float]:
        if BITS[card] & QUEENS:
            return -1, 0
        held = (question.hand & SAME_RANK[card]).bit_count()
        coming = self.coming(card, question)
        return (coming if held == 1 else 0), coming

    def coming(self, card: int, question: Question) -> float:
        """Return how many cards of this rank may still be drawn."""
        open_ones = sum(other // 4 == card // 4 for other in question.discards)
        return 4 - (question.hand & SAME_RANK[card]).bit_count() - open_ones


class Known(NamedTuple):
    """A deal as another rotation showed it, seen from one seat of this one."""

    hands: tuple[tuple[int, ...], ...]
    talon: tuple[int, ...]
    counts: tuple[int, ...]
    """By rank: how many of it the seat is dealt."""


def known(deck: Deck, seat: int, players: int) -> Known:
    """Return what a deck is from a seat; the talon in the order in which it is drawn."""
    hands, talon = deal(DEFAULT_RULES, players, deck)
    counts = Counter(card // 4 for card in hands[seat])
    return Known(tuple(map(tuple, hands)), tuple(reversed(talon)), tuple(counts[rank] for rank in RANKS))


HORIZON = 5
"""How many of its own draws it looks ahead."""


def _worth(turn: int) -> float:
    return float(0.8**turn)


Signature = tuple[int, tuple[int, ...]]


class Rememberer(Greedy):
    """Lays what it expects to draw least. Without memories it expects each card that it has not seen equally.

    `labelled` says that the memories have the labels of this game, as if there were no disguise.
    """

    def __init__(self, seat: int, players: int, memories: Sequence[Deck], *, labelled: bool = False) -> None:
        super().__init__(seat)
        self.players = players
        self.labelled = labelled
        self.memories = [known(deck, seat, players) for deck in memories]
        self.counts: tuple[int, ...] = ()
        self.seen: dict[int, int] = {}
        """By position in the talon: the card that was drawn there, where this seat saw it."""
        self.drawn = 0
        self.recycled = False
        self.own = 0
        self.weights: list[int] = []

    # -- what it sees

    def look(self, question: Question) -> None:
        """Take in the turns since the last question, and the card drawn."""
        if not self.counts:
            self.counts = tuple((question.hand & SAME_RANK[4 * rank]).bit_count() for rank in RANKS)
            self.own = question.hand
            self.memories = [one for one in self.memories if self._fits(one)]
        # The last question of a turn told of its draw already; its event comes with the next one.
        for event in question.events:
            if event.seat != self.seat or not self._is_told(event.drew):
                self._draw(event.drew)
            self.recycled |= event.recycled
        if question.phase is Phase.DRAWN:
            self._draw(question.drawn)
            self.recycled |= question.recycled
        self._weigh()

    def _is_told(self, card: int | None) -> bool:
        return card is not None and card in self.seen.values()

    def _draw(self, card: int | None) -> None:
        if self.recycled:
            return
        if card is not None:
            self.seen[self.drawn] = card
        self.drawn += 1

    def _fits(self, one: Known) -> bool:
        if self.labelled:
            return one.counts == self.counts and set(one.hands[self.seat]) == set(cards_of(self.own))
        same = sorted(one.counts[rank] for rank in OTHERS) == sorted(self.counts[rank] for rank in OTHERS)
        return same and one.counts[QUEEN] == self.counts[QUEEN]

    # -- what it makes of it

    def _weigh(self) -> None:
        """Keep the deals that agree with all that was seen, each with the number of relabellings under which it does."""
        here = self._signatures(self.counts, self.seen)
        kept, self.weights = [], []
        for one in self.memories:
            there = self._signatures(one.counts, {place: one.talon[place] for place in self.seen})
            if there[QUEEN] == here[QUEEN] and Counter(there.values()) == Counter(here.values()):
                kept.append(one)
                self.weights.append(prod(map(factorial, Counter(there[rank] for rank in OTHERS).values())))
        self.memories = kept

    def _signatures(self, counts: Sequence[int], seen: Mapping[int, int]) -> dict[int, Signature]:
        places: dict[int, list[int]] = {}
        for place, card in seen.items():
            places.setdefault(card // 4, []).append(place)
        return {rank: (counts[rank], tuple(sorted(places.get(rank, ())))) for rank in RANKS}

    def relabelled(self, dice: Random) -> tuple[Known, dict[int, int]] | None:
        """Return one of the likeliest deals and one of its likeliest relabellings of ranks; None where it knows none."""
        if not self.memories:
            return None
        one = self.memories[self.weights.index(max(self.weights))]
        here = self._signatures(self.counts, self.seen)
        there = self._signatures(one.counts, {place: one.talon[place] for place in self.seen})
        classes: dict[Signature, list[int]] = {}
        for rank in RANKS:
            classes.setdefault(here[rank], []).append(rank)
        if not self.labelled:
            for ranks in classes.values():
                dice.shuffle(ranks)
        return one, {rank: classes[there[rank]].pop(0) for rank in RANKS}

    def cost(self, card: int, question: Question) -> tuple[float, float]:
        """Return what laying a card loses: matches with its own next draws, as far as it can tell them."""
        if BITS[card] & QUEENS:
            return -1, 0
        held = (question.hand & SAME_RANK[card]).bit_count()
        plain = self.coming(card, question)
        return self._hits(card // 4, plain) * (2 if held == 1 else 1), plain

    def _hits(self, rank: int, coming: float) -> float:
        """Return how many of its next draws are expected to be of a rank, later ones for less."""
        unseen = 36 - self.own.bit_count() - len(self.seen)
        places = range(self.drawn, 36, self.players)[:HORIZON]
        if not self.memories or self.recycled:
            return sum(_worth(turn) * coming / unseen for turn in range(len(places)))
        here = self._signatures(self.counts, self.seen)
        total, found = sum(self.weights), 0.0
        for one, weight in zip(self.memories, self.weights, strict=True):
            there = self._signatures(one.counts, {place: one.talon[place] for place in self.seen})
            alike = Counter(there.values())[here[rank]]
            for turn, place in enumerate(places):
                if place >= len(one.talon):
                    chance = coming / unseen
                elif self.labelled:
                    chance = float(one.talon[place] // 4 == rank)
                else:
                    chance = (there[one.talon[place] // 4] == here[rank]) / alike
                found += _worth(turn) * weight / total * chance
        return found


# -- what it names


class Named(NamedTuple):
    """True or False: all cards that another seat was dealt, and their ranks, as it names them."""

    cards: bool
    ranks: bool


def name_hand(bot: Rememberer, other: int, hand: Sequence[int], dice: Random) -> Named:
    """Let a bot name the cards that seat `other` was dealt; `hand` is what they are."""
    taken = bot.own | sum(BITS[card] for card in set(bot.seen.values()))
    likeliest = bot.relabelled(dice)
    if likeliest is None:
        free = [card for card in range(36) if not taken & BITS[card]]
        guess = dice.sample(free, min(len(hand), len(free)))
        return Named(set(guess) == set(hand), _ranks(guess) == _ranks(hand))
    one, labels = likeliest
    ranks = Counter(labels[card // 4] for card in one.hands[other])
    if bot.labelled:
        return Named(set(one.hands[other]) == set(hand), ranks == _ranks(hand))
    guess = []
    for rank, number in ranks.items():
        free = [card for card in range(4 * rank, 4 * rank + 4) if not taken & BITS[card]]
        guess += dice.sample(free, min(number, len(free)))
    return Named(set(guess) == set(hand), ranks == _ranks(hand))


def _ranks(cards: Sequence[int]) -> Counter[int]:
    return Counter(card // 4 for card in cards)


# -- games


class Told(NamedTuple):
    """One game of the bot: its half points, and how it names the next seat's hand at its first and last question."""

    points: int
    first: Named | None
    last: Named | None


def play(
    deck: Deck, seat: int, players: int, memories: Sequence[Deck] = (), *, labelled: bool = False, dice: Random
) -> Told:
    """Play a game of the bot at `seat` among greedy players."""
    state = State(DEFAULT_RULES, players, deck)
    bot = Rememberer(seat, players, memories, labelled=labelled)
    table = [bot if one == seat else Greedy(one) for one in range(players)]
    other = (seat + 1) % players
    hand = cards_of(state.hands[other])
    first = last = None
    while state.outcome is None:
        question = state.ask()
        if question.seat == seat:
            bot.look(question)
            first = first or name_hand(bot, other, hand, dice)
        state.apply(table[question.seat].choose(question))
    if bot.counts:
        last = name_hand(bot, other, hand, dice)
    return Told(half_points(state.outcome.places)[seat], first, last)
