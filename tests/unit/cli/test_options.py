from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from referee.bots.process.limits import Reuse
from referee.cli.options import common
from referee.errors import RulesError
from referee.rules import DEFAULT_RULES, DiscardRule, OddCard, Rules, Scoring


def given_to(decorator: common.Command, *words: str) -> dict[str, Any]:
    """What a command with these options gets."""
    got: dict[str, Any] = {}
    command = click.command()(decorator(lambda **values: got.update(values)))
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return got


def refusal(decorator: common.Command, *words: str) -> str:
    command = click.command()(decorator(lambda **values: None))
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 2
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("10s", 10_000),
        ("500ms", 500),
        ("1.5s", 1_500),
        ("2m", 120_000),
        ("0.001s", 1),
        ("1h", 3_600_000),
        ("0.5ms", None),
        (" 3S ", 3_000),
        ("none", "no limit"),
        ("None", "no limit"),
    ],
)
def test_times_are_whole_milliseconds(text: str, ms: int | str | None) -> None:
    if ms is None:
        assert "not a whole number of milliseconds" in refusal(common.move_option, "--move-time", text)
    else:
        got = given_to(common.move_option, "--move-time", text)["move_ms"]
        assert got == (None if ms == "no limit" else ms)


@pytest.mark.parametrize(
    "text", ["", "10", "-1s", "s", "1 s", "1d", "1e3ms", "١s", "1.s", ".5s", "inf", "9" * 10 + "s"]
)
def test_what_is_no_time_is_refused_with_how_to_write_one(text: str) -> None:
    assert "such as 500ms, 1.5s or 2m, or none for no limit" in refusal(common.move_option, f"--move-time={text}")


@pytest.mark.parametrize("text", ["0s", "0ms", "0.0001s"])
def test_time_of_nothing_is_refused(text: str) -> None:
    assert "not a whole number of milliseconds, from 1 on" in refusal(common.move_option, "--move-time", text)


def test_time_that_must_be_limited_cannot_be_none() -> None:
    with pytest.raises(click.BadParameter, match=r"such as 500ms, 1\.5s or 2m$"):
        common.Duration(unlimited=False).convert("none", None, None)


@given(st.integers(1, 10**9 - 1))
def test_any_number_of_milliseconds_is_read_as_it_is(ms: int) -> None:
    assert common.Duration().convert(f"{ms}ms", None, None) == ms


def test_limits_have_defaults() -> None:
    assert given_to(common.limits_options) == {"start_ms": 10_000, "move_ms": 1_000, "game_ms": None}
    assert given_to(common.pace_option) == {"pace_ms": None}


@pytest.mark.parametrize(("text", "players"), [("2", (2,)), ("2,3,4", (2, 3, 4)), ("6, 2", (2, 6)), ("5,", None)])
def test_players_are_an_ascending_tuple(text: str, players: tuple[int, ...] | None) -> None:
    if players:
        assert given_to(common.players_option, "--players", text) == {"players": players}
    else:
        assert "'' is no number of players: they are 2 to 6" in refusal(common.players_option, "--players", text)


@pytest.mark.parametrize("text", ["1", "7", "two", "2-4", "+2", "02", "2 3", "٣"])
def test_other_numbers_of_players_are_refused(text: str) -> None:
    assert "is no number of players: they are 2 to 6, such as 2 or 2,3,4" in refusal(
        common.players_option, f"--players={text}"
    )


def test_players_named_twice_are_refused() -> None:
    assert "names a number of players twice" in refusal(common.players_option, "--players", "2,3,2")


def test_rules_are_the_defaults_but_for_what_is_said() -> None:
    assert given_to(common.rules_option) == {"rules": DEFAULT_RULES}
    words = ["odd_card=first", "scoring=loser", "discard=all", "stall_limit=30"]
    got = given_to(common.rules_option, *[word for rule in words for word in ("--rule", rule)])
    assert got == {"rules": Rules(OddCard.FIRST, Scoring.LOSER, DiscardRule.ALL, 30)}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (("speed=1",), "there is no rule 'speed': the rules are odd_card, scoring, discard, stall_limit"),
        (("scoring=most",), "scoring is places or winner or loser, not 'most'"),
        (("scoring=",), "scoring is places or winner or loser, not ''"),
        (("scoring",), "'scoring' is no rule: write key=value, such as scoring=winner"),
        (("stall_limit=0",), "stall_limit is a number of turns from 1 on, not 0"),
        (("stall_limit=1.5",), "stall_limit is a whole number from 1 on, not '1.5'"),
        (("discard=all", "discard=any"), "the rule 'discard' is given twice"),
    ],
)
def test_rules_that_do_not_exist_are_refused_with_those_that_do(settings: tuple[str, ...], text: str) -> None:
    with pytest.raises(RulesError) as caught:
        common.parse_rules(settings)
    assert str(caught.value) == text
    assert text in refusal(common.rules_option, *[word for rule in settings for word in ("--rule", rule)])


def test_seed_is_any_text_but_none() -> None:
    assert given_to(common.seed_option) == {"seed": None}
    assert given_to(common.seed_option, "--seed", "0") == {"seed": "0"}
    assert "at least one character" in refusal(common.seed_option, "--seed", "")


def test_jobs_are_left_to_the_command_unless_said() -> None:
    assert given_to(common.jobs_option) == {"jobs": None}
    assert given_to(common.jobs_option, "-j", "7") == {"jobs": 7}
    assert "0 is not in the range" in refusal(common.jobs_option, "-j", "0")


def test_fresh_processes_are_asked_for() -> None:
    assert given_to(common.fresh_option) == {"fresh": Reuse.MANY_GAMES}
    assert given_to(common.fresh_option, "--fresh") == {"fresh": Reuse.FRESH}


def test_database_is_an_argument_or_an_option_and_not_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFEREE_DB", raising=False)
    assert given_to(common.reads_db) == {"db": Path("referee.db")}
    assert given_to(common.reads_db, "a.db") == {"db": Path("a.db")}
    assert given_to(common.reads_db, "--db", "a.db") == {"db": Path("a.db")}
    assert "named twice" in refusal(common.reads_db, "a.db", "--db", "a.db")
    monkeypatch.setenv("REFEREE_DB", "b.db")
    assert given_to(common.reads_db) == {"db": Path("b.db")}
    assert given_to(common.reads_db, "a.db") == {"db": Path("a.db")}
