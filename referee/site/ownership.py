"""Whose a published folder is: a page of another database is not replaced unless someone asks for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from referee.errors import InputError

ROUNDS = "rounds.json"
PAGE = ("index.html", "standings.csv", "standings.json", "standings.md", "run.json", ROUNDS)
"""What is published of every database; the manifests of its rounds stand beside it."""

_MANIFEST = re.compile(r"round-[0-9]+\.json")


class _Round(msgspec.Struct):
    commitment: str
    manifest: str


class _Rounds(msgspec.Struct):
    rounds: list[_Round]


def check_page(out: Path, commitments: Collection[str], *, force: bool) -> None:
    """Raise InputError if the page in `out` is not that of the database with these commitments of rounds.

    It is, if `rounds.json` has no other commitment. With `force` any page may be replaced.
    """
    if force:
        return
    published = _published(out)
    if published is None:
        if there := [name for name in PAGE if (out / name).is_file()]:
            raise InputError(
                f"{out} holds {there[0]}, which this program would replace, and no {ROUNDS} that shows whose it is: "
                "choose another folder with --out, or replace it with --force"
            )
    elif any(one.commitment not in commitments for one in published):
        raise InputError(
            f"{out} holds the leaderboard of another database, with rounds that this one lacks: choose another folder "
            "with --out, or replace it with --force"
        )


def outdated(out: Path, texts: Mapping[str, str], *, force: bool) -> list[str]:
    """Return the manifests of rounds that were published in `out` and are not among `texts`.

    Raises InputError if one of `texts` would replace a manifest that was not published there, unless `force` is given.
    """
    listed = {one.manifest for one in _published(out) or () if _MANIFEST.fullmatch(one.manifest)}
    for name in () if force else filter(_MANIFEST.fullmatch, texts.keys() - listed):
        if (out / name).is_file() and (out / name).read_bytes() != texts[name].encode():
            raise InputError(f"{out / name} was not published by this program: move it, or replace it with --force")
    return sorted(listed - texts.keys())


def _published(out: Path) -> list[_Round] | None:
    """The rounds of a published folder; None if it has no list of rounds."""
    try:
        return msgspec.json.decode((out / ROUNDS).read_bytes(), type=_Rounds).rounds
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
