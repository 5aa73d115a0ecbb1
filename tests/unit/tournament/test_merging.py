from __future__ import annotations

import random
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ADA, BOB, CAT, DAN, a_round, database, game, games, play

from referee.contest.publishing import about
from referee.contest.season import Season, standings_of
from referee.errors import DatabaseBusyError, DatabaseError
from referee.record import Bot, GameRecord
from referee.site import data
from referee.store import Store, open_store
from referee.tournament.audit.merging import Joined, Merged, merge
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import Share

OLD_ADA, NEW_ADA = Bot("ada", "00" * 32), Bot("ada", "ff" * 32)
ONE = a_round()
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
COUNT = ONE.schedule.count()


def joined(into: Path, *sources: Path) -> Merged:
    return merge(into, sources, lambda *_: None)


def refusal(into: Path, *sources: Path) -> str:
    """The sentence with which a merge is refused; every file stays as it was."""
    folder = into.parent
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(DatabaseError) as caught:
        joined(into, *sources)
    after = {path: path.read_bytes() for path in folder.iterdir()}
    locks = {path for path in after if path.suffix == ".lock"}
    assert {path: content for path, content in after.items() if path not in locks} == {
        path: content for path, content in before.items() if path not in locks
    }
    text = str(caught.value)
    assert "\n" not in text
    return text.replace(f"{folder}/", "")


def published(store: Store) -> str:
    """The bytes of standings.json."""
    season = Season(store)
    return data.render(standings_of(store, season), about(store, season))


def whole(path: Path, one: Round, **how: object) -> str:
    """What one machine publishes that plays all of a round."""
    with database(path, one) as store:
        play(store, **how)  # type: ignore[arg-type]
        return published(store)


def shards(
    folder: Path, one: Round, of: int, *, faulty: Collection[Bot] = (), at_once: Sequence[int] = (1,)
) -> list[Path]:
    paths = []
    for number in range(1, of + 1):
        paths.append(folder / f"{number}.db")
        with database(paths[-1], one) as store:
            play(store, share=Share(number, of), faulty=faulty, at_once=at_once[(number - 1) % len(at_once)])
    return paths


def content(path: Path) -> object:
    """All that a database says, apart from the times at which rounds were opened and closed."""
    with open_store(path) as store:
        return (store.rounds(), sorted(store.packed()), store.saved_bots(), store.current_bots(), published(store))


# -- as one machine


