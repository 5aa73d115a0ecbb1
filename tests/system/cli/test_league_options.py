"""Options of leagues: what their words mean, and what is said where they cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli.main import cli

BOTS = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"
THREE = [str(BOTS / f"{name}.py") for name in ("first", "last", "middle")]


# -- the command; nothing is played


def tournament(folder: Path, *words: str, bots: Sequence[str] = THREE) -> tuple[int, str]:
    """The status and the words of a command that is to be refused."""
    done = CliRunner().invoke(
        cli, ["tournament", *bots, "--db", str(folder / "x.db"), "--out", str(folder / "out"), *words]
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.replace(f"{folder}/", "")


def test_what_is_done_once_is_asked_for_on_the_command_line_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the environment it would be repeated by every run: each would begin a season, or end a round."""
    monkeypatch.chdir(tmp_path)
    acts = {"NEW_SEASON": "1", "CLOSE_ROUND": "1", "PLAN": "plan.json", "ROUND": "none.json", "SHARD": "2/2"}
    env = {f"REFEREE_TOURNAMENT_{name}": value for name, value in acts.items()}
    done = CliRunner().invoke(cli, ["tournament", *THREE, "--deals", "1", "--jobs", "1"], env=env)
    assert done.exit_code == 0, done.stderr
    assert "round 1 is closed; its secret was " in done.stderr
    again = CliRunner().invoke(cli, ["tournament", *THREE, "--deals", "1", "--jobs", "1"], env=env)
    assert "nothing is owed" in again.stderr
    assert not (tmp_path / "plan.json").exists()
