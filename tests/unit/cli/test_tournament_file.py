"""Tournament files: what they say and how it is told where they say it wrongly."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from command_line import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from referee.cli.config_file.settings import ACTS, is_setting, long_name
from referee.cli.config_file.settings import settings as settings_of
from referee.cli.config_file.toml_types import Time, toml
from referee.cli.config_file.tournament_file import MOST_BYTES, tournament_file
from referee.cli.config_file.tournament_schema import SCHEMA_FILE, example_text, schema, schema_text
from referee.cli.main import cli
from referee.cli.options.common import Duration
from referee.errors import InputError

ALL = cli.get_command(click.Context(cli), "tournament")
assert ALL is not None
TOURNAMENT: click.Command = ALL
SETTINGS = settings_of(TOURNAMENT.params)
VALIDATOR = Draft202012Validator(schema(TOURNAMENT))
PAGE = (ROOT / "docs" / "tournament-file.md").read_text("utf-8")


def parsed(*words: str) -> dict[str, Any]:
    """What the tournament would get, nothing being played. Raises click.ClickException and InputError."""
    frame = click.Context(cli, **cli.context_settings)
    with TOURNAMENT.make_context("tournament", list(words), frame) as ctx:
        return ctx.params


def from_file(folder: Path, text: str, *words: str) -> dict[str, Any]:
    (folder / "t.toml").write_text(text, "utf-8")
    return parsed("--file", str(folder / "t.toml"), *words)


def refusal(folder: Path, text: str | bytes) -> str:
    """The sentence, without the folder's name."""
    (folder / "t.toml").write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    done = CliRunner().invoke(cli, ["tournament", "--file", str(folder / "t.toml"), "x"])
    [line] = done.stderr.splitlines()
    assert (done.exit_code, done.stdout) == (2, "")
    return line.removeprefix("referee: ").replace(f"{folder}/", "").replace(str(folder), "FOLDER")


# -- what is in a file


def test_all_kinds_of_values_become_what_flags_would_make_them(tmp_path: Path) -> None:
    said = """
        bots = ["a", "b"]
        players = [4, 2]
        deals = 7
        jobs = 3
        seed = "ümlaut = # \\"quoted\\""
        rules = { scoring = "winner", stall_limit = 300 }
        start-time = "1.5s"
        move-time = "none"
        pace = "20ms"
        fresh = true
        max-faults = "none"
        max-entries = 3
        same-author = "apart"
        authors = { anna = "A. = B.", "b c" = "" }
        db = "games/a.db"
        out = "/no/such/out"
    """
    flags = ["--players", "4,2", "--deals", "7", "-j3", "--seed", 'ümlaut = # "quoted"', "--rule", "scoring=winner"]
    flags += ["--rule", "stall_limit=300", "--start-time", "1.5s", "--move-time", "none", "--pace", "20ms", "--fresh"]
    flags += ["--max-faults", "none", "--max-entries", "3", "--same-author", "apart", "--author", "anna=A. = B."]
    flags += [
        "--author",
        "b c=",
        "--db",
        f"{tmp_path}/games/a.db",
        "--out",
        "/no/such/out",
        f"{tmp_path}/a",
        f"{tmp_path}/b",
    ]
    assert from_file(tmp_path, said) == parsed(*flags)


def test_a_table_may_be_written_in_every_way_of_toml(tmp_path: Path) -> None:
    one = from_file(tmp_path, 'rules = { scoring = "winner" }', "x")
    assert one == from_file(tmp_path, 'rules.scoring = "winner"', "x")
    assert one == from_file(tmp_path, '[rules]\nscoring = "winner"', "x") == parsed("x", "--rule", "scoring=winner")


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert from_file(tmp_path, "", "x") == parsed("x")


def test_a_flag_of_the_file_can_be_denied_on_the_command_line(tmp_path: Path) -> None:
    assert from_file(tmp_path, "skip-refused = true", "x")["skip_refused"] is True
    assert from_file(tmp_path, "skip-refused = true", "x", "--no-skip-refused")["skip_refused"] is False


