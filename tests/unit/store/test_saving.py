from __future__ import annotations

import pickle
import random
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import ANNA, BERT, CARL, START, played

from referee.errors import DatabaseError
from referee.record import Bot, GameRecord, LineUp
from referee.store import Store, Stored, open_store, schedule_key

NEW_ANNA = Bot("anna", "0f" * 32)
LINE_UPS: Sequence[LineUp] = [(ANNA, BERT), (ANNA, CARL), (ANNA, ANNA), (ANNA, BERT, CARL), (NEW_ANNA, BERT)]


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    """Games of several line-ups in schedule order, with faults here and there."""
    return [
        played(
            line_up,
            deal=deal,
            rotation=rotation,
            faults={1: START} if deal == 1 else {0: 2} if deal == 2 else {},
            notes={0: "é\x1b[31m" if deal == 0 else "ok"},
        )
        for line_up in sorted(LINE_UPS, key=schedule_key)
        for deal in range(4)
        for rotation in range(len(line_up))
    ]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "a.db", create=True)
    store.claim()
    return store


def shuffled(records: list[GameRecord]) -> list[Stored]:
    games = [Stored.of(record) for record in records]
    random.Random(1).shuffle(games)
    return games


def test_games_come_back_in_schedule_order_whatever_order_they_were_added_in(
    store: Store, records: list[GameRecord]
) -> None:
    games = shuffled(records)
    for start in range(0, len(games), 7):
        store.add(games[start : start + 7])
    assert list(store.records()) == records
    assert list(store.results()) == [record.result for record in records]
    with open_store(store.path) as reader:
        assert list(reader.records()) == records
        assert list(reader.results()) == [record.result for record in records]


def test_schedule_order_is_players_then_names_then_hashes() -> None:
    two, three = Bot("a", "2"), Bot("a", "3")
    line_ups = [(ANNA, BERT, CARL), (ANNA, CARL), (three, BERT), (two, CARL), (ANNA, BERT), (two, BERT)]
    assert sorted(line_ups, key=schedule_key) == [
        (two, BERT), (three, BERT), (two, CARL), (ANNA, BERT), (ANNA, CARL), (ANNA, BERT, CARL)
    ]  # fmt: skip


def test_results_and_records_of_one_number_of_players(store: Store, records: list[GameRecord]) -> None:
    store.add(shuffled(records))
    for players in (2, 3, 4):
        some = [record for record in records if len(record.seats) == players]
        assert list(store.results(players)) == [record.result for record in some]
        assert list(store.records(players)) == some


def test_stored_game_says_its_result_and_survives_a_pipe(records: list[GameRecord]) -> None:
    for record in records:
        stored = pickle.loads(pickle.dumps(Stored.of(record)))
        assert stored == Stored.of(record)
        assert stored.result == record.result
        assert stored.line_up == record.result.line_up
        assert GameRecord.unpack(stored.packed) == record


def test_game_that_is_there_is_left_as_it_is_and_counted_as_known(store: Store) -> None:
    first, again, other = played(game_id="first"), played(game_id="again"), played(deal=1)
    assert store.add([Stored.of(first)]) == 1
    assert store.add([Stored.of(again), Stored.of(other), Stored.of(other), Stored.of(again)]) == 1
    assert store.add([]) == 0
    assert list(store.records()) == [first, other]
    assert store.counts().games == 2
    assert store._db.execute("SELECT count(*) FROM records").fetchone() == (2,)


CHOICES = [Stored.of(played(line_up, deal=deal)) for line_up in LINE_UPS for deal in range(3)]


@given(st.lists(st.lists(st.sampled_from(CHOICES), max_size=6), max_size=6))
@settings(max_examples=40, deadline=None)
def test_any_adds_with_any_repeats_give_the_set(batches: list[list[Stored]]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "a.db", create=True) as store:
        store.claim()
        new = sum(store.add(batch) for batch in batches)
        expected = {game.game_id: game for batch in batches for game in batch}
        assert new == len(expected) == store.counts().games
        assert {record.game_id for record in store.records()} == expected.keys()
        assert sorted(store.results()) == sorted(game.result for game in expected.values())
        assert store._db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_played_deals_are_ranges_unless_there_are_gaps(store: Store) -> None:
    games = [(ANNA, BERT, 0, deal) for deal in range(5)] + [(ANNA, BERT, 1, deal) for deal in (1, 2, 5)]
    games += [(ANNA, CARL, 1, deal) for deal in (7, 8)]
    store.add([Stored.of(played((one, two), rotation=rotation, deal=deal)) for one, two, rotation, deal in games])
    assert store.played() == {
        (ANNA, BERT): {0: range(5), 1: frozenset({1, 2, 5})},
        (ANNA, CARL): {1: range(7, 9)},
    }


