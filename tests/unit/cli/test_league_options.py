"""Options of leagues: what their words mean, and what is said where they cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from referee.cli.main import cli
from referee.cli.options.league import CountOrNone, ShareType, author_option
from referee.tournament.rounds.schedule import WHOLE, Share

BOTS = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"
THREE = [str(BOTS / f"{name}.py") for name in ("first", "last", "middle")]


def convert(kind: click.ParamType, text: str) -> object:
    return kind.convert(text, None, None)


@given(st.integers(1, 10_000), st.integers(0, 9_999))
def test_a_share_is_its_number_and_how_many_there_are(number: int, more: int) -> None:
    of = min(number + more, 10_000)
    assert convert(ShareType(), f"{number}/{of}") == Share(number, of)
    assert convert(ShareType(), str(WHOLE.number) + "/1") == WHOLE


@pytest.mark.parametrize(
    "text", ["", "1", "/", "1/", "/2", "0/2", "3/2", "-1/2", "1/0", "1/10001", "a/b", "1/2/3", "1.0/2", "1 /2", "²/3"]
)
def test_no_share_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no share: write I/N, such as 1/3 for the first of three"):
        convert(ShareType(), text)


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("25", 25), ("none", None), (" None ", None), ("007", 7)])
def test_a_count_is_a_whole_number_or_none(text: str, count: int | None) -> None:
    assert convert(CountOrNone(), text) == count


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "all", "1000000001", "²"])
def test_no_count_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write a whole number from 1 on, or none"):
        convert(CountOrNone(), text)


def authors(*values: str) -> tuple[int, str]:
    """The status and the words of a command that prints its authors."""

    @click.command()
    @author_option
    def command(authors: dict[str, str]) -> None:
        click.echo(repr(authors))

    done = CliRunner().invoke(command, [word for value in values for word in ("--author", value)])
    return done.exit_code, done.output.strip()


def test_authors_are_by_bot() -> None:
    assert authors() == (0, "{}")
    assert authors("ann=Ada L.", "bob= Bea ", "cyd=", "dee=a=b") == (
        0,
        "{'ann': 'Ada L.', 'bob': 'Bea', 'cyd': '', 'dee': 'a=b'}",
    )


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["ann"], "'ann' names no author: write BOT=AUTHOR"),
        (["=Ada"], "'=Ada' names no author: write BOT=AUTHOR"),
        (["ann=x", "ann=y"], "the author of 'ann' is given twice"),
    ],
)
def test_an_author_of_nobody_is_refused(values: Sequence[str], says: str) -> None:
    status, words = authors(*values)
    assert (status, says in words) == (2, True), words


# -- the command; nothing is played


def tournament(folder: Path, *words: str, bots: Sequence[str] = THREE) -> tuple[int, str]:
    """The status and the words of a command that is to be refused."""
    done = CliRunner().invoke(
        cli, ["tournament", *bots, "--db", str(folder / "x.db"), "--out", str(folder / "out"), *words]
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--new-season", "--close-round"], "--new-season and --close-round cannot be given together"),
        (["--plan", "f", "--close-round"], "--close-round and --plan cannot be given together"),
        (["--plan", "f", "--round", "g"], "--plan and --round cannot be given together"),
        (["--new-season", "--round", "g"], "--new-season and --round cannot be given together"),
        (["--new-season", "--plan", "f", "--round", "g"], "cannot be given together"),
        (["--close-round", "--round", "g"], "--close-round and --round cannot be given together"),
        (["--shard", "1/2", "--plan", "f"], "--plan and --shard cannot be given together"),
        (["--shard", "1/2", "--new-season"], "--new-season and --shard cannot be given together"),
        (["--shard", "1/2", "--close-round"], "--close-round and --shard cannot be given together"),
        (["--shard", "3/2"], "'3/2' is no share"),
        (["--round", "missing.json"], "missing.json cannot be read: No such file or directory"),
        (["--round", "/"], "is a directory"),
        (["--round", THREE[0]], "is no round that `referee tournament --plan` wrote"),
        (["--author", "nobody=Ada"], "--author names 'nobody', and there is no bot of that name"),
        (["--max-entries", "0"], "write a whole number from 1 on, or none"),
        (["--max-faults", "0"], "write a whole number from 1 on, or none"),
        (["--same-author", "near"], "'near' is not one of 'together', 'apart'"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_begun(tmp_path: Path, words: list[str], says: str) -> None:
    status, said = tournament(tmp_path, *words)
    assert (status, says in said) == (2, True), said
    assert not (tmp_path / "x.db").exists()


def test_an_author_with_too_many_bots_is_named_with_them(tmp_path: Path) -> None:
    given_authors = ["--author", "first=Ada", "--author", "last= aＤa"]
    status, said = tournament(tmp_path, *given_authors, "--max-entries", "1")
    assert status == 2
    assert "Ada enters 2 bots, and --max-entries allows 1: leave out some of first, last" in said
    assert not (tmp_path / "x.db").exists()


def test_shards_and_closing_need_an_open_round(tmp_path: Path) -> None:
    for words in (["--shard", "1/2"], ["--close-round"]):
        status, said = tournament(tmp_path, *words)
        assert (status, "there is no database x.db" in said) == (2, True), said
        assert not (tmp_path / "x.db").exists()
