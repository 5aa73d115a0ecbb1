from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ADA, BOB, CAT, a_round, database, games

from referee.record import GameRecord, Step
from referee.store import Stored, StoredRound, open_store
from referee.tournament.audit.due import Depth
from referee.tournament.audit.verifying import check_rounds, verify
from referee.tournament.rounds.keys import secret_from_seed
from referee.tournament.rounds.rounds import Round, commitment

ONE = a_round()
SENSELESS = StoredRound(1, 1, "{}", commitment(bytes(16), b"{}"), "00" * 16, seed=None, sealed=True, closed=True)
GAMES = games(ONE, faulty=[CAT])


def findings(some: list[Stored], *, one: Round = ONE, depth: Depth = Depth.WITH_REPLAYS, count: int = 0) -> list[str]:
    """What is wrong with these games, without the words that name them."""
    return [finding for found in verify(one, some, depth=depth, count=count) for finding in found.findings]


def reasons(some: list[Stored], **how: object) -> list[str]:
    return [finding.split("): ", 1)[1] for finding in findings(some, **how)]  # type: ignore[arg-type]


def changed(stored: Stored, **fields: object) -> Stored:
    """A game whose record says something else, and its columns with it."""
    record = msgspec.structs.replace(GameRecord.unpack(stored.packed), **fields)
    return Stored.of(record)._replace(round=stored.round)


def test_games_that_are_due_have_no_findings() -> None:
    assert any(game.faults for game in GAMES)
    for depth in Depth:
        assert findings(GAMES, depth=depth) == []


def test_each_fault_of_a_game_is_named() -> None:
    game, other = GAMES[0], GAMES[1]
    record, strange = GameRecord.unpack(game.packed), GameRecord.unpack(other.packed)
    for bad, why in {
        game._replace(deal=4): "its round has no such game",
        game._replace(rotation=2): "its round has no such game",
        game._replace(line_up=(ADA, ADA)): "its round has no such game",
        game._replace(line_up=(BOB, ADA)): "its round has no such game",
        game._replace(deal="x"): "its round has no such game",  # type: ignore[arg-type]
        game._replace(packed=game.packed[:-1]): "its record cannot be read",
        game._replace(packed=7): "its record cannot be read",  # type: ignore[arg-type]
        game._replace(faults=1): "what is stored beside its record is not what the record says",
        game._replace(seats=game.seats[::-1]): "what is stored beside its record is not what the record says",
        changed(game, game_id="00"): f"by the round's secret its id would be {game.game_id}",
        changed(game, deck=strange.deck): "its record has another deck than is due",
        changed(game, key=strange.key, deck=strange.deck): "its record has another key and another deck than is due",
        changed(game, seeds=strange.seeds): "its record has another list of seeds than is due",
        changed(game, version=1): "its record has another version than is due",
        changed(game, round=2): "its record has another round than is due",
        changed(game, round=None): "its record has another round than is due",
        changed(game, rules=type(record.rules)(stall_limit=7)): ("its record has another set of rules than is due"),
        changed(game, places=record.places[::-1]): (
            f"game {game.game_id}: played again it ends otherwise than its record says"
        ),
    }.items():
        assert reasons([other, bad]) == [why]


def test_wrong_play_is_found_by_replaying_alone() -> None:
    record = GameRecord.unpack(GAMES[0].packed)
    for steps in (record.steps[:-1], record.steps[::-1], ()):
        bad = changed(GAMES[0], steps=steps)
        assert len(findings([bad])) == 1
        assert findings([bad], depth=Depth.WITHOUT_REPLAYS) == []


@given(
    step=st.integers(0, 5),
    seat=st.integers(-9, 99),
    action=st.none() | st.text(max_size=9),
    fault_seat=st.integers(-9, 9),
)
@settings(max_examples=50, deadline=None)
def test_garbage_in_a_record_is_a_finding_and_no_error(
    step: int, seat: int, action: str | None, fault_seat: int
) -> None:
    game = next(game for game in GAMES if game.faults)
    record = GameRecord.unpack(game.packed)
    steps = list(record.steps)
    steps.insert(step, Step(seat, action, 0))
    faults = tuple(msgspec.structs.replace(fault, seat=fault_seat) for fault in record.faults)
    bad = changed(game, steps=tuple(steps), faults=faults)
    assert len(findings([bad])) <= 1


def test_rounds_are_judged_by_their_seal_their_order_and_what_they_say() -> None:
    second = a_round(after=ONE, first=4)
    third = a_round(after=second, first=8)
    closed = [msgspec.structs.replace(one, closed=True).stored() for one in (ONE, second, third)]
    assert [found for _, found in check_rounds(closed)] == [[], [], []]
    assert [found for _, found in check_rounds([closed[1]])] == [[]]
    assert [found for _, found in check_rounds([closed[0], closed[2]])] == [[], []]

    def found(*rounds: object) -> list[str]:
        return [text for _, texts in check_rounds(rounds) for text in texts]  # type: ignore[arg-type]

    for wrong in (
        closed[0]._replace(secret="00" * 16),
        closed[0]._replace(secret="x"),
        closed[0]._replace(commitment="00" * 32),
        closed[0]._replace(manifest=closed[0].manifest.replace('"deals":4', '"deals":5')),
    ):
        assert found(wrong, closed[1]) == ["round 1 is damaged: its secret and manifest are not those committed to"]
    assert found(closed[0]._replace(closed=False), closed[1]) == ["round 1 is open, though round 2 was opened after it"]
    other = a_round(secret=bytes(16)).stored()._replace(closed=True)
    assert found(other, closed[1]) == ["round 2 was not opened after this round 1: it names another commitment"]
    assert found(closed[0]._replace(season=3)) == [
        "round 1 is stored under another number or season than its manifest names"
    ]
    practice = a_round(secret=secret_from_seed("s")).stored()
    assert found(practice) == ["round 1 is called sealed, and its secret comes from a seed"]
    [text] = found(SENSELESS)
    assert text.startswith("the manifest of a round is damaged")


def test_games_of_a_damaged_database_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with database(path, ONE) as store:
        store.add(GAMES)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "UPDATE games SET line_up = 99 WHERE deal = 0 AND rotation = 0 AND line_up = 1;"
            "DELETE FROM records WHERE record = (SELECT record FROM games WHERE deal = 1 AND rotation = 0 AND line_up = 1)"
        )
    with open_store(path) as store:
        assert reasons(list(store.games(1))) == ["its record cannot be read", "its round has no such game"]
        assert list(store.damage()) == [
            "the file: 1 of games name one of line_ups that is missing",
            "the file: 1 of games name one of records that is missing",
        ]
