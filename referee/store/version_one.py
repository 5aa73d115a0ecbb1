"""From store version 1, one tournament with its settings, to version 2: that tournament is the first round.

The store does not know what a manifest means; a test holds this one equal to what `referee.tournament.rounds` makes.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

_BLOCK_SIZE = 50
_BOX = {
    "memory": 512 << 20,
    "processes": 64,
    "file_size": 16 << 20,
    "tmp_size": 32 << 20,
    "open_files": 64,
    "stderr": 32 << 10,
}

_GAMES = """CREATE TABLE games (
        line_up INTEGER NOT NULL REFERENCES line_ups, deal INTEGER NOT NULL, rotation INTEGER NOT NULL,
        round INTEGER NOT NULL, game_id TEXT NOT NULL, seats TEXT NOT NULL, reason TEXT NOT NULL, places TEXT NOT NULL,
        forfeited TEXT NOT NULL, faults INTEGER NOT NULL, decisions INTEGER NOT NULL, held TEXT NOT NULL,
        record INTEGER NOT NULL REFERENCES records,
        PRIMARY KEY (line_up, deal, rotation)
    ) WITHOUT ROWID"""
_ROUNDS = """CREATE TABLE rounds (
        round INTEGER PRIMARY KEY, season INTEGER NOT NULL, manifest TEXT NOT NULL, commitment TEXT NOT NULL,
        secret TEXT NOT NULL, seed TEXT, sealed INTEGER NOT NULL, opened TEXT NOT NULL, closed TEXT,
        unplayed INTEGER NOT NULL DEFAULT 0
    )"""
_FAULTY = "CREATE INDEX faulty ON games (line_up, deal, rotation) WHERE faults > 0"
_RESTLESS = "CREATE INDEX restless ON games (line_up, deal, rotation) WHERE held <> ''"


class _Bot(NamedTuple):
    name: str
    hash: str
    author: str


class _LineUp(NamedTuple):
    """A line-up by its row, its bots, and how many deals were begun, counted from the first one."""

    row: int
    bots: tuple[_Bot, ...]
    deals: int


def to_version_two(db: sqlite3.Connection) -> None:
    """Change the tables, and make a round of the games that are there.

    It is open, not sealed, and owes the deals that were begun, in all rotations. Where nothing was played there is no
    round, and the settings are forgotten. Raises what `decoding` expects where a row makes no sense.
    """
    row = db.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
    line_ups = _line_ups(db)
    if line_ups and row is None:
        raise ValueError("it has games and no settings")
    db.execute(_ROUNDS)
    if line_ups:
        _insert_round(db, json.loads(row[0]), line_ups)
    db.execute("ALTER TABLE games RENAME TO games_of_version_1")
    db.execute(_GAMES)
    db.execute(
        "INSERT INTO games SELECT line_up, deal, rotation, 1, game_id, seats, reason, places, forfeited, faults,"
        " decisions, '', record FROM games_of_version_1 ORDER BY line_up, deal, rotation"
    )
    db.execute("DROP TABLE games_of_version_1")
    db.execute(_FAULTY)
    db.execute(_RESTLESS)
    db.execute("DELETE FROM meta WHERE key = 'settings'")


def _line_ups(db: sqlite3.Connection) -> list[_LineUp]:
    """Those that have games, in the order of the schedule."""
    bots = {
        row: _Bot(name, content, dict(json.loads(labels)).get("author", ""))
        for row, name, content, labels in db.execute("SELECT bot, name, hash, labels FROM bots")
    }
    found = [
        _LineUp(row, tuple(bots[int(bot)] for bot in members.split(",")), highest + 1)
        for row, members, highest in db.execute(
            "SELECT line_up, line_ups.bots, max(deal) FROM games JOIN line_ups USING (line_up) GROUP BY line_up"
        )
    ]
    return sorted(
        found, key=lambda one: (len(one.bots), [bot.name for bot in one.bots], [bot.hash for bot in one.bots])
    )


def _insert_round(db: sqlite3.Connection, settings: Mapping[str, Any], line_ups: list[_LineUp]) -> None:
    manifest = json.dumps(_manifest(settings, line_ups), ensure_ascii=False, separators=(",", ":"))
    secret = bytes.fromhex(settings["secret"])
    row = {
        "round": 1,
        "season": 1,
        "manifest": manifest,
        "commitment": hashlib.sha256(secret + manifest.encode()).hexdigest(),
        "secret": secret.hex(),
        "seed": settings["seed"],
        "sealed": False,
        "opened": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "closed": None,
        "unplayed": 0,
    }
    db.execute(f"INSERT INTO rounds VALUES ({', '.join('?' * len(row))})", tuple(row.values()))  # noqa: S608


def _manifest(settings: Mapping[str, Any], line_ups: list[_LineUp]) -> dict[str, Any]:
    sizes: defaultdict[_Bot, set[int]] = defaultdict(set)
    for one in line_ups:
        for bot in one.bots:
            sizes[bot].add(len(one.bots))
    bots = sorted(sizes)
    return {
        "format": 1,
        "game": "four-widows",
        "season": 1,
        "round": 1,
        "previous": None,
        "conditions": {
            "rules": {key: settings["rules"][key] for key in ("odd_card", "scoring", "discard", "stall_limit")},
            "limits": {key: settings["limits"][key] for key in ("start_ms", "move_ms", "game_ms")},
            "pace_ms": settings["pace_ms"],
            "processes": settings["processes"],
            "isolation": "D",
            "box": dict(_BOX),
        },
        "max_faults": None,
        "block_size": _BLOCK_SIZE,
        "bots": [
            {"name": bot.name, "hash": bot.hash, "players": sorted(sizes[bot]), "author": bot.author} for bot in bots
        ],
        "parts": list(_parts(bots, line_ups)),
    }


def _parts(bots: list[_Bot], line_ups: list[_LineUp]) -> Iterable[dict[str, Any]]:
    index = {bot: number for number, bot in enumerate(bots)}
    groups: defaultdict[tuple[int, int], list[list[int]]] = defaultdict(list)
    for one in line_ups:
        groups[len(one.bots), one.deals].append([index[bot] for bot in one.bots])
    return ({"first": 0, "deals": deals, "line_ups": group} for (_, deals), group in groups.items())
