"""`referee config`: settings as they would be used, with where they come from, as a file that means the same."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from command_line import referee_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.cli.config_file.settings import settings as settings_of
from referee.cli.config_file.toml_types import toml
from referee.cli.config_file.tournament_schema import SCHEMA_FILE, example_text
from referee.cli.main import cli

ALL = cli.get_command(click.Context(cli), "tournament")
assert ALL is not None
TOURNAMENT: click.Command = ALL
KEYS = list(settings_of(TOURNAMENT.params))

# By key: what a file, the environment and a command line say, and what is shown of it.
FILE = {
    "bots": ["file/a", "file/b"], "players": [2, 3], "deals": 11, "jobs": 2, "db": "file.db", "seed": "file",
    "rules": {"scoring": "winner"}, "move-time": "3s", "fresh": True, "skip-refused": False,
    "same-author": "apart", "authors": {"a": "x"}, "max-faults": "none", "all-versions": True,
}  # fmt: skip
VARIABLES = {
    "BOTS": "env/a:env/b", "PLAYERS": "4,3", "DEALS": "12", "JOBS": "3", "DB": "env.db", "SEED": "environment",
    "RULE": "scoring=loser stall_limit=9", "MOVE_TIME": "4500ms", "FRESH": "0", "SKIP_REFUSED": "yes",
    "SAME_AUTHOR": "together", "AUTHOR": "b=y c=z", "MAX_FAULTS": "6", "ALL_VERSIONS": "false",
}  # fmt: skip
FLAGS = [
    "flag/a", "flag/b", "--players", "5", "--deals", "13", "-j", "4", "--db", "flag.db", "--seed", "flag",
    "--rule", "discard=all", "--move-time", "none", "--fresh", "--no-skip-refused",
    "--same-author", "apart", "--author", "d=e f", "--max-faults", "7", "--all-versions",
]  # fmt: skip
DEFAULTS = {
    "bots": None, "players": 2, "deals": 100, "jobs": None, "db": "CWD/referee.db", "seed": None,
    "rules": None, "move-time": "1s", "fresh": False, "skip-refused": False,
    "same-author": "together", "authors": None, "max-faults": 25, "all-versions": False,
}  # fmt: skip
FROM_FILE = {**FILE, "bots": ["FOLDER/file/a", "FOLDER/file/b"], "db": "FOLDER/file.db"}
FROM_ENVIRONMENT = {
    "bots": ["CWD/env/a", "CWD/env/b"], "players": [3, 4], "deals": 12, "jobs": 3, "db": "CWD/env.db",
    "seed": "environment", "rules": {"scoring": "loser", "stall_limit": 9}, "move-time": "4500ms", "fresh": False,
    "skip-refused": True,
    "same-author": "together", "authors": {"b": "y", "c": "z"}, "max-faults": 6, "all-versions": False,
}  # fmt: skip
FROM_FLAGS = {
    "bots": ["CWD/flag/a", "CWD/flag/b"], "players": 5, "deals": 13, "jobs": 4, "db": "CWD/flag.db", "seed": "flag",
    "rules": {"discard": "all"}, "move-time": "none", "fresh": True, "skip-refused": False,
    "same-author": "apart", "authors": {"d": "e f"}, "max-faults": 7, "all-versions": True,
}  # fmt: skip


def written(path: Path, values: Mapping[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in values.items()), "utf-8")
    return path


def shown(cwd: Path, *words: str, env: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """By key: value, source and where of `config show --json`, in a process of its own."""
    done = referee_command("config", "show", "--json", *words, cwd=cwd, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout.replace(f"{cwd}/league/", "FOLDER/").replace(f"{cwd}/", "CWD/"))
    assert isinstance(found, dict)
    return found


def values(document: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {key: document[key]["value"] for key in DEFAULTS}


def sources(document: Mapping[str, Mapping[str, Any]]) -> set[str]:
    return {document[key]["source"] for key in DEFAULTS}


@pytest.fixture
def league(tmp_path: Path) -> str:
    return str(written(tmp_path / "league" / "t.toml", FILE))


ENVIRONMENT = {f"REFEREE_TOURNAMENT_{name}": value for name, value in VARIABLES.items()}


def test_without_anything_all_are_defaults(tmp_path: Path) -> None:
    found = shown(tmp_path)
    assert (list(found), values(found), sources(found)) == (KEYS, DEFAULTS, {"default"})


def test_a_file_stands_above_the_defaults(tmp_path: Path, league: str) -> None:
    found = shown(tmp_path, "--file", league)
    assert (values(found), sources(found)) == (FROM_FILE, {"file"})
    assert {one["where"] for one in found.values() if one["source"] == "file"} == {"FOLDER/t.toml"}
    assert found["pace"] == {"value": "none", "source": "default", "where": None}


def test_the_environment_stands_above_a_file(tmp_path: Path, league: str) -> None:
    found = shown(tmp_path, "--file", league, env=ENVIRONMENT)
    assert (values(found), sources(found)) == (FROM_ENVIRONMENT, {"environment"})
    assert {found[key]["where"] for key in DEFAULTS} == set(ENVIRONMENT)


def test_flags_stand_above_the_environment(tmp_path: Path, league: str) -> None:
    found = shown(tmp_path, "--file", league, *FLAGS, env=ENVIRONMENT)
    assert (values(found), sources(found)) == (FROM_FLAGS, {"flag"})
    assert (found["bots"]["where"], found["jobs"]["where"], found["rules"]["where"]) == ("BOTS…", "--jobs", "--rule")
    assert (found["fresh"]["where"], found["skip-refused"]["where"]) == ("--fresh", "--no-skip-refused")


def test_flags_stand_above_a_file_without_an_environment(tmp_path: Path, league: str) -> None:
    assert values(shown(tmp_path, "--file", league, *FLAGS)) == FROM_FLAGS


def test_the_database_of_all_commands_stands_between_its_own_variable_and_the_file(tmp_path: Path, league: str) -> None:
    common, own = {"REFEREE_DB": "common.db"}, {"REFEREE_TOURNAMENT_DB": "own.db"}
    file = ["--file", league]
    assert [
        tuple(shown(tmp_path, *words, env=env)["db"].values())
        for words, env in [([], common), (file, common), (file, {**common, **own}), ([*file, "--db", "x.db"], common)]
    ] == [
        ("CWD/common.db", "environment", "REFEREE_DB"),
        ("CWD/common.db", "environment", "REFEREE_DB"),
        ("CWD/own.db", "environment", "REFEREE_TOURNAMENT_DB"),
        ("CWD/x.db", "flag", "--db"),
    ]


def test_an_empty_variable_says_nothing(tmp_path: Path, league: str) -> None:
    empty = {**dict.fromkeys(ENVIRONMENT, ""), "REFEREE_DB": ""}
    assert values(shown(tmp_path, "--file", league, env=empty)) == FROM_FILE


def test_the_file_itself_may_be_named_in_the_environment(tmp_path: Path, league: str) -> None:
    assert values(shown(tmp_path, env={"REFEREE_TOURNAMENT_FILE": league})) == FROM_FILE


def test_toml_has_a_comment_for_each_setting(tmp_path: Path) -> None:
    written(tmp_path / "t.toml", {"deals": 7, "bots": ["a"], "rules": {"scoring": "winner"}})
    done = referee_command(
        "config", "show", "--file", "t.toml", "--players", "4", cwd=tmp_path, env={"REFEREE_TOURNAMENT_JOBS": "2"}
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].startswith("# ")
    for line in (
        f'bots = ["{tmp_path}/a"]  # file t.toml',
        "players = 4  # flag --players",
        "deals = 7  # file t.toml",
        "jobs = 2  # environment REFEREE_TOURNAMENT_JOBS",
        "# cores-per-bot is not set (default)",
        f'db = "{tmp_path}/referee.db"  # default: $REFEREE_DB or referee.db',
        'rules = { scoring = "winner" }  # file t.toml',
        'move-time = "1s"  # default',
        "fresh = false  # default",
    ):
        # pytest names the folder by the test, and a long name puts bots on lines of their own
        assert line in lines or line.startswith("bots")


def test_a_long_list_has_a_line_for_each_value(tmp_path: Path) -> None:
    bots = [f"{letter * 40}" for letter in "abc"]
    done = referee_command("config", "show", *bots, cwd=tmp_path)
    assert f'bots = [  # flag BOTS…\n  "{tmp_path}/{bots[0]}",\n' in done.stdout
    assert tomllib.loads(done.stdout)["bots"] == [f"{tmp_path}/{bot}" for bot in bots]


def test_nothing_is_played_and_nothing_written(tmp_path: Path) -> None:
    assert referee_command("config", "show", "no-such-bot", cwd=tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--deals", "0"], "Invalid value for '--deals': 0 is not in the range 1<=x<=1000000."),
        (["--rule", "x=y"], "Invalid value for '--rule': there is no rule 'x'"),
        (["--file", "t.toml"], 't.toml, line 1: there is no setting "deal": did you mean deals?'),
        (["--seed", os.fsdecode(b"\xff")], "Invalid value for '--seed': a seed is text in UTF-8"),
        ([os.fsdecode(b"\xff")], "bots is not text in UTF-8, and cannot stand in a tournament file"),
    ],
    ids=["number", "rule", "file", "seed", "path"],
)
def test_what_is_wrong_is_told_as_the_tournament_would(tmp_path: Path, words: list[str], sentence: str) -> None:
    (tmp_path / "t.toml").write_text("deal = 1")
    done = referee_command("config", "show", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"referee: {sentence}")


def test_schema_and_example_are_printed(tmp_path: Path) -> None:
    printed = {name: referee_command("config", name, cwd=tmp_path).stdout for name in ("schema", "example")}
    assert printed == {"schema": SCHEMA_FILE.read_text("ascii"), "example": example_text(TOURNAMENT)}


def test_alone_it_shows_its_help() -> None:
    done = referee_command("config")
    assert (done.returncode, done.stderr, done.stdout.splitlines()[0]) == (
        0, "", "Usage: referee config [OPTIONS] [COMMAND] [ARGS]...",
    )  # fmt: skip


def test_loudness_may_be_given_to_each_of_its_commands() -> None:
    assert referee_command("config", "-q", "show", "-q").returncode == 0


# -- what is shown means the same

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/*?["), min_size=1, max_size=6)
PATHS = NAMES.map(lambda name: f"p{name}")
TIMES = st.sampled_from(["none", "1ms", "1.5s", "90s", "0.001h", "7m", "999999999h", "999999999.5m", "123456789.012s"])
CHOSEN = st.fixed_dictionaries(
    {},
    optional={
        "bots": st.lists(PATHS, min_size=1, max_size=3), "players": st.lists(st.integers(2, 6), min_size=1, unique=True),
        "deals": st.integers(1, 10**6), "jobs": st.integers(1, 64), "db": PATHS, "out": PATHS, "seed": NAMES,
        "max-faults": st.sampled_from([1, 10**9, "none"]), "same-author": st.sampled_from(["apart", "together"]),
        "authors": st.dictionaries(NAMES.filter(lambda name: "=" not in name), NAMES, max_size=2),
        "rules": st.sampled_from([{"scoring": "winner"}, {"stall_limit": 7, "discard": "all"}, {}]),
        "start-time": TIMES, "move-time": TIMES, "pace": TIMES, "fresh": st.booleans(), "skip-refused": st.booleans(),
    },
)  # fmt: skip


def words_of(chosen: Mapping[str, Any]) -> list[str]:
    """The command line that says so."""
    words: list[str] = []
    for key, value in chosen.items():
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{key}")
        elif isinstance(value, dict):
            words += [f"--{key.removesuffix('s')}={name}={one}" for name, one in value.items()]
        elif key != "bots":
            words.append(f"--{key}={','.join(map(str, value)) if isinstance(value, list) else value}")
    return [*words, "--", *chosen.get("bots", [])]


def parsed(words: list[str], env: Mapping[str, str]) -> dict[str, Any]:
    """What the tournament would get, its paths from the root on."""
    runner, got = CliRunner(), {}
    with runner.isolation(env=env):
        frame = click.Context(cli, **cli.context_settings)
        with TOURNAMENT.make_context("tournament", words, frame) as ctx:
            got = dict(ctx.params)
    for key in ("db", "out"):
        got[key] = got[key].absolute()
    got["bots"] = tuple(path.absolute() for path in got["bots"])
    return got


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    CHOSEN, CHOSEN, st.fixed_dictionaries({}, optional={"DEALS": st.just("5"), "PACE": st.just("2.5s"), "DB": PATHS})
)
def test_what_is_shown_is_a_file_that_means_the_same_anywhere(
    tmp_path: Path, file: dict[str, Any], flags: dict[str, Any], variables: dict[str, str]
) -> None:
    path = written(tmp_path / "league" / "t.toml", file)
    bots = {"bots": ["x"]} if "bots" not in file else {}
    words = ["--file", str(path), *words_of({**bots, **flags})]
    env = {f"REFEREE_TOURNAMENT_{key}": value for key, value in variables.items()}
    done = CliRunner().invoke(cli, ["config", "show", *words], env=env, catch_exceptions=False)
    assert done.exit_code == 0, shlex.join(words)
    elsewhere = tmp_path / "elsewhere" / "shown.toml"
    elsewhere.parent.mkdir(exist_ok=True)
    elsewhere.write_text(done.stdout, "utf-8")
    assert parsed(["--file", str(elsewhere)], {}) == parsed(words, env)
    again = CliRunner().invoke(cli, ["config", "show", "--file", str(elsewhere)], catch_exceptions=False)
    assert tomllib.loads(again.stdout) == tomllib.loads(done.stdout)
