"""How a duel stands is a function of the set of its games, whatever their order, and ends with the deal that decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from rounds import ADA, BOB, games

from referee.bots.process.limits import Limits
from referee.contest.duel import DuelWatcher
from referee.contest.duel_standing import DuelStanding
from referee.contest.listener import Listener
from referee.ratings.scores.scores import half_points
from referee.ratings.sequential.betting import BettingTest
from referee.record import Bot
from referee.rules import DEFAULT_RULES
from referee.store import open_store
from referee.tournament.engine.inquiry import Unplayed
from referee.tournament.engine.losses import LostGame
from referee.tournament.planning.duel import Duel, DuelAsked, Duels
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.rounds import Entry

DEALS = 30


@pytest.fixture(params=[2, 3], ids="{} players".format)
def duel(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Duel]:
    """Of a bot that is at fault in half of its games."""
    asked = DuelAsked(Conditions(DEFAULT_RULES, Limits()), request.param, DEALS, 0.5, 0.7, 0.05, 0.05)
    with closing(open_store(tmp_path / "duel.db", create=True)) as store:
        store.claim()
        yield Duels(store).begin(entry(ADA), entry(BOB), asked, "s")


def entry(bot: Bot) -> Entry:
    return Entry(name=bot.name, hash=bot.hash, players=(2, 3))


def state(course: DuelStanding) -> tuple[object, ...]:
    return course.verdict, course.test.counts, course.faults, course.is_over


def test_the_order_in_which_games_come_in_changes_nothing(duel: Duel) -> None:
    results = [game.result for game in games(duel.round, faulty=(ADA,))]
    expected = DuelStanding(duel)
    expected.add(results)
    assert expected.verdict is not None
    assert 0 < expected.test.deals < DEALS
    assert expected.faults.new > 0 == expected.faults.old
    for seed in range(10):
        course, shuffled = DuelStanding(duel), Random(seed).sample(results, len(results))
        for start in range(0, len(shuffled), 7):
            course.add(shuffled[start : start + 7])
        assert state(course) == state(expected)


def test_the_verdict_is_that_of_the_first_deal_with_which_there_is_one(duel: Duel) -> None:
    played = games(duel.round, faulty=(ADA,))
    course = DuelStanding(duel)
    course.add(game.result for game in played)
    test, verdicts = BettingTest(course.test.question, duel.players), []
    for deal in range(course.test.deals):
        of_deal = [game.result for game in played if duel.number(game.result) == deal]
        assert all(result.seats[duel.seat(result)] == ADA for result in of_deal)
        verdicts.append(test.add(sum(half_points(result.places)[duel.seat(result)] for result in of_deal)))
    assert verdicts == [None] * (course.test.deals - 1) + [course.verdict]
    assert test.counts == course.test.counts


def test_no_deal_counts_while_one_before_it_is_not_complete(duel: Duel) -> None:
    results = [game.result for game in games(duel.round, faulty=(ADA,))]
    course = DuelStanding(duel)
    course.add(result for result in results if (duel.number(result), result.rotation) != (0, 1))
    assert (course.test.deals, course.verdict) == (0, None)
    course.add(result for result in results if (duel.number(result), result.rotation) == (0, 1))
    assert course.verdict is not None


def test_a_game_that_stays_owed_stops_the_duel(duel: Duel) -> None:
    """No deal behind it will count."""
    heard: list[object] = []

    class Hearing(Listener):
        def unplayed(self, unplayed: Unplayed) -> None:
            heard.append(unplayed)

    watcher = DuelWatcher(Hearing(), DuelStanding(duel))
    assert not watcher.stuck
    lost = LostGame(duel.pair.line_up(duel.players), 1, 7, "it ended")
    watcher.unplayed(lost)
    assert watcher.stuck
    assert heard == [lost]