def test_bots_of_the_command_line_stand_for_those_of_the_file(tmp_path: Path) -> None:
    assert from_file(tmp_path, 'bots = ["a"]', "b")["bots"] == (Path("b"),)


def test_patterns_give_what_is_there_in_order_and_nothing_hidden(tmp_path: Path) -> None:
    for name in ("c", "a", "B", ".hidden", "b.py"):
        (tmp_path / "bots" / name).mkdir(parents=True)
    assert from_file(tmp_path, 'bots = ["bots/b.py", "bots/*", "not/there"]')["bots"] == tuple(
        tmp_path / name for name in ("bots/b.py", "bots/B", "bots/a", "bots/b.py", "bots/c", "not/there")
    )


def test_a_bot_whose_name_looks_like_a_pattern_is_that_bot(tmp_path: Path) -> None:
    for name in ("a[1]", "a1"):
        (tmp_path / name).mkdir()
    assert from_file(tmp_path, 'bots = ["a[1]"]')["bots"] == (tmp_path / "a[1]",)


def test_patterns_work_in_a_folder_whose_name_looks_like_one(tmp_path: Path) -> None:
    folder = tmp_path / "[x]*"
    (folder / "bots" / "a").mkdir(parents=True)
    assert from_file(folder, 'bots = ["bots/*"]')["bots"] == (folder / "bots" / "a",)


def test_paths_count_from_the_files_folder_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "league").mkdir()
    (tmp_path / "league" / "t.toml").write_text('bots = ["a"]\ndb = "a.db"\nout = "../out"')
    monkeypatch.chdir(tmp_path)
    got = parsed("--file", "league/t.toml")
    assert (got["bots"], got["db"], got["out"]) == ((Path("league/a"),), Path("league/a.db"), Path("league/../out"))
    monkeypatch.chdir(tmp_path / "league")
    got = parsed("--file", "t.toml")
    assert (got["bots"], got["db"], got["out"]) == ((Path("a"),), Path("a.db"), Path("../out"))


