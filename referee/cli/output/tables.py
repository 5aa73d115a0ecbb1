"""The standings as tables for a terminal, legible in 80 columns and with any characters."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from referee.cli.output.bars import UNICODE, Bars, Charset, charset_of
from referee.cli.output.display import SafeConsole
from referee.ratings import Standings
from referee.ratings import Table as Standing
from referee.record import Bot
from referee.site import view

WIDTH = 22
"""Characters of an axis."""

_PLAIN_BOX = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)

LEGEND = (
    "score: share of opponents beaten, ties half. 95%: where the true score lies, drawn to scale.",
    "ranks: between which ranks a bot stands, 95% sure for all bots at once; bots with a letter in common are not "
    "told apart.",
    "strength: Elo-like points (400 are odds of ten to one), 0 the mean of those that met, ± its 95% interval.",
    "mu, sigma, rating: TrueSkill, rating = mu - 3 sigma. Sigma is no confidence interval. How to read the table: "
    "docs/reading-the-table.md.",
)


_NO_END = 100_000
"""Columns of who cannot be written to the end of a line."""


def output() -> Console:
    """Standard output, whose lines are as long as they are where there is no terminal to fit and no COLUMNS say so."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _NO_END
    return SafeConsole(width=width, highlight=False)


def standings_tables(standings: Standings, charset: Charset | None = None) -> list[RenderableType]:
    """One part for each number of players, for a rich Console of any width; no name is read as markup.

    It has a table of scores and ranks, one of strengths and what they rest on, and says what cannot be compared. Where
    two bots share a name, the beginning of the hash tells them apart. Without a charset it is that of standard output.
    """
    charset = charset or charset_of(sys.stdout)
    return [_both(table, charset) for table in standings.tables]


def seat_tables(standings: Standings, charset: Charset = UNICODE) -> list[RenderableType]:
    """Every bot's score in every seat, one table for each number of players."""
    return [_seats(table, charset) for table in standings.tables]


def legend(charset: Charset = UNICODE) -> RenderableType:
    """What the columns are."""
    return Group(*(Text(charset.words(line), style="dim") for line in LEGEND))


def _both(standing: Standing, charset: Charset) -> RenderableType:
    title = _title(f"{standing.players} players", view.counts(standing), charset)
    said = [Text(charset.words(line)) for line in (*view.incomparable(standing), "")]
    return Group(title, _scores(standing, charset), "", _strengths(standing, charset), *said)


def _scores(standing: Standing, charset: Charset) -> Table:
    table = framed(charset)
    bars = Bars(view.axis(standing.rows), WIDTH)
    _columns(table, ["#", "bot", "score", bars.head(), "95%", "ranks", "group"], charset)
    for name, row in zip(_names([row.bot for row in standing.rows]), standing.rows, strict=True):
        bar = bars.draw(row.score, row.score_low, row.score_high, charset)
        texts = (
            "" if row.score is None else f"{row.score:.3f}",
            bar,
            view.interval(row.score_low, row.score_high),
            view.ranks(row),
            view.groups(row),
        )
        rank = "–" if row.rank is None else str(row.rank)
        table.add_row(*_texts((rank,), charset), name, *_texts(texts, charset))
    return table


def _strengths(standing: Standing, charset: Charset) -> Table:
    table = framed(charset)
    heads = ["bot", "strength", "mu", "sigma", "rating", "games", "deals", "faults"]
    _columns(table, heads, charset)
    for name, row in zip(_names([row.bot for row in standing.rows]), standing.rows, strict=True):
        skill = (f"{row.mu:.2f}", f"{row.sigma:.2f}", view.rating(row)) if row.games else ("–", "–", "–")
        texts = (view.strength(row, standing), *map(view.signed, skill), f"{row.games:,}", f"{row.deals:,}")
        faults = Text(f"{row.faults:,}", style="red" if row.faults else "")
        table.add_row(name, *_texts(texts, charset), faults)
    return table


def _seats(standing: Standing, charset: Charset) -> RenderableType:
    table = framed(charset)
    bars = Bars(view.axis([one for row in standing.rows for one in row.seats]), WIDTH)
    _columns(table, ["bot", "seat", "score", bars.head(), "95%", "games"], charset)
    for name, row in zip(_names([row.bot for row in standing.rows]), standing.rows, strict=True):
        for seat, one in enumerate(row.seats):
            bar = bars.draw(one.score, one.score_low, one.score_high, charset)
            score = "" if one.score is None else f"{one.score:.3f}"
            texts = (str(seat), score, bar, view.interval(one.score_low, one.score_high), f"{one.games:,}")
            table.add_row(name if seat == 0 else "", *_texts(texts, charset))
    return Group(_title(f"{standing.players} players", "scores by seat", charset), table, "")


def _title(title: str, more: str, charset: Charset) -> Text:
    return Text.assemble((charset.words(title), "bold"), f": {charset.words(more)}")


def framed(charset: Charset) -> Table:
    """A table with as little around its cells as there can be."""
    frame = _PLAIN_BOX if charset.ascii else box.SIMPLE_HEAD
    return Table(box=frame, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def _columns(table: Table, heads: Iterable[str], charset: Charset) -> None:
    for head in heads:
        left = head in ("bot", "95%", "group") or "." in head
        folds = head in ("bot", "group")
        table.add_column(
            charset.words(head),
            justify="left" if left else "right",
            no_wrap=not folds,
            overflow="fold" if folds else "ellipsis",
        )


def _names(bots: Sequence[Bot]) -> list[Text]:
    """As they are shown, equal ones with the beginning of their hashes."""
    names = [view.name(bot) for bot in bots]
    return [
        Text.assemble(name, (f" {view.short(bot.hash)}", "dim")) if names.count(name) > 1 else Text(name)
        for name, bot in zip(names, bots, strict=True)
    ]


def _texts(texts: Iterable[str], charset: Charset) -> Iterable[Text]:
    return (Text(charset.words(text)) for text in texts)
