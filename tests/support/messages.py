"""Messages as the contract has them, and such as it has not."""

from __future__ import annotations

from typing import Any

RULES = {"odd_card": "talon", "scoring": "places", "discard": "any", "stall_limit": 200}
EVENT = {"seat": 1, "laid": None, "drew": "TC", "result": "discarded", "discarded": ["TD"], "recycled": False}
ACT = {
    "type": "act",
    "id": 7,
    "game_id": "g",
    "seat": 0,
    "rules": RULES,
    "phase": "drawn",
    "hand": ["7C", "AS"],
    "drawn": "7D",
    "legal": ["discard 7C", "keep"],
    "laid": "6C",
    "recycled": False,
    "hand_sizes": [2, 12],
    "talon_size": 11,
    "pile_size": 1,
    "widows": ["QS"],
    "discards": ["TC", "TD"],
    "forfeited": [],
    "kept_in_a_row": 0,
    "events": [EVENT],
    "time_left_ms": 1000,
    "game_left_ms": None,
}
START = {
    "type": "start",
    "game_id": "g",
    "seat": 1,
    "players": 2,
    "hand": ["6C"],
    "hand_sizes": [12, 12],
    "talon_size": 12,
    "rules": RULES,
    "seed": 0,
}
END = {
    "type": "end",
    "game_id": "g",
    "reason": "widows",
    "places": [1, 2],
    "hand_sizes": [3, 4],
    "forfeited": [],
    "events": [],
}
HELLO = {
    "type": "hello",
    "protocol": [1],
    "game": "four-widows",
    "referee": "1",
    "start_ms": None,
    "move_ms": 1,
    "game_ms": None,
}
FAULT = {"type": "fault", "verdict": "crash", "detail": "it exited with status 1"}

WRONG: dict[str, list[Any]] = {
    "type": ["ACT", "start", None],
    "id": [7.0, True, "7", 0, -1, 2**31, None, 1.5],
    "game_id": [7, "", None],
    "seat": [0.0, True, "0", -1, 6, None],
    "phase": ["Lay", "draw", None],
    "hand": [None, "7C", ["7c"], ["10C"], ["7C "], ["C7"], [7], [None], {"7C": 1}],
    "drawn": ["7", "", 7, ["7D"], False],
    "legal": [[], None, ["Keep"], ["lay"], ["lay 7c"], ["discard"], ["discard 7C 7D 7H 7S"], ["lay 7C "], [None]],
    "laid": ["7x", 0, False],
    "recycled": [0, 1, "false", None],
    "hand_sizes": [[12], [1] * 7, [2.0, 12], [True, 12], [-1, 3], [37, 1], None, ["2", 3]],
    "talon_size": [11.0, True, "11", -1, None, 37],
    "pile_size": [1.0, True, "1", -1, None, 37],
    "widows": [["QC"] * 5, None, ["qc"]],
    "discards": [["6C"] * 37, None, "6C"],
    "forfeited": [[6], [1.0], [True], None],
    "kept_in_a_row": [0.0, False, -1, None, 2**53],
    "events": [None, [None], [{}], [{**EVENT, "result": "lost"}], [{**EVENT, "discarded": None}]],
    "time_left_ms": [1.0, True, "1000", -1, 2**53],
    "game_left_ms": [1.0, True, "1000", -1, 2**53],
    "rules": [None, {}, {**RULES, "stall_limit": 0}, {**RULES, "stall_limit": 9.0}, {**RULES, "discard": "none"}],
}
"""Of each field of a question: values that it cannot have."""

OUT_OF_CONTRACT: list[tuple[str, dict[str, Any], str, Any]] = [
    ("start", START, "players", 1),
    ("start", START, "players", 7),
    ("start", START, "seed", 2**31),
    ("start", START, "seed", -1),
    ("start", START, "seed", True),
    ("end", END, "reason", "won"),
    ("end", END, "places", [0, 1]),
    ("end", END, "places", [1.0, 2]),
    ("hello", HELLO, "protocol", []),
    ("hello", HELLO, "protocol", 1),
    ("hello", HELLO, "protocol", [1.0]),
    ("hello", HELLO, "game", "whist"),
    ("hello", HELLO, "move_ms", 0.5),
    ("fault", FAULT, "verdict", "void"),
    ("fault", FAULT, "detail", None),
]
"""Name of a message, a good one, one of its fields, and a value that it cannot have."""