# -- what is wrong with a file


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\ndeals = 0", "t.toml, line 2: deals: 0 is not in the range 1<=x<=1000000."),
        ("deals = '7'", 't.toml, line 1: deals: a whole number, without quotes, is wanted, not "7"'),
        ("deals = true", "t.toml, line 1: deals: a whole number, without quotes, is wanted, not true"),
        ("deals = 1.5", "t.toml, line 1: deals: a whole number, without quotes, is wanted, not 1.5"),
        ("fresh = 1", "t.toml, line 1: fresh: true or false, without quotes, is wanted, not 1"),
        ("seed = 1979-05-27", 't.toml, line 1: seed: a text in quotes is wanted, not "1979-05-27"'),
        ("seed = ''", "t.toml, line 1: seed: a seed is at least one character long"),
        ('seed = "\\u0000"', "t.toml, line 1: seed: a text has no NUL in it"),
        ('db = "\\u0000"', "t.toml, line 1: db: a text has no NUL in it"),
        (
            "move-time = 500",
            "t.toml, line 1: move-time: '500' is no time: write it with its unit, such as 500ms, 1.5s or 2m, "
            "or none for no limit",
        ),
        ("pace = []", 't.toml, line 1: pace: a time in quotes, such as "500ms", is wanted, not []'),
        (
            "players = 7",
            "t.toml, line 1: players: '7' is no number of players: they are 2 to 6, such as 2 or 2,3,4",
        ),
        ("players = [2, 2]", "t.toml, line 1: players: '2,2' names a number of players twice"),
        (
            "players = '2,4'",
            't.toml, line 1: players: a whole number or a list of them, such as 2 or [2, 4], is wanted, not "2,4"',
        ),
        ("bots = 'x'", 't.toml, line 1: bots: a list of paths, such as ["bots/*"], is wanted, not "x"'),
        ("bots = []", 't.toml, line 1: bots: a list of paths, such as ["bots/*"], is wanted, not []'),
        ("bots = [1]", "t.toml, line 1: bots: a text in quotes is wanted, not 1"),
        ("bots = ['bots/*.x']", 't.toml, line 1: bots: nothing matches "bots/*.x" in FOLDER'),
        (
            "deals = 7\n[rules]\n# scoring\nscoring = 'best'",
            "t.toml, line 4: rules: scoring is places or winner or loser, not 'best'",
        ),
        (
            "rules = { scorin = 'x' }",
            "t.toml, line 1: rules: there is no rule 'scorin': the rules are odd_card, scoring, discard, stall_limit",
        ),
        (
            "[rules]\nscoring = 'loser'\nstall_limit = 'x'",
            't.toml, line 3: rules: stall_limit: a whole number, without quotes, is wanted, not "x"',
        ),
        ("rules = { 'a=b' = 'c' }", 't.toml, line 1: rules: there is no "a=b"'),
        (
            "rules = 'scoring=loser'",
            't.toml, line 1: rules: a table, such as { key = "value" }, is wanted, not "scoring=loser"',
        ),
        ("deals = { seed = 1 }", "t.toml, line 1: deals: a whole number, without quotes, is wanted, not { seed = 1 }"),
        (
            "max-faults = 0",
            "t.toml, line 1: max-faults: '0' is no number of that kind: write a whole number from 1 on, …",
        ),
        ("max-faults = '5'", 't.toml, line 1: max-faults: a whole number, or "none", is wanted, not "5"'),
        ("same-author = 'alone'", "t.toml, line 1: same-author: 'alone' is not one of 'together', 'apart'."),
        ("authors = { a = 1 }", "t.toml, line 1: authors: a: a text in quotes is wanted, not 1"),
        ("new-season = true", 't.toml, line 1: "new-season" is nothing for a file: give it on the command line, …'),
        ("# deal\ndeal = 1", 't.toml, line 2: there is no setting "deal": did you mean deals?'),
        ("move_time = '1s'", 't.toml, line 1: there is no setting "move_time": did you mean move-time?'),
        ("rule = {}", 't.toml, line 1: there is no setting "rule": did you mean rules?'),
        ("quiet = true", 't.toml, line 1: "quiet" is nothing for a file: give it on the command line, as --quiet'),
        ("file = 'x'", 't.toml, line 1: "file" is nothing for a file: give it on the command line, as --file'),
        ("deals 7", "t.toml, line 1, column 7: this is not TOML: …"),
        ("\n\ndeals = 1\ndeals = 2\n", "t.toml, line 4, column 10: this is not TOML: …"),
        ("deals = " + "9" * 5000, "t.toml: this is not TOML: …"),
        ("seed = " + "[" * 50_000, "t.toml: this is nested too deeply for a tournament file"),
        (b"seed = '\xff'", "t.toml is not valid UTF-8 (line 1): save it as UTF-8"),
        (b"#" * (MOST_BYTES + 1), "t.toml: a tournament file has at most 256 KiB"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_wrong_is_told_with_its_place_in_one_sentence(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    told = refusal(tmp_path, text)
    assert told == sentence or (sentence.endswith("…") and told.startswith(sentence[:-1]))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_file_in_another_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    assert "is saved as UTF-16" in refusal(tmp_path, "deals = 7".encode(encoding))


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    text = "# players\r\ndeals = 0\r\n"
    assert refusal(tmp_path, text.encode("utf-8-sig")) == refusal(tmp_path, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "deals" + ".a" * 100_000 + " = 1",
        "[a" + ".a" * 100_000 + "]",
        "".join(f"[rules.{'a.' * 10}b{number}]\n" for number in range(6_000)),
        "".join(f'x{number} = "deals = 0"\n' for number in range(10_000)) + "deals = 0\n",
    ],
    ids=["dots", "dots in a header", "headers", "many lines that look like the one that is wrong"],
)
def test_a_file_is_refused_soon(tmp_path: Path, text: str) -> None:
    began = time.process_time()
    refusal(tmp_path, text)
    assert time.process_time() - began < 3


def test_a_setting_that_there_is_not_is_told_with_all_that_there_are(tmp_path: Path) -> None:
    assert refusal(tmp_path, "zzz = 1") == f't.toml, line 1: there is no setting "zzz": there are {", ".join(SETTINGS)}'


def test_the_line_is_that_of_the_setting_and_of_nothing_that_looks_like_it(tmp_path: Path) -> None:
    before = 'seed = """\ndeals = 1\n"""\n# deals = 2\nout = "deals = 3"\n'
    after = '#deals = 4\ndb = """\ndeals = 5\n"""\n[rules]\ndeals = 6\n'
    text = f"{before}\ndeals = 0\n{after}"
    assert refusal(tmp_path, text).startswith("t.toml, line 7: deals: 0 is not")
    assert refusal(tmp_path, text.replace("\n", "\r\n").encode()).startswith("t.toml, line 7: deals: 0 is not")
    assert refusal(tmp_path, before + after).startswith("t.toml, line 11: rules: there is no rule 'deals'")


def test_a_key_in_escapes_is_told_without_a_line(tmp_path: Path) -> None:
    assert refusal(tmp_path, '"d\\u0065als" = 0') == "t.toml: deals: 0 is not in the range 1<=x<=1000000."


def test_a_wrong_value_is_told_even_where_a_flag_stands_above_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: deals"):
        from_file(tmp_path, "deals = 0", "--deals", "3", "x")


# -- which options are settings


def test_every_option_is_a_setting_or_named_as_an_act() -> None:
    named = {long_name(param) for param in TOURNAMENT.params if not is_setting(param)}
    assert named >= {"file", "quiet", "verbose"} and named <= ACTS
    assert len(SETTINGS) + len(named) == len(TOURNAMENT.params)


def test_options_that_may_be_repeated_are_plural_and_tables_where_they_are_pairs(tmp_path: Path) -> None:
    got: dict[str, Any] = {}
    command = click.Command(
        "probe",
        callback=lambda **values: got.update(values),
        params=[
            click.Option(["--author"], multiple=True, metavar="BOT=NAME"),
            click.Option(["--tag"], multiple=True),
            click.Option(["--limit"], type=click.IntRange(1, 5, max_open=True), multiple=True),
            click.Option(["--same-author"], type=click.Choice(["apart", "together"]), default="together"),
            click.Option(["--new-season"], is_flag=True),
        ],
    )
    tournament_file(command)
    path = tmp_path / "t.toml"
    path.write_text('tags = ["x", "y"]\nlimits = [4]\nsame-author = "apart"\n[authors]\nanna = "A. B."\n"b c" = ""\n')
    assert CliRunner().invoke(command, ["--file", str(path)], catch_exceptions=False).exit_code == 0
    assert got == {
        "author": ("anna=A. B.", "b c="), "tag": ("x", "y"), "limit": (4,), "same_author": "apart", "new_season": False,
    }  # fmt: skip
    found = schema(command)
    assert list(found["properties"]) == ["authors", "tags", "limits", "same-author"]
    assert found["properties"]["limits"]["items"] == {"type": "integer", "minimum": 1, "maximum": 4}
    assert found["properties"]["same-author"]["enum"] == ["apart", "together"]
    assert Draft202012Validator(found).is_valid(tomllib.loads(path.read_text()))
    path.write_text('same-author = "alone"')
    with pytest.raises(InputError, match=r"line 1: same-author: 'alone' is not one of 'apart', 'together'\.$"):
        CliRunner().invoke(command, ["--file", str(path)], catch_exceptions=False)


# -- times and texts


@given(st.integers(1, 10**9 - 1), st.integers(0, 10**9 - 1), st.sampled_from(["ms", "s", "m", "h"]))
def test_a_time_is_written_so_that_it_is_read_the_same(whole: int, rest: int, unit: str) -> None:
    for text in (f"{whole}{unit}", f"{whole}.{rest:09}{unit}"):
        try:
            ms = Duration().convert(text, None, None)
        except click.BadParameter:
            continue
        assert Duration().convert(Time(True).to_toml(ms), None, None) == ms


@pytest.mark.parametrize(
    ("ms", "text"), [(500, "500ms"), (1_500, "1500ms"), (90_000, "90s"), (3_600_000, "1h"), (None, "none")]
)
def test_a_time_is_written_in_its_largest_whole_unit(ms: int | None, text: str) -> None:
    assert Time(True).to_toml(ms) == text


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.one_of(KEYS, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.lists(KEYS, max_size=3))


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_is_written_as_toml_is_read_as_it_was(value: dict[str, Any]) -> None:
    assert tomllib.loads(f"x = {toml(value)}") == {"x": value}


# -- the schema


def test_the_shipped_schema_is_what_the_options_say() -> None:
    assert SCHEMA_FILE.read_text("ascii") == schema_text(TOURNAMENT), f"referee config schema > {SCHEMA_FILE}"


def test_the_schema_is_good_json_schema_with_words_for_every_setting() -> None:
    found = schema(TOURNAMENT)
    Draft202012Validator.check_schema(found)
    assert (found["$schema"], found["$id"]) == (
        "https://json-schema.org/draft/2020-12/schema", "urn:four-widows:referee:tournament-file",
    )  # fmt: skip
    assert list(found["properties"]) == list(SETTINGS)
    for key, value in found["properties"].items():
        assert value["description"].endswith((".", "…")) or value["description"], key
        assert "default" not in value or Draft202012Validator(value).is_valid(value["default"]), key


def test_the_schema_says_bounds_and_defaults() -> None:
    said = schema(TOURNAMENT)["properties"]
    assert {key: said["deals"][key] for key in ("type", "minimum", "default")} == {
        "type": "integer", "minimum": 1, "default": 100,
    }  # fmt: skip
    assert (said["players"]["default"], said["move-time"]["default"], said["fresh"]["default"]) == (2, "1s", False)
    assert said["rules"]["properties"]["scoring"] == {
        "type": "string", "enum": ["places", "winner", "loser"], "default": "places",
    }  # fmt: skip


def test_the_example_has_every_setting_and_each_is_valid_when_it_is_uncommented(tmp_path: Path) -> None:
    text = example_text(TOURNAMENT)
    assert VALIDATOR.is_valid(tomllib.loads(text)) and text.startswith("#:schema ./tournament.schema.json\n")
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.removeprefix("# ").partition(" = ")[1]]
    whole = tomllib.loads("\n".join(lines))
    assert list(whole) == list(SETTINGS)
    VALIDATOR.validate(whole)
    (tmp_path / "bots" / "a").mkdir(parents=True)
    assert from_file(tmp_path, "\n".join(lines))["bots"] == (tmp_path / "bots" / "a",)