def test_shares_joined_are_the_standings_of_one_machine_and_close_the_round(tmp_path: Path) -> None:
    paths = shards(tmp_path, ONE, 2)
    merged = joined(paths[0], paths[1])
    [share] = merged.joined
    assert (share.added, share.there, share.differing, share.late) == (COUNT // 2, 0, 0, 0)
    assert [one.number for one in merged.closed] == [1]
    with open_store(paths[0]) as store:
        assert store.rounds()[0].closed
        assert store.counts().games == COUNT
        assert published(store) == whole(tmp_path / "whole.db", ONE)


def test_first_share_alone_leaves_the_round_open(tmp_path: Path) -> None:
    paths = shards(tmp_path, ONE, 3)
    assert joined(tmp_path / "new.db", paths[0], paths[2]).closed == ()
    with open_store(tmp_path / "new.db") as store:
        assert not store.rounds()[0].closed
    assert len(joined(tmp_path / "new.db", paths[1]).closed) == 1


@given(
    faulty=st.sets(st.sampled_from([ADA, BOB, CAT, DAN]), max_size=3),
    max_faults=st.none() | st.integers(1, 12),
    block_size=st.integers(1, 5),
    of=st.integers(1, 3),
    at_once=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    order=st.randoms(use_true_random=False),
    sizes=st.sampled_from([(2,), (3,), (2, 3)]),
)
@settings(max_examples=40, deadline=None)
def test_merged_standings_are_those_of_one_machine_whoever_faults_and_however_fast_shards_are(
    faulty: set[Bot],
    max_faults: int | None,
    block_size: int,
    of: int,
    at_once: list[int],
    order: random.Random,
    sizes: tuple[int, ...],
) -> None:
    one = a_round((ADA, BOB, CAT, DAN), sizes=sizes, max_faults=max_faults, block_size=block_size)
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        expected = whole(folder / "whole.db", one, faulty=faulty)
        paths = shards(folder, one, of, faulty=faulty, at_once=at_once)
        order.shuffle(paths)
        into = paths.pop() if order.random() < 0.5 and len(paths) > 1 else folder / "new.db"
        if order.random() < 0.5:
            joined(into, *paths)
        else:
            for path in paths:
                joined(into, path)
        with open_store(into, create=True) as store:
            if not store.rounds()[0].closed:  # two withdrawn bots met, and a shard could not know of both
                assert len(faulty) > 1
                store.claim()
                play(store, faulty=faulty)
                assert store.rounds()[0].closed
            assert published(store) == expected


@pytest.mark.parametrize("order", ["123", "231", "321", "213"])
def test_shares_of_uneven_speed_with_a_withdrawn_bot_are_joined_in_any_order(tmp_path: Path, order: str) -> None:
    one = a_round((ADA, BOB, CAT, DAN), deals=6, max_faults=3, block_size=2)
    expected = whole(tmp_path / "whole.db", one, faulty=[BOB])
    shards(tmp_path, one, 3, faulty=[BOB], at_once=(1, 4, 100))
    for number in order:
        joined(tmp_path / "into.db", tmp_path / f"{number}.db")
    with open_store(tmp_path / "into.db") as store:
        assert [bot.name for bot in Season(store).withdrawn] == ["bob"]
        assert store.rounds()[0].closed
        assert published(store) == expected
        assert store.counts().games < one.schedule.count()


def test_two_rounds_of_several_machines_with_a_changed_bot_are_as_on_one(tmp_path: Path) -> None:
    first = a_round((OLD_ADA, BOB))
    second = a_round((NEW_ADA, BOB), after=first)
    with database(tmp_path / "main.db", first) as main, database(tmp_path / "other.db", second) as other:
        play(main)
        play(other, share=Share(2, 2))
    with database(tmp_path / "main2.db", first) as main:
        play(main)
    with database(tmp_path / "main2.db", second) as main:
        play(main, share=Share(1, 2))
    with database(tmp_path / "whole.db", first) as store:
        play(store)
    with database(tmp_path / "whole.db", second) as store:
        play(store)
        expected = published(store)
    for name, sources in {
        "a": ["main2", "other"],
        "b": ["other", "main2"],
        "c": ["main", "other", "main2"],
        "main": ["other", "main2"],  # it knows nothing of the second round
        "other": ["main2"],  # and this one nothing of the first
    }.items():
        joined(tmp_path / f"{name}.db", *(tmp_path / f"{source}.db" for source in sources))
        with open_store(tmp_path / f"{name}.db") as store:
            assert published(store) == expected, name
            assert store.current_bots() == {NEW_ADA, BOB}
            assert [one.closed for one in store.rounds()] == [True, True]


def test_older_version_of_a_shard_does_not_become_the_current_one(tmp_path: Path) -> None:
    one = a_round((OLD_ADA, BOB))
    with database(tmp_path / "share.db", one) as store:
        play(store, share=Share(1, 2))
    with database(tmp_path / "main.db", one) as store:
        play(store)
    with database(tmp_path / "main.db", a_round((NEW_ADA, BOB), after=one)):
        pass
    for into in ("main.db", "new.db"):
        sources = ["share.db"] if into == "main.db" else ["main.db", "share.db"]
        joined(tmp_path / into, *(tmp_path / source for source in sources))
        with open_store(tmp_path / into) as store:
            assert store.current_bots() == {NEW_ADA, BOB}


def test_authors_are_those_of_the_round_and_not_what_the_machine_of_a_share_said(tmp_path: Path) -> None:
    plain = a_round((ADA, BOB)).manifest
    entries = [msgspec.structs.replace(entry, author="eve" if entry.bot == ADA else "") for entry in plain.bots]
    one = Round(text=msgspec.structs.replace(plain, bots=tuple(entries)).to_json(), secret=bytes(16))
    with database(tmp_path / "share.db", one) as store:
        store.save_bots({BOB: {"language": "C", "author": "bob"}})
        play(store)
    joined(tmp_path / "new.db", tmp_path / "share.db")
    with open_store(tmp_path / "new.db") as store:
        assert store.bots() == {ADA: {"language": "Python", "author": "eve"}, BOB: {"language": "C"}}


# -- again, and what is there


def test_same_merge_again_changes_nothing(tmp_path: Path) -> None:
    paths = shards(tmp_path, ONE, 2)
    joined(tmp_path / "new.db", *paths)
    before = content(tmp_path / "new.db")
    again = joined(tmp_path / "new.db", *paths)
    assert again.closed == ()
    assert [(one.added, one.there, one.differing, one.late) for one in again.joined] == [(0, COUNT // 2, 0, 0)] * 2
    assert content(tmp_path / "new.db") == before


def test_game_that_went_otherwise_stays_as_it_was_first_and_is_counted(tmp_path: Path) -> None:
    line_up = (ADA, BOB)
    first = [game(ONE, line_up, deal, 0) for deal in range(3)]
    second = [game(ONE, line_up, deal, 0, way="again") for deal in (1, 2, 3)]
    for name, some in (("a", first), ("b", second)):
        with database(tmp_path / f"{name}.db", ONE) as store:
            store.add(some)
    merged = joined(tmp_path / "a.db", tmp_path / "b.db")
    assert merged.joined == (Joined(tmp_path / "b.db", 1, added=1, there=2, differing=2, late=0),)
    with open_store(tmp_path / "a.db") as store:
        assert sorted(store.packed()) == sorted(one.packed for one in [*first, second[-1]])


def test_closed_round_takes_no_more_games(tmp_path: Path) -> None:
    paths = shards(tmp_path, ONE, 2)
    with open_store(paths[0]) as store:
        store.claim()
        store.close_round(1)
        here = store.counts().games
    merged = joined(paths[0], paths[1])
    assert [(one.added, one.there, one.late) for one in merged.joined] == [(0, 0, COUNT // 2)]
    with open_store(paths[0]) as store:
        assert store.counts().games == here


def test_round_that_a_source_has_closed_is_closed_after_its_games_came_in(tmp_path: Path) -> None:
    paths = shards(tmp_path, ONE, 3)
    with open_store(paths[1]) as store:
        store.claim()
        store.close_round(1)
    merged = joined(tmp_path / "new.db", paths[0], paths[1])
    assert sum(one.added for one in merged.joined) == 2 * COUNT // 3
    assert [one.number for one in merged.closed] == [1]


# -- refusals


def test_forged_and_foreign_games_are_refused_by_name_and_nothing_is_written(tmp_path: Path) -> None:
    good = games(ONE)
    other = a_round(secret=bytes(16))
    line_up = (ADA, BOB)
    forged = good[0]._replace(places=good[0].places[::-1])
    for number, (bad, why) in enumerate(
        [
            (game(other, line_up, 1, 0), "by the round's secret its id would be"),
            (game(a_round(deals=9), line_up, 8, 0), "its round has no such game"),
            (game(a_round((ADA, DAN)), (ADA, DAN), 0, 0), "its round has no such game"),
            (forged, "what is stored beside its record is not what the record says"),
            (good[0]._replace(game_id="x"), "by the round's secret its id would be"),
            (good[0]._replace(packed=good[1].packed), "its record has another id and another"),
            (good[0]._replace(packed=b"x"), "its record cannot be read"),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        with database(folder / "from.db", ONE) as store:
            store.add([bad, *good[2:5]])
        with database(folder / "into.db", ONE) as store:
            store.add(good[7:8])
        for into in ("into.db", "new.db"):
            text = refusal(folder / into, folder / "from.db")
            assert text.startswith(
                f"from.db cannot be merged: round 1, game {bad.game_id} (deal {bad.deal}, rotation 0 of "
            )
            assert why in text


def test_rounds_that_do_not_fit_are_refused_naming_both_databases(tmp_path: Path) -> None:
    other, second = a_round(secret=bytes(16)), a_round(after=ONE, first=4)
    strange = a_round(after=other, first=4)
    for name, rounds in {
        "one": [ONE], "other": [other], "second": [ONE, second], "strange": [strange], "late": [second]
    }.items():  # fmt: skip
        database(tmp_path / f"{name}.db", *rounds).close()
    path = {name.stem: name for name in tmp_path.glob("*.db")}
    seals = f"committed to {other.commitment[:16]}… and {ONE.commitment[:16]}…"
    assert refusal(path["one"], path["other"]) == f"round 1 of other.db and of one.db are two rounds: they are {seals}"
    assert refusal(tmp_path / "new.db", path["one"], path["other"]).startswith("round 1 of other.db and of one.db")
    assert refusal(path["one"], path["strange"]) == (
        "round 2 of strange.db was not opened after round 1 of one.db: they are of two leagues"
    )
    assert refusal(path["one"], path["late"]) == (
        "round 1 is still open in one.db, and late.db has round 2 after it: merge or play what round 1 lacks first, or "
        "end it with `referee tournament --close-round`"
    )
    assert refusal(path["late"], path["one"]).startswith("round 1 is still open in one.db, and late.db has round 2")


def test_what_is_no_database_or_named_twice_is_refused(tmp_path: Path) -> None:
    database(tmp_path / "a.db", ONE).close()
    (tmp_path / "link.db").symlink_to("a.db")
    (tmp_path / "hard.db").hardlink_to(tmp_path / "a.db")
    (tmp_path / "text.db").write_text("no" * 1000)
    assert refusal(tmp_path / "a.db", tmp_path / "link.db") == "link.db and a.db are one file: name each database once"
    assert refusal(tmp_path / "a.db", tmp_path / "hard.db") == "hard.db and a.db are one file: name each database once"
    assert refusal(tmp_path / "b.db", tmp_path / "b.db") == "b.db and b.db are one file: name each database once"
    assert refusal(tmp_path / "b.db", tmp_path / "a.db", tmp_path / "a.db").startswith("a.db and a.db are one file")
    assert refusal(tmp_path / "a.db", tmp_path / "text.db") == "text.db is no database: name another file"
    assert refusal(tmp_path / "text.db", tmp_path / "a.db") == "text.db is no database: name another file"
    assert refusal(tmp_path / "a.db", tmp_path / "none.db").startswith("there is no database none.db")


def test_games_of_no_round_are_refused(tmp_path: Path) -> None:
    with database(tmp_path / "a.db", ONE) as store:
        store.add([games(ONE)[0]._replace(round=7)])
    assert refusal(tmp_path / "new.db", tmp_path / "a.db") == (
        "a.db cannot be merged: it has games of a round 7, which it never opened"
    )


def test_database_on_which_somebody_plays_is_not_merged_into_but_may_be_merged(tmp_path: Path) -> None:
    paths = shards(tmp_path, ONE, 2)
    with open_store(paths[0]) as store:
        store.claim()
        with pytest.raises(DatabaseBusyError):
            joined(paths[0], paths[1])
        assert len(joined(tmp_path / "new.db", *paths).closed) == 1


def test_records_are_as_they_were(tmp_path: Path) -> None:
    paths = shards(tmp_path, ONE, 2)
    joined(tmp_path / "new.db", *paths)
    with open_store(tmp_path / "new.db") as store:
        expected = {one.game_id: GameRecord.unpack(one.packed) for one in games(ONE)}
        assert {record.game_id: record for record in store.records()} == expected
