"""Options of leagues: who may play whom, and what part of which round is played here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.errors import InputError
from referee.tournament.planning.planning import SameAuthor
from referee.tournament.progress.withdrawal import MAX_FAULTS
from referee.tournament.rounds.schedule import WHOLE, Share

if TYPE_CHECKING:
    ShareBase = click.ParamType[Share]
    CountBase = click.ParamType[int | None]
else:  # click before 8.4 has no parameters here
    ShareBase = CountBase = click.ParamType


class ShareType(ShareBase):
    """A share such as `2/3`: the second of three."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Share:
        """The share; see `Share`."""
        if isinstance(value, Share):
            return value
        index, slash, count = str(value).partition("/")
        if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count) <= 10_000):
            self.fail(f"{value!r} is no share: write I/N, such as 1/3 for the first of three", param, ctx)
        return Share(int(index), int(count))


class CountOrNone(CountBase):
    """A whole number from 1 on, or `none`."""

    name = "count"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """The number, or None."""
        text = str(value).strip().lower()
        if text == "none":
            return None
        if not (text.isdecimal() and 1 <= int(text) <= 1_000_000_000):
            self.fail(f"{value!r} is no number of that kind: write a whole number from 1 on, or none", param, ctx)
        return int(text)


def _authors(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in values:
        bot, equals, author = value.partition("=")
        if not (bot and equals):
            raise click.BadParameter(f"{value!r} names no author: write BOT=AUTHOR", ctx, param)
        if bot in found:
            raise click.BadParameter(f"the author of {bot!r} is given twice", ctx, param)
        found[bot] = author.strip()
    return found


same_author_option = click.option(
    "--same-author",
    type=click.Choice([choice.value for choice in SameAuthor]),
    default=SameAuthor.TOGETHER.value,
    show_default=True,
    help="Whether bots of one author may meet at tables of three and more.",
)
"""`same_author: str`"""

author_option = click.option(
    "--author",
    "authors",
    multiple=True,
    callback=_authors,
    metavar="BOT=AUTHOR",
    help="Whose a bot is, instead of what its bot.toml says; may be repeated. BOT= says that nobody knows.",
)
"""`authors: dict[str, str]`"""

max_entries_option = click.option(
    "--max-entries",
    type=CountOrNone(),
    default="none",
    show_default=True,
    metavar="N",
    help="How many bots one author may enter; with more nothing is played.",
)
"""`max_entries: int | None`"""

max_faults_option = click.option(
    "--max-faults",
    type=CountOrNone(),
    default=str(MAX_FAULTS),
    show_default=True,
    metavar="N",
    help="After so many faults in a round a bot is withdrawn; none: never.",
)
"""`max_faults: int | None`"""

all_versions_option = click.option(
    "--all-versions", is_flag=True, help="Show the older versions of bots too, and count their games."
)
"""`all_versions: bool`"""

new_season_option = click.option(
    "--new-season",
    is_flag=True,
    allow_from_autoenv=False,  # what is done once is not to be repeated by every run, and so with the next ones
    help="Begin a separate table on the same database, under any conditions.",
)
"""`new_season: bool`"""

close_option = click.option(
    "--close-round",
    is_flag=True,
    allow_from_autoenv=False,
    help="End the open round as it stands, publish its secret, and play nothing.",
)
"""`close_round: bool`"""

drop_option = click.option(
    "--drop-missing", is_flag=True, help="Leave out the games of the open round whose bots are not given any more."
)
"""`drop_missing: bool`"""

plan_option = click.option(
    "--plan",
    allow_from_autoenv=False,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Open the round, write its manifest and secret to FILE for other machines, and play nothing.",
)
"""`plan: Path | None`"""

replace_option = click.option(
    "--force",
    is_flag=True,
    allow_from_autoenv=False,
    help="Replace the leaderboard of another database in DIR, and FILE of --plan.",
)
"""`force: bool`"""

round_option = click.option(
    "--round",
    "round_file",
    allow_from_autoenv=False,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Play this round, which --plan wrote on another machine.",
)
"""`round_file: Path | None`"""

shard_option = click.option(
    "--shard",
    allow_from_autoenv=False,
    type=ShareType(),
    default=WHOLE,
    show_default="all of it",
    metavar="I/N",
    help="Play the I-th of N shares of the open round; `referee db merge` joins them.",
)
"""`shard: Share`"""


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


def check_plan(path: Path | None, out: Path) -> None:
    """Raise InputError where the file of `--plan` would be published with the leaderboard."""
    if path is not None and out.resolve() in path.resolve().parents:
        raise InputError(f"{path} holds the secret of a round, and {out} is what you publish: name a file elsewhere")
