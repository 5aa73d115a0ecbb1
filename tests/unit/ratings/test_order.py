"""Standings depend on the set of games, never on the order in which they are handed over."""

from __future__ import annotations

import random
from itertools import combinations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings import rate
from referee.ratings.data.games import collect, layout
from referee.ratings.trueskill.skill import skills
from referee.record import Bot, GameResult
from referee.rules import Ending

BOTS = tuple(Bot(name, hash_ * 32) for name, hash_ in (("dora", "1f"), ("anna", "9a"), ("anna", "02"), ("carl", "77")))


def tournament(seed: int, players: int, deals: int) -> list[GameResult]:
    """A round robin with places, ties and faults thrown at random."""
    dice = random.Random(seed)
    results = []
    for line_up in combinations(BOTS, players):
        for deal in range(deals):
            for rotation in range(players):
                left = [dice.randrange(4) for _ in line_up]
                places = tuple(1 + sum(other < mine for other in left) for mine in left)
                faults = tuple(seat for seat in range(players) if dice.random() < 0.1)
                seats = line_up[rotation:] + line_up[:rotation]
                results.append(GameResult(seats, deal, rotation, Ending.EMPTIED, places, faults))
    return results


GAMES = tournament(1, 2, 3) + tournament(2, 3, 2) + tournament(3, 4, 2)


@settings(max_examples=25, deadline=None)
@given(st.permutations(GAMES))
def test_any_order_of_games_gives_equal_bytes(shuffled: list[GameResult]) -> None:
    assert msgspec.json.encode(rate(shuffled)) == msgspec.json.encode(rate(GAMES))


def test_a_hundred_shuffles_leave_every_mu_where_it_was() -> None:
    dice = random.Random(11)
    for players in (2, 3, 4):
        played = tournament(players, players, 4)
        (table,) = collect(played)
        found = skills(table, 0.2)
        for _ in range(100):
            (other,) = collect(dice.sample(played, len(played)))
            assert skills(other, 0.2) == found


@settings(deadline=None)
@given(st.permutations(GAMES[:12]))
def test_games_are_read_by_line_up_deal_and_rotation(shuffled: list[GameResult]) -> None:
    (games,) = collect(shuffled)
    read = [tuple(games.bots[bot] for bot in game.seats) for deal in games.deals() for game in deal]
    expected = sorted(GAMES[:12], key=lambda game: (game.line_up, game.deal, game.rotation))
    assert read == [game.seats for game in expected]


def test_deal_256_comes_after_deal_1() -> None:
    places = {256: (1, 2), 1: (2, 1), 65536: (1, 1)}
    results = [GameResult(BOTS[:2], deal, 0, Ending.EMPTIED, placing, ()) for deal, placing in places.items()]
    (games,) = collect(results)
    seated = [dict(zip(game.seats, game.places, strict=True)) for (game,) in games.deals()]
    dora = games.bots.index(BOTS[0])
    assert [placing[dora] for placing in seated] == [2, 1, 1]


def test_games_are_read_as_they_were_given() -> None:
    result = GameResult((BOTS[0], BOTS[3], BOTS[1]), 2**40, 700, Ending.WIDOWS, (3, 1, 1), (0,))
    (games,) = collect([result])
    ((game,),) = games.deals()
    assert [games.bots[bot] for bot in game.seats] == list(result.seats)
    assert (game.places, game.faulty, game.rated) == ((3, 1, 1), (0,), True)


def test_deals_are_kept_apart_and_rotations_together() -> None:
    assert [len(deal) for games in collect(GAMES) for deal in games.deals()] == [2] * 18 + [3] * 8 + [4] * 2


def test_standings_survive_json() -> None:
    standings = rate(GAMES)
    assert msgspec.json.decode(msgspec.json.encode(standings), type=type(standings)) == standings


def test_a_game_takes_few_bytes() -> None:
    assert [layout(players).size for players in (2, 6)] == [17, 25]
