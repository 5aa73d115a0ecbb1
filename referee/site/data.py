"""The standings as JSON, a pure function of games and settings, and what may differ from run to run beside it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from referee.ratings import Standings, Table
from referee.record import rules_as_dict
from referee.site.about import About, HeldNote, RoundNote, Withdrawn

FORMAT = 3
MANY = 100
"""Bots at a table whose pairs are told: those of more would be megabytes."""


def render(standings: Standings, about: About) -> str:
    """`standings.json`: settings, and tables whose rows have the columns of the sheet. No time, date or version."""
    return _pretty(
        {
            "format": FORMAT,
            "game": "four-widows",
            "title": about.title,
            "rules": rules_as_dict(about.rules),
            "limits": about.limits,
            "isolation": about.tier,
            "season": about.season,
            "rounds": [_round(one) for one in about.rounds if one.season == about.season],
            "withdrawn": [_withdrawn(one) for one in about.withdrawn],
            "notes": about.notes,
            "tables": [_table(table, about) for table in standings.tables],
        }
    )


def render_rounds(about: About) -> str:
    """`rounds.json`: all rounds, of older seasons too, oldest first, with what is known of each."""
    return _pretty({"season": about.season, "rounds": [_round(one) for one in about.rounds]})


def _round(one: RoundNote) -> dict[str, object]:
    fields = msgspec.structs.asdict(one)
    if one.played is None:
        del fields["played"]
    return {**fields, "manifest": one.file}


def _withdrawn(one: Withdrawn) -> dict[str, object]:
    return {"name": one.bot.name, "hash": one.bot.hash, "round": one.round, "faults": one.faults}


def render_run(about: About, when: datetime) -> str:
    """`run.json`: when this was published, in UTC to the second, by what, and who was held, which hangs on clocks."""
    published = f"{when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return _pretty({"published": published, "versions": about.versions, "held": [_held(one) for one in about.held]})


def _held(one: HeldNote) -> dict[str, object]:
    return {"name": one.bot.name, "hash": one.bot.hash, "held": one.held, "games": one.games, "cpu_ms": one.cpu_ms}


def _table(table: Table, about: About) -> dict[str, object]:
    rows = []
    for row in table.rows:
        fields = msgspec.structs.asdict(row)
        bot, label = fields.pop("bot"), about.label(row.bot)
        names = {"name": bot.name, "hash": bot.hash, "language": label.language, "author": label.author}
        rows.append({"rank": fields.pop("rank"), **names, **fields})
    pairs = table.pairs if len(rows) <= MANY else None
    return {**msgspec.structs.asdict(table), "rows": rows, "pairs": pairs}


def _pretty(document: Mapping[str, object]) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
