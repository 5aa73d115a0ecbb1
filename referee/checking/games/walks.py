"""Random games in which rare positions are common: rules, faults, hands, draws and the others' manners, by a seed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random
from zlib import crc32

from referee.cards import DECK_SIZE
from referee.checking.games.catalogue import FOURTHS, TRIPLES, ArrangedGame
from referee.checking.games.dealing import Luck
from referee.checking.games.manners import AtRandom, Manner, keeps, only_widows, takes
from referee.checking.games.setting import GameSetup, deck_with
from referee.rules import DiscardRule, OddCard, Rules, Scoring, State

_QUEENS = "QC QD QH QS"
_STACKS = (
    (TRIPLES, FOURTHS),
    (TRIPLES, FOURTHS),
    (_QUEENS, ""),
    ("6C 6D 7C 7D 8C 8D 9C 9D TC TD JC JD", ""),
    ("", _QUEENS),
    ("", "QS KC KD KH KS AC AD AH AS JC JD JH"),
)
"""The bot's hand and the talon, or as much of them as there is room for."""
_STALLS = (1, 3, 5, 8, 20, *(200,) * 10)
_LUCKS: tuple[Luck, ...] = (*Luck, Luck.ONE_LEFT, Luck.QUEEN, Luck.NOTHING)


@dataclass(frozen=True, slots=True)
class Spells:
    """For a stretch of turns one luck for the bot at `seat` and one for the others, then others; by the seed alone.

    Every third seed is one long stretch, since it takes a whole game to come to the last card.
    """

    seed: int
    seat: int

    def __call__(self, state: State, turn: int) -> Luck:
        """What is drawn now."""
        stretch = len(state.events) // (1000 if self.seed % 3 == 0 else 8)
        return _LUCKS[crc32(f"{self.seed} {stretch} {turn == self.seat}".encode()) % len(_LUCKS)]


def any_manner(dice: Random, seed: int) -> Manner:
    """How others may play; those at random by this seed."""
    return dice.choice((takes, keeps, only_widows, AtRandom(seed)))


def walk(dice: Random, tables: Collection[int]) -> ArrangedGame:
    """The next random game at one of these tables."""
    players = dice.choice(sorted(tables))
    seat = dice.randrange(players)
    rules = Rules(
        dice.choice(list(OddCard)), dice.choice(list(Scoring)), dice.choice(list(DiscardRule)), dice.choice(_STALLS)
    )
    deck = list(range(DECK_SIZE))
    dice.shuffle(deck)
    if rules.odd_card is OddCard.TALON and dice.random() < 0.5:
        deck = list(_stacked(dice, rules, players, seat))
    others = [other for other in range(players) if other != seat]
    dice.shuffle(others)
    absent = tuple(others[: dice.choice((0, 0, 0, 0, 1, 2))])[: players - 2]
    leaving = tuple((other, dice.randint(1, 6)) for other in others[len(absent) :] if dice.random() < 0.08)
    setting = GameSetup(
        players=players,
        seat=seat,
        deck=tuple(deck),
        rules=rules,
        absent=absent,
        leaving=leaving,
        seed=dice.randrange(2**31),
    )
    manner = any_manner(dice, setting.seed)
    return ArrangedGame(setting, manner, dice.choice((None, Spells(dice.randrange(2**31), seat))))


def _stacked(dice: Random, rules: Rules, players: int, seat: int) -> tuple[int, ...]:
    hand, talon = dice.choice(_STACKS)
    return deck_with(rules, players, {seat: hand}, talon=talon, seed=dice.randrange(2**31))
