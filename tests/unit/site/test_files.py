"""Markdown, CSV and JSON: the same rows, each in its own dress."""

from __future__ import annotations

import csv
import io
from itertools import pairwise

import msgspec
from markdown_it import MarkdownIt

from referee.ratings import Standings, rate
from referee.record import Bot, GameResult
from referee.rules import Ending
from referee.site import About, data, markdown, sheet


def rows_of_sheet(standings: Standings, about: About) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sheet.render(standings, about.cleaned()))))


def test_the_sheet_holds_every_row_of_every_table(standings: Standings, about: About) -> None:
    rows = rows_of_sheet(standings, about)
    assert [(row["players"], row["rank"], row["name"]) for row in rows] == [
        ("2", "1", "anna"),
        ("2", "2", "bert"),
        ("2", "", "carl"),
        ("3", "1", "anna"),
        *[("3", "2", name) for name in (rows[4]["name"], rows[5]["name"])],
    ]
    anna = rows[0]
    assert (anna["score"], anna["score_error"], anna["games"], anna["wins"]) == ("1.0", "0.0", "2", "2")
    row, strength = standings.tables[0].rows[0], standings.tables[0].rows[0].strength
    assert strength is not None
    assert (float(anna["score_low"]), float(anna["score_high"])) == (row.score_low, row.score_high)
    assert (anna["rank_low"], anna["rank_high"], anna["groups"], anna["component"]) == ("1", "2", "a", "1")
    assert (float(anna["elo"]), float(anna["elo_low"])) == (strength.elo, strength.elo_low)
    assert (anna["seat_0"], anna["seat_1"], anna["seat_2"]) == ("1.0", "1.0", "")
    assert (anna["place_1"], anna["place_2"], anna["place_3"]) == ("2", "0", "")
    assert (rows[2]["score"], rows[2]["score_error"], rows[2]["unrated"]) == ("", "", "1")


def test_the_sheet_has_every_seat_with_its_interval(bots: tuple[Bot, Bot, Bot]) -> None:
    one, other, _ = bots
    games = [
        GameResult((one, other) if rotation == 0 else (other, one), deal, rotation, Ending.EMPTIED, places, ())
        for deal in range(4)
        for rotation, places in enumerate([(1, 2), (1, 2) if deal % 2 else (2, 1)])
    ]
    (table,) = rate(games).tables
    for row, cells in zip(table.rows, rows_of_sheet(rate(games), About()), strict=True):
        for seat, mean in enumerate(row.seats):
            told = [float(cells[f"seat_{seat}{end}"]) for end in ("_low", "", "_high")]
            assert told == [mean.score_low, mean.score, mean.score_high]
            assert told[0] < told[2]
        assert cells["seat_2"] == cells["seat_2_low"] == ""


def test_a_spreadsheet_runs_nothing_that_a_bot_said(standings: Standings, about: About) -> None:
    for row in rows_of_sheet(standings, about):
        for column in ("name", "hash", "language", "author"):
            assert not row[column].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert rows_of_sheet(standings, about)[0]["author"] == "'=cmd()"


def test_numbers_below_zero_stay_numbers(standings: Standings) -> None:
    (table, *_) = standings.tables
    low = msgspec.structs.replace(table, rows=(msgspec.structs.replace(table.rows[0], rating=-3.25),))
    (row,) = rows_of_sheet(Standings(tables=(low,)), About())
    assert row["rating"] == "-3.25"


def test_the_data_tells_of_rounds_and_of_who_was_withdrawn(standings: Standings, about: About) -> None:
    document = msgspec.json.decode(data.render(standings, about.cleaned()))
    sealed, practice = document["rounds"]
    assert document["season"] == 3
    assert sealed == {
        **{
            "number": 4,
            "season": 3,
            "games": 1200,
            "unplayed": 900,
            "commitment": "c4" * 32,
            "sealed": True,
            "secret": None,
            "seed": None,
        },
        "manifest": "round-4.json",
    }
    assert (practice["sealed"], practice["seed"], practice["secret"]) == (False, "42", "5e" * 16)
    assert document["withdrawn"] == [{"name": "carl", "hash": "c3" * 32, "round": 4, "faults": 25}]
    everything = msgspec.json.decode(data.render_rounds(about.cleaned()))
    assert [one["number"] for one in everything["rounds"]] == [3, 4, 5]
    assert (everything["season"], everything["rounds"][1:]) == (3, document["rounds"])


def test_the_data_has_the_numbers_of_the_standings(standings: Standings, about: About) -> None:
    document = msgspec.json.decode(data.render(standings, about.cleaned()))
    assert document["rules"] == {"odd_card": "talon", "scoring": "places", "discard": "any", "stall_limit": 200}
    assert (document["limits"], document["isolation"]) == ({"move_ms": "1000"}, about.tier)
    for table, written in zip(standings.tables, document["tables"], strict=True):
        assert (written["players"], written["games"], written["unrated"]) == (table.players, table.games, table.unrated)
        for row, fields in zip(table.rows, written["rows"], strict=True):
            assert (fields["name"], fields["hash"]) == (row.bot.name, row.bot.hash)
            assert (fields["rank"], fields["score"], fields["score_error"]) == (row.rank, row.score, row.score_error)
            assert (fields["mu"], fields["sigma"], fields["places"]) == (row.mu, row.sigma, list(row.places))


def test_the_data_names_no_version(standings: Standings, about: About) -> None:
    assert "9.8.7" not in data.render(standings, about.cleaned())


def test_every_markdown_row_has_the_cells_of_its_head(standings: Standings, about: About) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.render(standings, about.cleaned()))
    rows: list[list[str]] = []
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if before.type in {"th_open", "td_open"}:
            rows[-1].append("".join(child.content for child in token.children or []))
    assert [len(row) for row in rows[:8]] == [18] * 4 + [4] * 4
    assert rows[1][:8] == ["1", "anna a1a1a1a1", "Rust", "=cmd()", "1.000", "0.158–1.000", "1–2", "a"]
    assert rows[3][4:10] == ["too little data", "", "–", "", "–", "–"]
    assert {row[3] for row in rows if row[1].startswith("bert")} == {"[x](//y.example)"}
    types = {child.type for token in tokens for child in token.children or []}
    assert types <= {"text", "text_special", "strong_open", "strong_close"}  # the latter are ours


def test_the_markdown_says_that_there_are_no_games() -> None:
    assert "\n\nNo rated games yet.\n\n" in markdown.render(rate([]), About().cleaned())