def test_the_files_of_the_page_are_valid_and_accepted(tmp_path: Path) -> None:
    examples = [block.partition("\n```")[0] for block in PAGE.split("```toml\n")[1:]]
    assert examples and examples[0].startswith("#:schema ./tournament.schema.json\n")
    (tmp_path / "bots" / "a").mkdir(parents=True)
    for example in examples:
        VALIDATOR.validate(tomllib.loads(example))
        from_file(tmp_path, example)


TEXTS = ["", "x", "2", "2,4", "10s", "0.5s", "500 ms", "none", "true", "winner", "all", "a.db"]
TABLES = [
    {},
    {"scoring": "loser"},
    {"scoring": 1},
    {"stall_limit": 0},
    {"stall_limit": 9},
    {"odd_card": "x"},
    {"x": "y"},
]
LISTS = [[], [2], [2, 4], [2, 2], [7], ["x"], ["x", "y"], [True], [[]]]
ODD = st.sampled_from([True, False, -1, 0, 1, 2, 6, 7, 10**9, 10**12, 0.5, float("inf"), *TEXTS, *LISTS, *TABLES])


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([*SETTINGS, "deal", "file", "quiet"]), ODD)
def test_schema_and_program_agree_on_every_value_of_every_key(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        from_file(folder, f"{key} = {toml(value) if value != float('inf') else 'inf'}", *["x"] * (key != "bots"))
        is_accepted = True
    except InputError:
        is_accepted = False
    if (key, value) != ("seed", ""):  # the schema does not know what the option asks of a text
        assert VALIDATOR.is_valid({key: value}) == is_accepted
