"""The standings as one HTML page that needs nothing else: no script, no other file, no network."""

from __future__ import annotations

from pathlib import Path

from referee.ratings import Row, Standings
from referee.site import view
from referee.site.about import About

TEMPLATES = Path(__file__).parent / "templates"
SPAN = 2
"""How many standard errors the line across a bar reaches to either side."""


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
    template = environment.get_template("index.html")
    return template.render(
        about=about, tables=standings.tables, view=view, whisker=whisker, settings=view.settings(about)
    )


def whisker(row: Row) -> tuple[float, float] | None:
    """Where the error's line begins and ends, in percent of the bar's length; None where there is no error."""
    if row.score is None or row.score_error is None:
        return None
    reach = SPAN * row.score_error
    return round(100 * max(0.0, row.score - reach), 2), round(100 * min(1.0, row.score + reach), 2)
