"""The standings in a terminal: every number to the letter, in 80 columns; names are words, never markup."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from referee.cli.output.bars import ASCII, UNICODE, Charset
from referee.cli.output.tables import legend, seat_tables, standings_tables
from referee.ratings import Standings, rate
from referee.record import Bot, GameResult
from referee.rules import Ending

ANNA, BERT, CARL, DORA = (Bot(name, name[0] * 64) for name in ("anna", "bert", "carl", "dora"))


def printed(*parts: object, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    for part in parts:
        console.print(part)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def tables_of(standings: Standings, charset: Charset = UNICODE, width: int = 80) -> str:
    return printed(*standings_tables(standings, charset), width=width)


def duels(first: Bot, second: Bot, wins: str) -> list[GameResult]:
    """Deals of two rotations: `wins` has a letter for each game, 1 where the first bot won it, 2 where the second did."""
    return [
        GameResult(
            (first, second) if number % 2 == 0 else (second, first),
            number // 2,
            number % 2,
            Ending.EMPTIED,
            (1, 2) if (winner == "1") == (number % 2 == 0) else (2, 1),
            (),
        )
        for number, winner in enumerate(wins)
    ]


def test_the_tables_of_a_few_games_to_the_letter() -> None:
    assert tables_of(rate(duels(ANNA, BERT, "11121111211112211111"))) == TWO_BOTS
    assert tables_of(rate(duels(ANNA, BERT, "11121111211112211111")), ASCII) == TWO_BOTS_ASCII


TWO_BOTS = """\
2 players: 20 games on 10 deals
#  bot   score  0.00              1.00  95%          ranks  group
─────────────────────────────────────────────────────────────────
1  anna  0.800             ┊ ├───●───┤  0.610–0.986      1  a
2  bert  0.200  ├───●───┤  ┊            0.014–0.390      2  b

bot    strength     mu  sigma  rating  games  deals  faults
───────────────────────────────────────────────────────────
anna  +116 ± 89  27.57   1.89   21.89     20     10       0
bert  −116 ± 89  22.43   1.89   16.76     20     10       0
"""

TWO_BOTS_ASCII = """\
2 players: 20 games on 10 deals
#  bot   score  0.00              1.00  95%          ranks  group
-----------------------------------------------------------------
1  anna  0.800             : |---o---|  0.610-0.986      1  a
2  bert  0.200  |---o---|  :            0.014-0.390      2  b

bot      strength     mu  sigma  rating  games  deals  faults
-------------------------------------------------------------
anna  +116 +/- 89  27.57   1.89   21.89     20     10       0
bert  -116 +/- 89  22.43   1.89   16.76     20     10       0
"""


def test_each_number_of_players_has_its_table_and_too_little_data_is_said(standings: Standings) -> None:
    lines = [" ".join(line.split()) for line in tables_of(standings).splitlines()]
    assert "2 players: 3 games on 3 deals, 1 of them not rated" in lines
    assert "3 players: 1 game on 1 deal" in lines
    assert "– carl too little data –" in lines
    assert "carl – – – – 0 0 1" in lines
    assert [line for line in lines if line.startswith("1 anna")][1] == "1 anna 1.000 ┊ ● too little data 1–3 a"


def test_bots_that_never_met_are_said_not_to_be_comparable() -> None:
    text = tables_of(rate([*duels(ANNA, BERT, "1121"), *duels(CARL, DORA, "2212")]))
    assert "(set 1)" in text and "(set 2)" in text
    assert (
        "Strengths of these sets are not comparable, since their bots never met, not even through others: set 1: anna, "
        "bert; set 2: dora, carl." in " ".join(text.split())
    )
    assert "comparable" not in tables_of(rate(duels(ANNA, BERT, "1121")))


def test_every_line_fits_eighty_columns_whatever_the_names() -> None:
    bots = [Bot(f"{'m' * 30}{number}", f"{number:064x}") for number in range(7)]
    games = [
        GameResult((one, other), deal, rotation, Ending.EMPTIED, (1, 2), ())
        for at, one in enumerate(bots)
        for other in bots[at + 1 :]
        for deal in range(3)
        for rotation in range(2)
    ]
    standings = rate(games)
    text = printed(*standings_tables(standings), *seat_tables(standings), legend())
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert re.search("^1  m{12}", text, re.MULTILINE)  # a name is not squeezed by what stands beside it
    assert all(number in text for number in re.findall(r"\d\.\d{3}", tables_of(standings, width=300)))


def test_plain_terminals_get_plain_characters(standings: Standings) -> None:
    text = printed(*standings_tables(standings, ASCII), *seat_tables(standings, ASCII), legend(ASCII))
    assert text.isascii()
    assert not printed(*standings_tables(standings, UNICODE)).isascii()


def test_a_tournament_in_a_plain_terminal_ends_with_plain_characters(
    standings: Standings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert printed(*standings_tables(standings)).isascii()
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert not printed(*standings_tables(standings)).isascii()


def test_scores_by_seat_have_a_row_for_each_seat(standings: Standings) -> None:
    lines = [" ".join(line.split()) for line in printed(*seat_tables(standings)).splitlines()]
    at = lines.index("2 players: scores by seat")
    assert [re.sub("[├─┤┊●] ?", "", line) for line in lines[at + 3 : at + 5]] == [
        "anna 0 1.000 too little data 1",
        "1 1.000 too little data 1",
    ]


def test_names_are_shown_to_the_letter() -> None:
    games = [GameResult((Bot("[red]x[/red]", "0" * 64), Bot("\x1b[2Jy\\", "1" * 64)), 0, 0, Ending.EMPTIED, (1, 2), ())]
    text = tables_of(rate(games))
    assert "1  [red]x[/red]" in text
    assert "2  [2Jy\\ " in text
    assert "\x1b" not in text


def test_equal_names_are_told_apart_by_their_hash() -> None:
    games = [GameResult((Bot("anna", "0" * 64), Bot("anna", "1" * 64)), 0, 0, Ending.EMPTIED, (1, 2), ())]
    text = tables_of(rate(games))
    assert "anna 00000000" in text
    assert "anna 11111111" in text
