"""Where a round that stops by itself stops: a function of the set of its games, however they come in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ADA, BOB, CAT, DAN, a_round

from referee.record import Bot, GameResult, LineUp
from referee.rules import Ending
from referee.tournament.planning.planning import looked_at
from referee.tournament.progress.stages import Course
from referee.tournament.progress.withdrawal import Point, Withdrawals
from referee.tournament.rounds.rounds import Round, RoundManifest
from referee.tournament.rounds.schedule import Block, Owing
from referee.tournament.rounds.seating import seats_of
from referee.tournament.rounds.until import Stopping, Until, looks

STRENGTHS = {ADA: 2.0, BOB: 1.2, CAT: 0.3, DAN: 0.3}


def stopping_round(
    *, adaptive: bool, sizes: tuple[int, ...] = (2, 3), deals: int = 60, top: int | None = None
) -> Round:
    plain = a_round((ADA, BOB, CAT, DAN), sizes=sizes, deals=deals, block_size=10)
    until = Until(every=20, top=top, alpha=0.05, indifference=0.0, adaptive=adaptive)
    manifest = msgspec.structs.replace(plain.manifest, until=until)
    return Round(text=manifest.to_json(), secret=plain.secret)


def result(line_up: LineUp, deal: int, rotation: int) -> GameResult:
    """One game, the same whenever it is asked for."""
    dice = Random(f"{[bot.name for bot in line_up]} {deal} {rotation}")
    seats = tuple(line_up[member] for member in seats_of(len(line_up), deal, rotation))
    shown = [STRENGTHS[bot] + dice.random() for bot in seats]
    places = tuple(1 + sum(other > one for other in shown) for one in shown)
    return GameResult(seats, deal, rotation, Ending.EMPTIED, places, ())


class Play:
    """A course with the games that were played."""

    def __init__(self, one: Round) -> None:
        self.one, self.course = one, Course(one)
        self.withdrawals = Withdrawals(one.schedule, None)
        self.played: defaultdict[LineUp, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        self.games: list[GameResult] = []

    def take(self, games: Iterable[GameResult]) -> None:
        for game in games:
            self.course.add([game])
            self.played[game.line_up][game.rotation].add(game.deal)
            self.games.append(game)

    def owed(self) -> list[Block]:
        self.course.advance(self.played, self.withdrawals)
        if self.course.stage is None:
            return []
        return list(self.one.schedule.owed(self.played, stage=self.course.stage, unwanted=self.course.spares))

    def to_the_end(self, dice: Random) -> None:
        """Play what is owed, some blocks at a time and games of a block in any order."""
        while blocks := self.owed():
            for block in dice.sample(blocks, min(len(blocks), dice.randint(1, 9))):
                games = [result(block.line_up, deal, block.rotation) for deal in block.deals]
                self.take(dice.sample(games, dice.randint(1, len(games))))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_the_stop_and_the_games_that_were_played_hang_on_no_order(seed: int, adaptive: bool) -> None:
    one = stopping_round(adaptive=adaptive)
    straight, mixed = Play(one), Play(one)
    straight.to_the_end(Random(1))
    mixed.to_the_end(Random(seed))
    assert sorted(straight.games) == sorted(mixed.games)
    assert straight.course.outcomes() == mixed.course.outcomes()
    again = Play(one)
    again.take(Random(seed).sample(straight.games, len(straight.games)))
    assert again.owed() == [] and again.course.outcomes() == straight.course.outcomes()


def test_the_best_is_proven_and_equal_bots_are_left_with_their_deals_played() -> None:
    play = Play(stopping_round(adaptive=True, sizes=(2,)))
    play.to_the_end(Random(1))
    (outcome,) = play.course.outcomes()
    assert (outcome.deals, outcome.most, outcome.pairs, outcome.over) == (60, 60, 6, True)
    assert outcome.left == ((CAT, DAN),)
    assert len(play.played[ADA, BOB][0]) < 60
    assert len(play.played[CAT, DAN][1]) == 60


def test_no_stage_is_looked_at_before_its_last_game_is_there() -> None:
    play = Play(stopping_round(adaptive=False, sizes=(2,)))
    games = [result(block.line_up, deal, block.rotation) for block in play.owed() for deal in block.deals]
    play.take(games[:-1])
    assert [len(block.deals) for block in play.owed()] == [1]
    assert play.course.outcomes()[0].deals == 0
    play.take(games[-1:])
    assert play.course.stage is None or len(play.owed()) > 1
    assert play.course.outcomes()[0].deals == 20


def test_games_without_which_it_would_not_have_gone_on_are_owed_again() -> None:
    one = stopping_round(adaptive=True, sizes=(2,))
    play = Play(one)
    play.to_the_end(Random(1))
    lacking = Play(one)
    lacking.take(play.games[1:])
    assert [(block.line_up, block.rotation) for block in lacking.owed()] == [
        (play.games[0].line_up, play.games[0].rotation)
    ]


@pytest.mark.parametrize("bot", [ADA, DAN])
def test_a_bot_that_left_before_the_first_look_changes_nothing_for_the_others(bot: Bot) -> None:
    """Its games are there, and it is as if it had never been, but for the goal, which counts the bots of the round."""

    class Gone(Withdrawals):
        def sets_aside(self, block: Block) -> bool:
            return bot in block.line_up

    one = stopping_round(adaptive=False, sizes=(2,), deals=20)
    play = Play(one)
    play.withdrawals = Gone(one.schedule, None)
    first = one.schedule.place((ADA, DAN), 0, 0)
    play.withdrawals.points = {bot: Point(first, one.schedule.turn((ADA, DAN), 0, 0))}
    for block in one.schedule.owed({}):
        if bot not in block.line_up or block.line_up == (ADA, DAN):
            play.take(result(block.line_up, deal, block.rotation) for deal in block.deals)
    assert play.owed() == []
    (outcome,) = play.course.outcomes()
    assert outcome.pairs == 3 and outcome.over
    assert not any(bot in pair for pair in outcome.left)


@given(st.integers(1, 1_000_000), st.integers(2, 10_000))
def test_looks_fall_between_blocks(deals: int, games: int) -> None:
    every, block = looks(deals, games)
    assert every % block == 0 and 10 <= block <= every <= 100


def test_what_is_asked_is_frozen_in_the_manifest() -> None:
    stopping = Stopping(top=3, alpha=0.01, indifference=0.02, adaptive=True)
    owed = [Owing(tuple(pair), 7, 640) for pair in combinations((ADA, BOB, CAT), 2)]
    block, until = looked_at(stopping, owed)
    assert (block, until.every, until.is_as(stopping)) == (10, 10, True)
    assert (until.top, until.alpha, until.indifference, until.adaptive) == (3, 0.01, 0.02, True)


def test_a_manifest_whose_looks_would_never_be_complete_is_refused() -> None:
    good = stopping_round(adaptive=False).manifest
    assert msgspec.json.decode(good.to_json(), type=RoundManifest) == good
    bad = good.to_json().replace(b'"every":20', b'"every":15')
    unequal = good.to_json().replace(b'"deals":60', b'"deals":50', 1)
    with pytest.raises(msgspec.ValidationError, match="between two blocks"):
        msgspec.json.decode(bad, type=RoundManifest)
    assert msgspec.json.decode(unequal, type=RoundManifest)  # each size has a limit of its own
