"""What a tournament says and keeps where none of a round's bots is here, or none is left."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from command_line import referee_command

PLAIN = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"


def write_bots(folder: Path, names: str, program: str = "first") -> list[str]:
    """A file for each name, all with the same program."""
    for name in names.split():
        shutil.copy(PLAIN / f"{program}.py", folder / f"{name}.py")
    return [f"{name}.py" for name in names.split()]


def test_bots_of_other_names_do_not_end_an_open_round_and_its_secret_stays_untold(tmp_path: Path) -> None:
    ours, others = write_bots(tmp_path, "ann bob"), write_bots(tmp_path, "xan yor")
    assert referee_command("tournament", *ours, "--deals", "1", "--plan", "round.json", cwd=tmp_path).returncode == 0
    secret = json.loads((tmp_path / "round.json").read_text())["secret"]
    refused = referee_command("tournament", *others, "--deals", "1", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.endswith(
        "referee: round 1 is open in referee.db, and of its bots ann, bob are not here: name them too, give "
        "--drop-missing to leave out their games, or end the round with --close-round\n"
    )
    assert referee_command("tournament", *others, "--deals", "1", "--drop-missing", cwd=tmp_path).returncode == 2
    assert secret not in (tmp_path / "leaderboards" / "rounds.json").read_text()
    played = referee_command("tournament", *ours, "--deals", "1", "--jobs", "1", cwd=tmp_path)
    assert f"round 1 is closed; its secret was {secret}" in played.stderr


def test_bots_of_an_open_round_are_left_out_when_it_is_said_and_by_no_mistake(tmp_path: Path) -> None:
    ours = write_bots(tmp_path, "ann bob")
    assert referee_command("tournament", *ours, "--deals", "1", "--plan", "round.json", cwd=tmp_path).returncode == 0
    (tmp_path / "ann.py").write_text((PLAIN / "last.py").read_text())
    changed = ["ann.py", *write_bots(tmp_path, "xan")]
    refused = referee_command("tournament", *changed, "--deals", "1", "--jobs", "1", cwd=tmp_path)
    assert (refused.returncode, "of its bots bob is not here" in refused.stderr) == (2, True), refused.stderr
    changed.append("--drop-missing")
    played = referee_command("tournament", *changed, "--deals", "1", "--jobs", "1", cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    assert "round 1 is closed" in played.stderr
    assert "round 2 is closed" in played.stderr


def test_where_everybody_is_withdrawn_nothing_is_played_and_it_is_said_why(tmp_path: Path) -> None:
    words = ["tournament", *write_bots(tmp_path, "ann bob", "fails"), "--deals", "2", "--max-faults", "1"]
    first = referee_command(*words, "--jobs", "1", cwd=tmp_path)
    (name,) = re.findall("(ann|bob) was at fault in ", first.stderr)  # whoever is asked first
    second = referee_command(*words, "--jobs", "1", cwd=tmp_path)
    assert second.returncode == 0
    assert (
        f"nothing is owed: every line-up has its deals, but those of bots that were withdrawn: {name}\n"
        in second.stderr
    )
    planned = referee_command(*words, "--plan", "round.json", cwd=tmp_path)
    assert planned.returncode == 2
    assert planned.stderr.endswith(
        f"referee: there is nothing to plan: every line-up has its deals, but those of bots that were withdrawn: {name}\n"
    )
    shown = referee_command("standings", cwd=tmp_path)
    assert shown.returncode == 0
    nothing, why = shown.stdout.splitlines()
    assert nothing == "there are no rated games of season 1 in referee.db"
    assert re.fullmatch(
        rf"{name} [0-9a-f]{{8}} was withdrawn in round 1, where it came to 1 fault; its games rate nobody", why
    )


def test_a_second_plan_is_of_the_round_that_is_open_and_says_so(tmp_path: Path) -> None:
    ours = write_bots(tmp_path, "ann bob")
    first = referee_command("tournament", *ours, "--deals", "1", "--plan", "one.json", cwd=tmp_path)
    assert "round 1: 2 games; its commitment is " in first.stderr
    second = referee_command("tournament", *ours, "--deals", "5", "--plan", "two.json", cwd=tmp_path)
    assert "round 1, which was open already and stays as it is: 2 games; its commitment is " in second.stderr
    assert (tmp_path / "two.json").read_bytes() == (tmp_path / "one.json").read_bytes()
