"""The standings in a terminal: names are words, never markup or control codes."""

from __future__ import annotations

import io

from rich.console import Console

from referee.cli.tables import standings_tables
from referee.ratings import Standings, rate
from referee.record import Bot, Result
from referee.rules import Ending


def printed(standings: Standings, width: int = 140) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    for table in standings_tables(standings):
        console.print(table)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_each_number_of_players_has_its_table(standings: Standings) -> None:
    lines = [" ".join(line.split()) for line in printed(standings).splitlines()]
    assert "2 players: 3 games on 3 deals, 1 of them not rated" in lines
    assert [line.split(" ")[:4] for line in lines if line.startswith("1 anna")] == [
        ["1", "anna", "1.000", "0.000"],
        ["1", "anna", "1.000", "too"],
    ]
    assert "– carl too little data – 0 0 0 0 1" in lines


def test_names_are_shown_to_the_letter() -> None:
    games = [Result((Bot("[red]x[/red]", "0" * 64), Bot("\x1b[2Jy\\", "1" * 64)), 0, 0, Ending.EMPTIED, (1, 2), ())]
    text = printed(rate(games))
    assert "1   [red]x[/red] " in text
    assert "2   [2Jy\\ " in text
    assert "\x1b" not in text


def test_equal_names_are_told_apart_by_their_hash() -> None:
    games = [Result((Bot("anna", "0" * 64), Bot("anna", "1" * 64)), 0, 0, Ending.EMPTIED, (1, 2), ())]
    text = printed(rate(games))
    assert "anna 00000000" in text
    assert "anna 11111111" in text
