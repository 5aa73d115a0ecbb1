"""One folder of published standings: a page for people, a sheet, data for programs, and when it was made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from referee.ratings import Standings
from referee.site import data, markdown, page, sheet
from referee.site.about import About
from referee.site.ownership import ROUNDS, check_page, outdated
from referee.site.write import write_folder


def publish_rounds(about: About, manifests: Mapping[int, str], out: Path, *, force: bool = False) -> None:
    """Write `rounds.json`, with the commitments, and each round's manifest as `round-N.json` into `out`.

    `manifests` are the bytes that were committed to, by the round's number. It is done before a round's first game,
    and takes no longer for many games. Manifests of rounds that were published before and are gone are removed.

    Raises InputError where `out` cannot be written, and where it holds the page of another database, which `force`
    replaces.
    """
    about = about.cleaned()
    texts = {one.file: manifests[one.number] for one in about.rounds}
    commitments = {one.commitment for one in about.rounds}

    def old() -> list[str]:
        check_page(out, commitments, force=force)
        return outdated(out, texts, force=force)

    write_folder(out, {**texts, ROUNDS: data.render_rounds(about)}, remove=old)


def publish(standings: Standings, about: About, out: Path, *, when: datetime | None = None) -> None:
    """Write `index.html`, `standings.md`, `standings.csv`, `standings.json` and `run.json` into `out`.

    All but `run.json`, which tells `when` (aware; now by default) and what published it, are pure functions of
    `standings` and `about`: equal ones give equal bytes. Nothing is replaced unless everything could be rendered and
    written beside its place. Raises InputError where `out` cannot be written.
    """
    about = about.cleaned()
    texts = {
        "standings.json": data.render(standings, about),
        "standings.csv": sheet.render(standings, about),
        "standings.md": markdown.render(standings, about),
        "index.html": page.render(standings, about),
        "run.json": data.render_run(about, when or datetime.now(UTC)),
    }
    write_folder(out, texts)
