"""A comparison of two bots in words and tables for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from rich.console import RenderableType
from rich.text import Text

from referee.cli.output.bars import Charset
from referee.cli.output.tables import framed
from referee.ratings.pairs.comparison import POWER, Comparison, ComparisonPart, ComparisonSide
from referee.site import view

FORMAT = 1
_MOST = 1_000_000
"""Deals beyond which their number is of no use to anybody."""

_LEGEND = (
    "score: share of opponents beaten, ties half; 95%: where the true difference of A and B lies. adds: how much of "
    "the difference of all games comes from this part; each table's parts add up to it. Many rows were looked at: one "
    "in twenty intervals misses the truth. More: docs/reading-the-table.md."
)


def document(found: Sequence[Comparison], notes: Sequence[str]) -> str:
    """One JSON object, as docs/reading-the-table.md describes it."""
    whole: dict[str, Any] = {"format": FORMAT, "game": "four-widows", "notes": notes, "tables": found}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()


def parts(found: Sequence[Comparison], charset: Charset) -> Iterator[RenderableType]:
    """What to print: for every number of players a sentence first, then the tables; a legend last."""
    for one in found:
        yield Text(charset.words(f"{one.players} players: {summary(one)}"), style="bold")
        yield Text(charset.words(strengths(one)))
        yield ""
        names = _names(one)
        yield Text(charset.words(f"A: {names[0]}, B: {names[1]}"))
        for head, rows in (
            ("against", (*one.opponents, one.whole)),
            ("in seat", one.seats),
            ("ended by", one.endings),
        ):
            yield _table(head, rows, charset)
            yield ""
    if found:
        yield Text(charset.words(_LEGEND), style="dim")


def summary(one: Comparison) -> str:
    """Who stands above whom, by how much, and how sure that is, in one sentence."""
    above, below, sides = *_names(one), (one.whole.first, one.whole.second)
    if (one.whole.difference or 0) < 0:
        above, below, sides = below, above, sides[::-1]
    scores = f"{sides[0].score:.3f} to {sides[1].score:.3f}"
    if not one.whole.difference:
        return f"{above} and {below} have the same score, {scores}{_how_sure(one)}."
    return f"{above} stands above {below}, {scores}{_how_sure(one)}."


def strengths(one: Comparison) -> str:
    """The difference of strengths, and head to head."""
    gap = one.gap
    if gap is None:
        return "Their strengths: too little data." if one.comparable else "Their strengths are not comparable."
    first, second = _names(one)
    difference, low, high = (view.signed(f"{points:+.0f}") for points in (gap.elo, gap.elo_low, gap.elo_high))
    said = f"Strength of {first} less that of {second}: {difference} Elo-like points, 95% interval {low} to {high}."
    if gap.settled and not gap.apart:
        said += " They are not told apart where all pairs of the table are looked at together."
    head = next((part for part in one.opponents if part.bot is None and part.name == "each other"), None)
    if head:
        said += (
            f" Head to head {first} scores {head.first.score:.3f} "
            f"({view.interval(head.first.score_low, head.first.score_high)}) on {head.first.deals:,} "
            f"deal{'' if head.first.deals == 1 else 's'}."
        )
    else:
        said += " They never met."
    return said


def _how_sure(one: Comparison) -> str:
    gap = one.gap
    if not one.comparable:
        return "; they cannot be compared, since they never met, not even through others"
    if gap is None:
        return "; there is too little data to say more"
    stronger, chance = one.first, gap.above
    if gap.difference < 0:
        stronger, chance = one.second, 1 - gap.above
    name = _names(one)[0 if stronger == one.first else 1]
    agrees = (gap.difference < 0) == ((one.whole.difference or 0) < 0) or not one.whole.difference
    but = "" if agrees else f"; by all results together {name} is the stronger"
    if gap.settled:
        return f"{but}; P({name} is the stronger) {_probability(chance)}, and that is settled for these two"
    return f"{but}; not settled: P({name} is the stronger) {_probability(chance)}, {_more(one)}"


def _more(one: Comparison) -> str:
    gap = one.gap
    if gap is None or gap.deals_needed is None:
        return "and they look alike, so no number of deals can be named"
    if gap.deals_needed > _MOST:
        return "and more than a million deals would be needed: they are as good as equal"
    each = f", {_roughly(-(-gap.deals_needed // one.line_ups))} for each line-up" if one.line_ups > 1 else ""
    return (
        f"and it would take some {_roughly(gap.deals_needed - one.deals)} more deals to settle it "
        f"({_roughly(gap.deals_needed)} in all{each}), with a chance of {POWER:.0%} if the difference is as it looks"
    )


def _roughly(deals: int) -> str:
    """Two digits, rounded up: more are not known."""
    unit = 10 ** max(len(str(deals)) - 2, 0)
    return f"{-(-deals // unit) * unit:,}"


def _probability(chance: float) -> str:
    """With its sign: `= .97`, or `> .999`, beyond which nothing is said."""
    if 0.001 < chance < 0.999:
        return "= " + f"{chance:.3f}".removeprefix("0")
    return "> .999" if chance > 0.5 else "< .001"


def _names(one: Comparison) -> tuple[str, str]:
    """What the two are called; where they share a name with the beginnings of their hashes."""
    names = view.name(one.first), view.name(one.second)
    if names[0] != names[1]:
        return names
    return f"{names[0]} {view.short(one.first.hash)}", f"{names[1]} {view.short(one.second.hash)}"


def _table(head: str, rows: Iterable[ComparisonPart], charset: Charset) -> RenderableType:
    table = framed(charset)
    table.add_column(head, overflow="fold")
    for name in ("A", "games", "B", "games", "A - B"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("95%", no_wrap=True)
    table.add_column("adds", justify="right", no_wrap=True)
    listed = list(rows)
    labels = [_label(part, listed) for part in listed]
    for label, part in zip(labels, listed, strict=True):
        cells = (
            *_cells(part.first),
            *_cells(part.second),
            "–" if part.difference is None else _signed(part.difference),
            _interval(part),
            _signed(part.adds),
        )
        table.add_row(
            *(Text(charset.words(text)) for text in (label, *cells)), style="bold" if part.name == "all" else ""
        )
    return table


def _label(part: ComparisonPart, rows: list[ComparisonPart]) -> str:
    if part.bot is None:
        return part.name.removeprefix("seat ")
    names = [view.name(one.bot) for one in rows if one.bot]
    name = view.name(part.bot)
    return f"{name} {view.short(part.bot.hash)}" if names.count(name) > 1 else name


def _cells(side: ComparisonSide) -> tuple[str, str]:
    return "–" if side.score is None else f"{side.score:.3f}", f"{side.games:,}"


def _interval(part: ComparisonPart) -> str:
    if part.difference is None:
        return ""
    if part.low is None or part.high is None:
        return view.TOO_LITTLE
    return f"{_signed(part.low)} to {_signed(part.high)}"


def _signed(number: float) -> str:
    return view.signed(f"{number:+.3f}")
