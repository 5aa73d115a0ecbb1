"""What a tournament's command line does instead of playing on: closing a round, planning one, playing a share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import click

from referee.cli.output.words import many
from referee.cli.session import all_there
from referee.errors import InputError
from referee.outputs import check_never, new_file
from referee.tournament.planning.league import League, Terms
from referee.tournament.rounds.rounds import Entry, Round, from_file, to_file
from referee.tournament.rounds.schedule import WHOLE, Share

_LARGEST_ROUND = 64 << 20
"""Bytes of a round's file: millions of line-ups fit."""


def check_acts(new_season: bool, close_round: bool, plan: Path | None, round_file: Path | None, shard: Share) -> None:
    """Raise click.UsageError where two options ask for things that exclude one another."""
    asked = {
        "--new-season": new_season,
        "--close-round": close_round,
        "--plan": plan is not None,
        "--round": round_file is not None,
    }
    given = [name for name, is_given in asked.items() if is_given]
    if len(given) > 1 and given != ["--new-season", "--plan"]:
        raise click.UsageError(f"{given[0]} and {given[1]} cannot be given together")
    if shard != WHOLE and given not in ([], ["--round"]):
        raise click.UsageError(f"{given[0]} and --shard cannot be given together")


def open_round(league: League, db: Path) -> Round:
    """The open round. Raises InputError where none is."""
    if league.open is None:
        raise InputError(f"no round of {db} is open: open one with --plan, or name one with --round")
    return league.open


def close_open(league: League, db: Path) -> None:
    """`--close-round`."""
    say_closed(league.close(open_round(league, db)))


def say_closed(one: Round) -> None:
    """Tell the secret of a round that was closed as it stood."""
    click.echo(f"round {one.number} is closed as it stands; its secret was {one.secret.hex()}", err=True)


def check_plan(path: Path | None, out: Path) -> None:
    """Raise InputError where the file of `--plan` would be published with the leaderboard."""
    if path is not None and out.resolve() in path.resolve().parents:
        raise InputError(f"{path} holds the secret of a round, and {out} is what you publish: name a file elsewhere")


def write_plan(
    league: League, entries: Sequence[Entry], terms: Terms, path: Path, *, reads: Collection[Path], force: bool
) -> None:
    """`--plan`: open the round, where none is, and write it to `path`.

    An earlier plan of this league is replaced, any other file with `force` only.
    """
    already = "" if league.open is None else ", which was open already and stays as it is"
    check_never(path, reads=reads)
    force = force or _is_plan_of(league, path)
    with new_file(path, reads=reads, force=force, private=True) as file:
        # Before the round is opened: where the file cannot be, there is to be no round.
        one = league.open or league.open_next(entries, terms)
        if one is None:
            raise InputError(f"there is nothing to plan: {all_there(league, entries)}")
        file.write(to_file(one))
    click.echo(
        f"round {one.number}{already}: {many(one.schedule.count(), 'game')}; its commitment is {one.commitment}",
        err=True,
    )
    click.echo(f"{path} holds its secret: only those who play it should read it", err=True)


def _is_plan_of(league: League, path: Path) -> bool:
    """True if the file is one that `--plan` has written for a round of this league."""
    try:
        known = {one.commitment for one in league.rounds}
        return path.is_file() and from_file(read_file(path), str(path)).commitment in known
    except (OSError, InputError):
        return False


def read_file(path: Path) -> bytes:
    """Return the content of a round's file. Raises InputError where it cannot be read or is too large for one."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_ROUND + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST_ROUND:
        raise InputError(f"{path} has more than {_LARGEST_ROUND >> 20} MiB, so `referee tournament` did not write it")
    return data