def test_counts_are_of_games_line_ups_bots_faults_and_decisions(store: Store, records: list[GameRecord]) -> None:
    store.add(shuffled(records))
    faults = sum(len(record.faults) for record in records)
    decisions = sum(len(record.steps) for record in records)
    assert faults > 0
    assert store.counts() == (len(records), len(LINE_UPS), 4, faults, decisions)


def test_faults_come_with_their_games(store: Store, records: list[GameRecord]) -> None:
    store.add(shuffled(records))
    assert list(store.faults()) == [(record, fault) for record in records for fault in record.faults]


def test_bots_are_kept_with_their_latest_words(store: Store) -> None:
    store.add([Stored.of(played((BERT, CARL)))])
    store.save_bots({ANNA: {"language": "Rust", "author": "<b>é</b>"}, BERT: {}})
    store.save_bots({ANNA: {"language": "Go"}})
    assert list(store.bots().items()) == [(ANNA, {"language": "Go"}), (BERT, {}), (CARL, {})]
    assert store.add([Stored.of(played((ANNA, BERT)))]) == 1
    assert len(store.bots()) == 3


def test_current_bots_are_those_saved_last_under_their_names(store: Store) -> None:
    store.add([Stored.of(played((NEW_ANNA, CARL)))])
    store.save_bots({ANNA: {}, BERT: {}})
    assert store.current_bots() == {ANNA, BERT, CARL}
    store.save_bots({NEW_ANNA: {}})
    assert store.current_bots() == {NEW_ANNA, BERT, CARL}
    store.save_bots({ANNA: {}})
    assert store.current_bots() == {ANNA, BERT, CARL}


def test_game_is_found_by_its_id_or_the_beginning_of_it(store: Store) -> None:
    ids = ["ab1", "ab12", "ac%", "AC_"]
    games = {game_id: played(deal=deal, game_id=game_id) for deal, game_id in enumerate(ids)}
    store.add([Stored.of(game) for game in games.values()])
    for asked, found in {"ab1": "ab1", "ab12": "ab12", "ac": "ac%", "A": "AC_", "ac%": "ac%"}.items():
        assert store.record(asked) == games[found]


def test_unknown_ambiguous_and_empty_ids_are_refused_with_a_hint(store: Store) -> None:
    store.add([Stored.of(played(deal=deal, game_id=f"ab{deal}")) for deal in range(5)])
    for asked, text in {
        "x%": f"there is no game 'x%' in {store.path}: `referee export --format csv` lists them",
        "a_": f"there is no game 'a_' in {store.path}: `referee export --format csv` lists them",
        "ab": "several games begin with 'ab': ab0, ab1, ab2, …; give more of the id",
        "": "a game is named by its id or by the beginning of it",
    }.items():
        with pytest.raises(DatabaseError) as caught:
            store.record(asked)
        assert str(caught.value) == text


def test_reader_sees_the_moment_of_its_opening_while_another_writes(store: Store) -> None:
    store.add([Stored.of(played(deal=0))])
    with open_store(store.path) as before:
        results = before.results()
        assert next(results).deal == 0
        for deal in range(1, 4):
            store.add([Stored.of(played(deal=deal))])
        assert list(results) == []
        assert len(list(before.records())) == before.counts().games == 1
    with open_store(store.path) as after:
        assert [result.deal for result in after.results()] == [0, 1, 2, 3]


def test_player_adds_while_it_reads(store: Store) -> None:
    store.add([Stored.of(played(line_up)) for line_up in LINE_UPS])
    seen = []
    for result in store.results():
        seen.append(result)
        if result.deal == 0:
            store.add([Stored.of(played(result.line_up, deal=deal)) for deal in (1, 2)])
    assert len({*seen}) == len(seen) >= len(LINE_UPS)
    assert store.counts().games == 3 * len(LINE_UPS)


def test_batch_that_cannot_be_saved_leaves_nothing(store: Store) -> None:
    good = Stored.of(played((BERT, CARL)))
    bad = Stored.of(played((ANNA, CARL)))._replace(deal=1 << 70)
    with pytest.raises(OverflowError):
        store.add([good, bad])
    assert store.counts() == (0, 0, 0, 0, 0)
    assert store.add([good]) == 1
    assert list(store.results()) == [good.result]


def test_closed_store_is_the_callers_mistake_and_no_damage(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        list(store.results())


def test_who_was_held_is_told_by_bot_with_the_games_and_the_ms(store: Store) -> None:
    held = [((0,), (12, 3)), ((), (4, 4)), ((0, 1), (700, 1))]
    games = [
        msgspec.structs.replace(played(deal=deal, rotation=0), held=seats, idle_cpu_ms=idle)
        for deal, (seats, idle) in enumerate(held)
    ]
    store.claim()
    store.add([Stored.of(game) for game in games])
    first, second = (games[0].seats[seat] for seat in (0, 1))
    assert store.held() == {first: (2, 712), second: (1, 1)}
    assert store.held([games[0].round or 0]) == store.held()
    assert store.held([77]) == {}
    assert list(store.records()) == games
