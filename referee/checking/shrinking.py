"""From a failure in many random games to a short one that shows it.

First games are left out, as delta debugging does, then what is left is varied at random, and the variant that fails in
the same way after fewer messages to the bot is taken on. It hangs on the dice, and on a clock only
where a bot is so slow that there is no time for all variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

import msgspec

from referee.cards import DECK_SIZE
from referee.checking.catalogue import Game
from referee.checking.rarer import EVERY
from referee.checking.setting import Setting
from referee.checking.side import Side
from referee.checking.walks import any_manner
from referee.errors import BotFault
from referee.rules import DEFAULT_RULES, Rules

RUNS = 300
"""How many variants are tried at most."""
PATIENCE = 100
"""After how many variants none of which is shorter no more are tried."""

Case = tuple[Game, ...]
"""Games that are played by one process, one after the other."""


class Failure(NamedTuple):
    """What failed: the games as they were dealt, the fault of the last one, what the bot was told, where it failed."""

    case: Case
    fault: BotFault
    side: Side
    where: str

    @property
    def size(self) -> tuple[int, int, int]:
        """Messages to the bot, then how far it is from the usual."""
        rules = sum(_differs(game.setting.rules) for game in self.case)
        faults = sum(len(game.setting.absent) + len(game.setting.leaving) for game in self.case)
        return len(self.side.puts), rules + faults, sum(game.setting.players for game in self.case)


Attempt = Callable[[Case, int], Failure | None]
"""Play some games in a new process, no longer than so many messages; the failure, if it is the same."""


def shrink(failure: Failure, attempt: Attempt, dice: Random, tables: Sequence[int]) -> Failure:
    """The shortest way to the same failure that was found."""
    best = _fewer_games(failure, attempt)
    for case in _known(best, tables):
        best = _better(best, attempt(case, best.size[0]))
    idle = 0
    for _ in range(RUNS):
        if best.size <= (2, 0, 2) or idle == PATIENCE:
            break
        found = _better(best, attempt(_varied(best.case, dice, tables), best.size[0]))
        idle = 0 if found.size < best.size else idle + 1
        best = found
    return best


def _better(best: Failure, other: Failure | None) -> Failure:
    return other if other is not None and other.size <= best.size else best


def _fewer_games(failure: Failure, attempt: Attempt) -> Failure:
    """Leave out as many games as can be, the last one alone first, then halves, quarters, single ones."""
    case = failure.case
    alone = attempt(case[-1:], failure.size[0])
    if alone is not None:
        return alone
    size = len(case) // 2
    while size:
        for first in range(0, len(failure.case) - 1, size):
            less = failure.case[:first] + failure.case[min(first + size, len(failure.case) - 1) :]
            found = attempt(less, failure.size[0]) if less != failure.case else None
            if found is not None:
                failure = found
                break
        else:
            size //= 2
    return failure


def _known(best: Failure, tables: Sequence[int]) -> Iterator[Case]:
    """The games of the catalogue: many failures belong to one of its positions."""
    if len(best.case) > 1:
        return
    for position in EVERY:
        for players in [count for count in position.players if count in tables][:2]:
            yield (position.games(players, 0),)


def _varied(case: Case, dice: Random, tables: Sequence[int]) -> Case:
    place = dice.randrange(len(case))
    game = case[place]
    for _ in range(dice.choice((1, 1, 2, 4))):
        game = dice.choice(_VARIATIONS)(game, dice, tables)
    return (*case[:place], game, *case[place + 1 :])


def _swap(game: Game, dice: Random, tables: Sequence[int]) -> Game:
    del tables
    deck = list(game.setting.deck)
    one, other = dice.randrange(DECK_SIZE), dice.randrange(DECK_SIZE)
    deck[one], deck[other] = deck[other], deck[one]
    return _with(game, deck=tuple(deck))


def _plainer_rules(game: Game, dice: Random, tables: Sequence[int]) -> Game:
    del tables
    option = dice.choice(Rules.__slots__)
    values = {name: getattr(game.setting.rules, name) for name in Rules.__slots__}
    return _with(game, rules=Rules(**{**values, option: getattr(DEFAULT_RULES, option)}))


def _fewer_faults(game: Game, dice: Random, tables: Sequence[int]) -> Game:
    del tables
    absent, leaving = list(game.setting.absent), list(game.setting.leaving)
    for faults in (absent, leaving):
        if faults and dice.random() < 0.5:
            faults.pop(dice.randrange(len(faults)))
    return _with(game, absent=tuple(absent), leaving=tuple(leaving))


def _other_table(game: Game, dice: Random, tables: Sequence[int]) -> Game:
    players = dice.choice(sorted(tables))
    seat = dice.randrange(players)
    absent = tuple(other for other in game.setting.absent if other < players and other != seat)[: players - 2]
    leaving = tuple(one for one in game.setting.leaving if one[0] < players and one[0] not in (seat, *absent))
    return _with(game, players=players, seat=seat, absent=absent, leaving=leaving)


def _other_manner(game: Game, dice: Random, tables: Sequence[int]) -> Game:
    del tables
    return replace(game, manner=any_manner(dice, game.setting.seed))


_VARIATIONS = (_swap, _swap, _swap, _swap, _plainer_rules, _fewer_faults, _other_table, _other_manner)


def _with(game: Game, **fields: object) -> Game:
    setting: Setting = msgspec.structs.replace(game.setting, **fields)
    return replace(game, setting=setting, fate=None)


def _differs(rules: Rules) -> int:
    return sum(getattr(rules, name) != getattr(DEFAULT_RULES, name) for name in Rules.__slots__)
