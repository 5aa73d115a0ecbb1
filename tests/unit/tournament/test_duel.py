"""Duels: a line-up with copies, deals in order, and when a database's duel is gone on with, replaced or refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ADA, BOB, a_round, database, games

from referee.bots.process.limits import Limits
from referee.errors import DatabaseError
from referee.record import Bot
from referee.rules import DEFAULT_RULES
from referee.store import Store, open_store
from referee.tournament.audit.due import Depth
from referee.tournament.audit.verifying import check_rounds, gone, verify
from referee.tournament.planning.duel import Duel, DuelAsked, DuelPair, Duels, Prefix, refuse_duels
from referee.tournament.planning.league import League
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.rounds import Entry, RoundManifest, from_file, to_file

ASKED = DuelAsked(Conditions(DEFAULT_RULES, Limits()), players=2, max_deals=6, s0=0.5, s1=0.52, alpha=0.05, beta=0.05)


def entry(bot: Bot) -> Entry:
    return Entry(name=bot.name, hash=bot.hash, players=(2, 3, 4, 5, 6))


def changed(bot: Bot) -> Bot:
    return Bot(bot.name, bot.hash[::-1])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "duel.db", create=True)) as store:
        store.claim()
        yield store


def begin(store: Store, new: Bot = ADA, old: Bot = BOB, *, players: int = 2, seed: str | None = "s") -> Duel:
    asked = DuelAsked(ASKED.conditions, players, 6, 0.5, 0.52, 0.05, 0.05)
    return Duels(store).begin(entry(new), entry(old), asked, seed)


# -- copies


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize(("new", "old"), [(ADA, BOB), (BOB, ADA), (ADA, changed(ADA)), (ADA, ADA)])
def test_new_has_every_seat_once_in_the_rotations_of_a_deal(store: Store, players: int, new: Bot, old: Bot) -> None:
    duel = begin(store, new, old, players=players)
    seats: dict[int, list[int]] = {}
    played = games(duel.round)
    assert len(played) == 6 * players
    for game in played:
        result = game.result
        seat = duel.seat(result)
        assert result.seats[seat] == new
        assert [bot for at, bot in enumerate(result.seats) if at != seat] == [old] * (players - 1)
        seats.setdefault(duel.number(result), []).append(seat)
    assert sorted(seats) == list(range(6))
    assert all(sorted(found) == list(range(players)) for found in seats.values())


@pytest.mark.parametrize("players", [2, 3, 6])
def test_games_among_copies_are_stored_found_again_and_verified(store: Store, players: int) -> None:
    duel = begin(store, BOB, ADA, players=players)
    played = games(duel.round, faulty=(ADA,))
    store.add(played[:-1])
    assert sum(len(block.deals) for block in duel.round.schedule.owed(store.played(duel.round.number))) == 1
    store.add(played)
    assert not list(duel.round.schedule.owed(store.played(duel.round.number)))
    assert sorted(store.games(1)) == sorted(played)
    assert [
        finding for found in verify(duel.round, played, depth=Depth.WITH_REPLAYS, count=len(played))
        for finding in found.findings
    ] == []  # fmt: skip
    closed = Duels(store).close(duel)
    assert gone(closed.round, store) == 0


def test_a_duel_that_is_closed_early_lacks_nothing_that_was_promised(store: Store) -> None:
    duel = begin(store, players=3)
    store.add(games(duel.round)[:7])
    closed = Duels(store).close(duel)
    assert (closed.round.unplayed, gone(closed.round, store)) == (11, 0)
    assert [found for _, found in check_rounds(store.rounds())] == [[]]


def test_a_round_of_a_tournament_has_no_copies_and_says_nothing_of_duels() -> None:
    one = a_round()
    assert b"duel" not in one.text
    plain = msgspec.json.decode(one.text)
    plain["parts"][0]["line_ups"][0] = [0, 0]
    with pytest.raises(msgspec.ValidationError, match="a bot has two seats of one table, and it is no duel"):
        msgspec.json.decode(msgspec.json.encode(plain), type=RoundManifest)


def test_the_manifest_of_a_duel_has_its_question_and_one_line_up(store: Store) -> None:
    duel = begin(store, BOB, ADA, players=3)
    plain = msgspec.json.decode(duel.round.text)
    assert plain["duel"] == {"challenger": 1, "s0": 0.5, "s1": 0.52, "alpha": 0.05, "beta": 0.05}
    assert plain["parts"] == [{"first": 0, "deals": 6, "line_ups": [[0, 0, 1]]}]
    assert plain["max_faults"] is None
    for broken, said in (
        ({"parts": plain["parts"] * 2}, "one line-up"),
        ({"duel": {**plain["duel"], "challenger": 5}}, "no seat"),
    ):
        with pytest.raises(msgspec.ValidationError, match=said):
            msgspec.json.decode(msgspec.json.encode({**plain, **broken}), type=RoundManifest)


def test_a_duel_travels_in_a_file_as_any_round(store: Store) -> None:
    duel = begin(store, BOB, ADA, players=4)
    assert Duel(from_file(to_file(duel.round), "x")).pair == DuelPair(BOB, ADA)


# -- deals in order


@given(seed=st.integers(), players=st.integers(2, 4))
@settings(deadline=None, max_examples=30)
def test_deals_come_out_whole_and_in_order_however_games_come_in(seed: int, players: int) -> None:
    bots = [ADA, BOB, changed(ADA), changed(BOB)][:players]
    played = [game.result for game in games(a_round(bots, sizes=(players,), deals=5))]
    prefix, complete, came = Prefix(players), [], set()
    for game in Random(seed).sample(played, len(played)):
        came.add((game.deal, game.rotation))
        for deal in prefix.add(game.deal, game):
            complete.append(deal)
            needed = {(number, rotation) for number in range(len(complete)) for rotation in range(players)}
            assert needed <= came
    assert [[(game.deal, game.rotation) for game in deal] for deal in complete] == [
        [(number, rotation) for rotation in range(players)] for number in range(5)
    ]


# -- a database's duels


def test_the_same_bots_and_settings_find_their_duel_again(store: Store) -> None:
    duel = begin(store)
    again = Duels(store).last(DuelPair(ADA, BOB))
    assert again is not None
    assert again.round.commitment == duel.round.commitment
    Duels(store).check(again, ASKED, "s")
    Duels(store).check(again, ASKED, None)
    assert Duels(store).last(DuelPair(BOB, ADA)) is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("s1", 0.55, "--s1 0.52, not 0.55"),
        ("alpha", 0.01, "--alpha 0.05, not 0.01"),
        ("players", 3, "--players 2, not 3"),
        ("max_deals", 7, "--max-deals 6, not 7"),
        ("conditions", Conditions(DEFAULT_RULES, Limits(move_ms=7)), "--move-time 1s, not 7ms"),
    ],
)
def test_other_settings_are_refused_and_named(store: Store, name: str, value: object, said: str) -> None:
    duel = begin(store)
    plain = {field: getattr(ASKED, field) for field in DuelAsked.__dataclass_fields__}
    with pytest.raises(DatabaseError, match="with other settings: ") as refused:
        Duels(store).check(duel, DuelAsked(**{**plain, name: value}), "s")
    assert said in str(refused.value)


def test_another_seed_is_refused(store: Store) -> None:
    with pytest.raises(DatabaseError, match="--seed s, not t"):
        Duels(store).check(begin(store), ASKED, "t")


def test_a_changed_bot_replaces_the_open_duel_and_plays_cards_of_its_own(store: Store) -> None:
    first = begin(store)
    store.add(games(first.round)[:5])
    before = Duels(store).supersede(DuelPair(changed(ADA), BOB))
    assert before is not None
    assert (before.round.closed, before.round.unplayed) == (True, 7)
    second = begin(store, changed(ADA))
    assert (second.round.number, second.round.manifest.season) == (2, 2)
    assert second.round.manifest.previous == first.round.commitment
    assert second.round.secret != first.round.secret
    assert [found for _, found in check_rounds(store.rounds())] == [[], []]


def test_a_bot_of_another_name_does_not_replace_an_open_duel(store: Store) -> None:
    begin(store)
    with pytest.raises(DatabaseError, match="a duel of ada against bob that has no verdict yet"):
        Duels(store).supersede(DuelPair(Bot("cat", "c" * 64), BOB))
    assert League(store).open is not None


def test_bots_that_are_changed_back_play_new_deals(store: Store) -> None:
    first = begin(store)
    Duels(store).close(first)
    second = begin(store)
    assert second.round.manifest.parts[0].first == 6
    assert sorted(second.number(game.result) for game in games(second.round)[:6]) == list(range(6))
    assert not {game.deal for game in games(first.round)} & {game.deal for game in games(second.round)}


def test_duels_and_tournaments_do_not_mix(tmp_path: Path, store: Store) -> None:
    with database(tmp_path / "league.db", a_round()) as league:
        refuse_duels(league)
        with pytest.raises(DatabaseError, match="holds the games of a tournament"):
            Duels(league)
        with pytest.raises(DatabaseError, match="is of a tournament"):
            Duel(League(league).rounds[0])
    begin(store)
    with pytest.raises(DatabaseError, match="holds duels"):
        refuse_duels(store)
