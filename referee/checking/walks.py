"""Random games in which rare positions are common: rules, faults, hands, draws and the others' manners, by a seed."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from zlib import crc32

import msgspec

from referee.cards import DECK_SIZE
from referee.checking.catalogue import FOURTHS, TRIPLES, Game, first_of
from referee.checking.dealing import Fate, Luck
from referee.checking.manners import Manner, at_random, keeps, only_widows, takes
from referee.checking.setting import Setting, deck_with
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
MANNERS = ("takes", "keeps", "widows", "random")


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """A random game: `luck` is a seed of what is drawn, None where the deck says it."""

    setting: Setting
    manner: str = "takes"
    luck: int | None = None

    def game(self) -> Game:
        """The game to be played."""
        return Game(self.setting, manner_of(self.manner, self.setting.seed), None if self.luck is None else _fate(self))


def manner_of(name: str, seed: int) -> Manner:
    """How others play, by its name."""
    return {"takes": takes, "keeps": keeps, "widows": only_widows, "random": at_random(seed)}[name]


def walk(dice: Random, tables: Collection[int]) -> Walk:
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
    setting = Setting(
        players=players,
        seat=seat,
        deck=tuple(deck),
        rules=rules,
        absent=absent,
        leaving=leaving,
        seed=dice.randrange(2**31),
    )
    return Walk(setting=setting, manner=dice.choice(MANNERS), luck=dice.choice((None, dice.randrange(2**31))))


def _stacked(dice: Random, rules: Rules, players: int, seat: int) -> tuple[int, ...]:
    hand, talon = dice.choice(_STACKS)
    hands = {seat: first_of(hand, players, seat)}
    return deck_with(rules, players, hands, talon=first_of(talon, players, -1), seed=dice.randrange(2**31))


def _fate(walk: Walk) -> Fate:
    """For a stretch of turns one luck for the bot and one for the others, then others; it hangs on the seed alone.

    Every third game is one long stretch, since it takes a whole game to come to the last card.
    """
    lucks: list[Luck] = [*Luck, Luck.ONE_LEFT, Luck.QUEEN, Luck.NOTHING]
    turns = 1000 if walk.luck is not None and walk.luck % 3 == 0 else 8

    def fate(state: State, turn: int) -> Luck:
        stretch = len(state.events) // turns
        own = turn == walk.setting.seat
        return lucks[crc32(f"{walk.luck} {stretch} {own}".encode()) % len(lucks)]

    return fate
