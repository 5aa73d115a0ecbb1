"""A round's manifest and secret are bound by its commitment, and travel and come back as they were."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.bots.process.limits import Limits
from referee.errors import DatabaseError, InputError
from referee.record import Bot
from referee.rules import DEFAULT_RULES, Rules, Scoring
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.rounds import Entry, Round, RoundManifest, RoundPart, from_file, parts_of, to_file
from referee.tournament.rounds.schedule import Owing, Schedule

BOTS = tuple(Bot(name, letter * 64) for name, letter in zip(("ann", "bob", "cyd", "dee"), "abcd", strict=True))
ENTRIES = tuple(Entry(name=bot.name, hash=bot.hash, players=(2, 3), author="Ä") for bot in BOTS)
FIELD = [table for size in (2, 3, 4) for table in combinations(BOTS, size)]
SECRET = bytes(range(16))


def manifest(*, scoring: Scoring = Scoring.PLACES, previous: str | None = None) -> RoundManifest:
    return RoundManifest(
        season=2,
        round=7,
        previous=previous,
        conditions=Conditions(Rules(scoring=scoring), Limits(10_000, None, 60_000), 20),
        max_faults=25,
        block_size=3,
        bots=ENTRIES,
        parts=parts_of(BOTS, [Owing((BOTS[0], BOTS[1]), 4, 6), Owing((BOTS[1], BOTS[2], BOTS[3]), 0, 10)]),
    )


ROUND = Round(text=manifest(previous="ab" * 32).to_json(), secret=SECRET)

owings_given = st.lists(
    st.tuples(st.sampled_from(FIELD), st.integers(0, 5), st.integers(1, 4)), unique_by=lambda owing: owing[0]
).map(lambda found: [Owing(*one) for one in found])


def test_commitment_is_sha256_of_the_secret_and_then_the_manifest() -> None:
    text = b'{"any":"bytes"}'
    expected = hashlib.sha256(bytes.fromhex("000102030405060708090a0b0c0d0e0f") + text).hexdigest()
    assert Round(text=text, secret=SECRET).commitment == expected
    assert ROUND.commitment == hashlib.sha256(SECRET + ROUND.text).hexdigest()


def test_manifest_comes_back_from_its_json_and_gives_the_same_bytes() -> None:
    for one in (manifest(), manifest(scoring=Scoring.WINNER, previous="00" * 32)):
        back = Round(text=one.to_json(), secret=SECRET).manifest
        assert back == one
        assert back.to_json() == one.to_json()


def test_manifest_is_one_line_of_json_that_says_all_that_is_frozen() -> None:
    text = ROUND.text
    assert b"\n" not in text
    assert b'": ' not in text
    found = json.loads(text)
    assert list(found) == [
        "format", "game", "season", "round", "previous", "conditions", "max_faults", "block_size", "bots", "parts",
    ]  # fmt: skip
    assert found["conditions"] == {
        "rules": {**msgspec.to_builtins(DEFAULT_RULES), "scoring": "places"},
        "limits": {"start_ms": 10_000, "move_ms": None, "game_ms": 60_000},
        "pace_ms": 20,
        "processes": "many_games",
        "isolation": "D",
        "box": {
            "memory": 536_870_912,
            "processes": 64,
            "file_size": 16_777_216,
            "tmp_size": 33_554_432,
            "open_files": 64,
            "stderr": 32_768,
        },
    }
    assert found["bots"][1] == {"name": "bob", "hash": "b" * 64, "players": [2, 3], "author": "Ä"}
    assert found["parts"] == [
        {"first": 4, "deals": 6, "line_ups": [[0, 1]]},
        {"first": 0, "deals": 10, "line_ups": [[1, 2, 3]]},
    ]


def test_a_round_comes_back_from_the_store_as_it_was() -> None:
    for one in (ROUND, msgspec.structs.replace(ROUND, seed="tea", sealed=False, closed=True)):
        assert Round.of(one.stored()) == one
        assert (one.stored().number, one.stored().season) == (7, 2)


@given(st.data())
def test_any_changed_byte_of_secret_or_manifest_is_found(data: st.DataObject) -> None:
    stored = ROUND.stored()
    column = data.draw(st.sampled_from(["secret", "manifest"]))
    text = getattr(stored, column)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from("0123456789abcdefx").filter(lambda letter: letter != text[at]))
    damaged = stored._replace(**{column: text[:at] + other + text[at + 1 :]})
    with pytest.raises(DatabaseError, match="round 7 is damaged: its secret and manifest are not those committed to"):
        Round.of(damaged)


@pytest.mark.parametrize("secret", ["", "00", SECRET.hex() + "00", "no hex at all, but 32 letters!!!!"])
def test_a_secret_of_another_size_is_damage_even_where_the_commitment_is_its_own(secret: str) -> None:
    try:
        raw = bytes.fromhex(secret)
    except ValueError:
        raw = b""
    stored = ROUND.stored()._replace(secret=secret, commitment=hashlib.sha256(raw + ROUND.text).hexdigest())
    with pytest.raises(DatabaseError, match="damaged"):
        Round.of(stored)


@pytest.mark.parametrize("fields", [{"format": 3}, {"format": "1"}, {"game": "bridge"}, {"round": "7"}, {"bots": None}])
def test_a_manifest_of_another_kind_is_not_read_as_if_it_were_one_of_ours(fields: dict[str, object]) -> None:
    text = json.dumps({**json.loads(ROUND.text), **fields}).encode()
    with pytest.raises(DatabaseError, match="the manifest of a round is damaged: "):
        _ = Round(text=text, secret=SECRET).manifest


def test_a_text_that_is_no_manifest_is_told_in_one_sentence() -> None:
    for text in (b"", b"{}", b"[1]", b"\xff", ROUND.text[:-1], ROUND.text.replace(b'"winner"', b'"x"')[:40]):
        with pytest.raises(DatabaseError, match="the manifest of a round is damaged: ") as caught:
            _ = Round(text=text, secret=SECRET).manifest
        assert "\n" not in str(caught.value)


def part(**fields: Any) -> dict[str, Any]:
    return {"parts": [{"first": 0, "deals": 1, "line_ups": [[0, 1]], **fields}]}


@pytest.mark.parametrize(
    "fields",
    [
        {"season": 0},
        {"round": -4},
        {"round": 2**70},
        {"max_faults": 0},
        {"block_size": 0},
        {"block_size": -1},
        {"block_size": 10**12},
        {"bots": json.loads(ROUND.text)["bots"][::-1]},
        {"bots": json.loads(ROUND.text)["bots"][:1] * 4},
        part(first=-3),
        part(deals=0),
        part(deals=-5),
        part(deals=2**70),
        part(line_ups=[[0]]),
        part(line_ups=[[0, 1, 2, 3, 0, 1, 2]]),
        part(line_ups=[[0, 0]]),
        part(line_ups=[[1, 0]]),
        part(line_ups=[[0, -1]]),
        part(line_ups=[[-1, 0]]),
        part(line_ups=[[0, 4]]),
    ],
    ids=str,
)
def test_a_manifest_whose_games_could_not_be_played_or_found_again_is_damaged(fields: dict[str, object]) -> None:
    text = json.dumps({**json.loads(ROUND.text), **fields}).encode()
    with pytest.raises(DatabaseError, match="the manifest of a round is damaged: "):
        _ = Round(text=text, secret=SECRET).manifest


def test_the_smallest_manifest_is_whole() -> None:
    text = json.dumps({**json.loads(ROUND.text), "season": 1, "round": 1, "max_faults": 1, "block_size": 1, **part()})
    assert Round(text=text.encode(), secret=SECRET).schedule.count() == 2


# -- files


@pytest.mark.parametrize("one", [ROUND, msgspec.structs.replace(ROUND, seed="tea", sealed=False)])
def test_a_round_travels_in_a_file(one: Round) -> None:
    assert from_file(to_file(one), "round.json") == one
    assert to_file(from_file(to_file(one), "round.json")) == to_file(one)


def test_a_round_file_holds_the_manifest_to_the_byte_its_secret_and_its_commitment() -> None:
    found = json.loads(to_file(ROUND))
    assert found == {
        "four_widows_round": 1,
        "manifest": ROUND.text.decode(),
        "secret": SECRET.hex(),
        "commitment": hashlib.sha256(SECRET + ROUND.text).hexdigest(),
        "seed": None,
        "sealed": True,
    }


def test_a_closed_round_is_open_on_the_other_machine() -> None:
    assert not from_file(to_file(msgspec.structs.replace(ROUND, closed=True)), "x").closed


def changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(to_file(ROUND)), **fields}).encode()


def recommitted(text: str) -> bytes:
    """A file whose commitment fits whatever its manifest says."""
    return changed(manifest=text, commitment=hashlib.sha256(SECRET + text.encode()).hexdigest())


def other_manifest(**fields: Any) -> bytes:
    return recommitted(json.dumps({**json.loads(ROUND.text), **fields}))


TWICE = [{"first": 0, "deals": 1, "line_ups": [[0, 1], [0, 1]]}]
NOBODY = [{"first": 0, "deals": 1, "line_ups": [[0, 9]]}]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is no round that `referee tournament --plan` wrote"),
        (b"\xff\xfe", "is no round that `referee tournament --plan` wrote"),
        (b"[]", "is no round that `referee tournament --plan` wrote"),
        (to_file(ROUND)[:-10], "is no round that `referee tournament --plan` wrote"),
        (changed(more=1), "is no round that `referee tournament --plan` wrote"),
        (changed(secret=7), "is no round that `referee tournament --plan` wrote"),
        (changed(four_widows_round=2), "is no round that `referee tournament --plan` wrote"),
        (changed(secret="ff" * 16), "is damaged: write it anew"),
        (other_manifest(format=3), "is damaged: write it anew"),
        (other_manifest(game="bridge"), "is damaged: write it anew"),
        (changed(secret="xy"), "is damaged: write it anew"),
        (changed(commitment="0" * 64), "is damaged: write it anew"),
        (changed(manifest=ROUND.text.decode().replace("bob", "bop")), "is damaged: write it anew"),
        (recommitted("{}"), "is damaged: write it anew"),
        (recommitted(ROUND.text.decode()[:-1]), "is damaged: write it anew"),
        (other_manifest(parts=TWICE), "is damaged: write it anew"),
        (other_manifest(parts=NOBODY), "is damaged: write it anew"),
    ],
)
def test_a_damaged_round_file_is_refused_in_one_sentence_that_names_it(data: bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        from_file(data, "my/round.json")
    assert str(caught.value).startswith(f"my/round.json {says}")
    assert "\n" not in str(caught.value)


@given(st.integers(0, len(to_file(ROUND)) - 1), st.binary(min_size=1, max_size=1))
def test_no_byte_of_a_round_file_can_change_what_is_played(at: int, byte: bytes) -> None:
    data = to_file(ROUND)
    try:
        found = from_file(data[:at] + byte + data[at + 1 :], "x")
    except InputError:
        return
    assert (found.text, found.secret) == (ROUND.text, ROUND.secret)


# -- parts


@given(owings_given, st.integers(1, 5))
def test_parts_keep_what_is_owed_in_the_order_of_the_schedule(owings: list[Owing], block_size: int) -> None:
    """Smaller tables, then those that play alike: within such a group the order in which they came."""
    parts = parts_of(BOTS, owings)
    one = Round(text=msgspec.structs.replace(manifest(), parts=parts, block_size=block_size).to_json(), secret=SECRET)
    kept = list(one.manifest.owings())
    assert sorted(kept) == sorted(owings)
    direct = Schedule(kept, block_size=block_size)
    assert list(one.schedule.owed({})) == list(direct.owed({}))
    assert list(one.schedule.owings()) == kept
    sizes = [len(owing.line_up) for owing in kept]
    assert sizes == sorted(sizes)
    for group in {(len(owing.line_up), owing.first, owing.deals) for owing in owings}:

        def of_group(found: list[Owing], group: tuple[int, int, int] = group) -> list[Owing]:
            return [owing for owing in found if (len(owing.line_up), owing.first, owing.deals) == group]

        assert of_group(kept) == of_group(owings)


@given(st.lists(st.sampled_from(FIELD), unique=True), st.integers(0, 5), st.integers(1, 4))
def test_where_all_play_alike_the_schedule_of_the_manifest_is_that_of_the_owings(
    line_ups: list[tuple[Bot, ...]], first: int, deals: int
) -> None:
    owings = [Owing(line_up, first, deals) for line_up in line_ups]
    one = Round(text=msgspec.structs.replace(manifest(), parts=parts_of(BOTS, owings)).to_json(), secret=SECRET)
    assert list(one.schedule.owed({})) == list(Schedule(owings, block_size=3).owed({}))


def test_line_ups_that_play_alike_share_a_part() -> None:
    ann, bob, cyd, _ = BOTS
    owings = [Owing((ann, bob, cyd), 0, 2), Owing((ann, bob), 5, 2), Owing((bob, cyd), 0, 2), Owing((ann, cyd), 5, 2)]
    assert parts_of(BOTS, owings) == (
        RoundPart(first=5, deals=2, line_ups=((0, 1), (0, 2))),
        RoundPart(first=0, deals=2, line_ups=((1, 2),)),
        RoundPart(first=0, deals=2, line_ups=((0, 1, 2),)),
    )


def test_a_round_reads_its_schedule_from_the_text_that_was_committed_to(tmp_path: Path) -> None:
    (tmp_path / "round").write_bytes(to_file(ROUND))
    there = from_file((tmp_path / "round").read_bytes(), "round")
    assert there.schedule.count() == 2 * 6 + 3 * 10 == ROUND.schedule.count()
    assert there.bots == BOTS
    assert there.number == 7
