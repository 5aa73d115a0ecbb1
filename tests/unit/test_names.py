"""A class name means one thing in the whole project."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
OF_THE_WIRE = {"Event", "Fault", "Rules"}
"""Messages are named as the wire contract names them, also where the rules have a class of that name."""


def test_no_two_classes_share_a_name() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for room in ("referee", "protocol"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    homes[node.name].append(str(path.relative_to(ROOT)))
    shared = {name: places for name, places in homes.items() if len(places) > 1}
    assert {name for name in shared if name not in OF_THE_WIRE} == set(), shared
    assert all(place.startswith("protocol/") or "referee/" in place for name in OF_THE_WIRE for place in shared[name])
