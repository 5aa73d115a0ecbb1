"""The standings as one HTML page that needs nothing else: no script, no other file, no network."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from referee.ratings import Row, Standings
from referee.ratings.published import SeatScore
from referee.site import view
from referee.site.about import About
from referee.site.axis import Axis
from referee.site.matrix import matrix

TEMPLATES = Path(__file__).parent / "templates"


def render(standings: Standings, about: About) -> str:
    """The page. `about` is cleaned; all text is escaped here."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import, and only pages need it

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"view": view, "line": line, "middle": middle, "matrix": matrix}
    template = environment.get_template("index.html")
    return template.render(about=about, tables=standings.tables, settings=view.settings(about))


class Line(NamedTuple):
    """Where a score and its interval are on an axis, in percent of its length; the interval None where unknown."""

    value: float
    low: float | None
    high: float | None


def line(axis: Axis, one: Row | SeatScore) -> Line | None:
    """Where to draw a score; None where there is none."""
    if one.score is None:
        return None
    low, high = (None if end is None else _percent(axis, end) for end in (one.score_low, one.score_high))
    return Line(_percent(axis, one.score), low, high)


def middle(axis: Axis) -> float:
    """Where the middle of all scores is on an axis, in percent of its length."""
    return _percent(axis, 0.5)


def _percent(axis: Axis, value: float) -> float:
    return round(100 * axis.share(value), 2)
