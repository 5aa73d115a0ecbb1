from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from referee.store import JSON, differences

OLD: dict[str, JSON] = {
    "rules": {"scoring": "places", "stall_limit": 200},
    "limits": {"move_ms": 1000, "game_ms": None},
    "seed": None,
    "bots": ["a", "b"],
}

leaves = st.sampled_from([None, "none", "null", True, "true", 1, "1", 2, "", [], [1], {}])
inner = st.dictionaries(st.sampled_from("ab"), leaves, max_size=2)
documents = st.dictionaries(st.sampled_from("abc"), leaves | inner, max_size=3)


def test_equal_settings_do_not_differ() -> None:
    assert differences(OLD, {**OLD}) == []


def test_each_difference_is_named_with_both_values() -> None:
    new: dict[str, JSON] = {
        "rules": {"scoring": "winner", "stall_limit": 200},
        "limits": {"move_ms": None, "game_ms": None, "start_ms": 5},
        "bots": ["a"],
    }
    assert differences(OLD, new) == [
        'bots: ["a", "b"] in the database, ["a"] now',
        "limits.move_ms: 1000 in the database, null now",
        "limits.start_ms: 5 now, not set in the database",
        'rules.scoring: "places" in the database, "winner" now',
        "seed: null in the database, not set now",
    ]


@given(documents, documents)
def test_settings_differ_exactly_where_their_json_does(one: dict[str, JSON], other: dict[str, JSON]) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert bool(differences(one, other)) is not same
    assert len(differences(one, other)) == len(differences(other, one))
