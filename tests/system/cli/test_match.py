"""`referee match` as an author uses it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from processes import REFEREE, alive

from referee.cards import NAMES

PROGRAMS = Path(__file__).parents[2] / "system" / "bots" / "programs"
FIRST, LAST = PROGRAMS / "plain" / "first.py", PROGRAMS / "plain" / "last.py"
DECK = " ".join(NAMES)


def referee(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REFEREE, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


def document(*words: str | Path, cwd: Path) -> dict[str, list[dict[str, object]]]:
    done = referee("match", *words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def bad(tmp_path: Path, mode: str) -> Path:
    """A bot folder around `bad.py MODE`."""
    folder = tmp_path / mode.replace("_", "-")
    folder.mkdir()
    (folder / "bad.py").write_bytes((PROGRAMS / "bad.py").read_bytes())
    (folder / "bot.toml").write_text(f'command = ["python3", "bad.py", "{mode}"]\n')
    return folder


def test_each_deal_is_played_in_every_rotation(tmp_path: Path) -> None:
    games = document(FIRST, LAST, "--deals", "2", cwd=tmp_path)["games"]
    assert sorted((game["deal"], *game["seats"]) for game in games) == [
        (0, "first", "last"),
        (0, "last", "first"),
        (1, "first", "last"),
        (1, "last", "first"),
    ]
    assert len({game["key"] for game in games}) == 2 and len({json.dumps(game["deck"]) for game in games}) == 4


def test_the_same_seed_gives_the_same_games(tmp_path: Path) -> None:
    def games() -> list[object]:
        found = document(FIRST, LAST, "--deals", "2", "--seed", "x", cwd=tmp_path)["games"]
        return [(game["deck"], [step["action"] for step in game["steps"]]) for game in found]  # type: ignore[attr-defined]

    assert games() == games()


def test_a_deck_given_by_hand_is_one_game_with_seats_as_given(tmp_path: Path) -> None:
    (game,) = document(LAST, FIRST, "--deck", DECK, cwd=tmp_path)["games"]
    assert game["seats"] == ["last", "first"]
    assert game["deck"] == DECK.split()
    assert game["steps"][0]["action"] == "lay AH"  # type: ignore[index]


@pytest.mark.parametrize(
    ("deck", "words"), [("6C", "this one has 1 card"), (DECK.replace("AS", "6C"), "twice 6C"), ("XX", "XX")]
)
def test_a_deck_that_is_none_is_one_sentence_and_exit_code_2(tmp_path: Path, deck: str, words: str) -> None:
    done = referee("match", FIRST, LAST, "--deck", deck, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n"), words in done.stderr) == (2, 1, True), done.stderr


def test_a_bot_may_play_itself_and_its_seats_are_told_apart(tmp_path: Path) -> None:
    found = document(FIRST, FIRST, "--deals", "1", cwd=tmp_path)
    assert [game["seats"] for game in found["games"]] == [["first#1", "first#2"], ["first#2", "first#1"]]
    assert [bot["name"] for bot in found["bots"]] == ["first#1", "first#2"]


def test_a_fault_stands_in_the_document_with_its_evidence_and_the_exit_code_is_0(tmp_path: Path) -> None:
    found = document(bad(tmp_path, "exits"), FIRST, "--deals", "1", cwd=tmp_path)
    fault = found["games"][0]["faults"][0]  # type: ignore[index]
    assert (fault["seat"], fault["verdict"], fault["evidence"]["exit_status"]) == (0, "crash", 7)
    assert "Traceback: it broke here" in fault["evidence"]["stderr"]
    assert found["bots"][0]["faults"] == 2


def test_the_log_has_every_byte_of_both_directions(tmp_path: Path) -> None:
    referee("match", FIRST, LAST, "--deals", "1", "--log", "logs", cwd=tmp_path)
    logs = sorted((tmp_path / "logs").iterdir())
    assert [log.name for log in logs] == [
        "0001-0-first.log",
        "0001-1-last.log",
        "0002-0-last.log",
        "0002-1-first.log",
    ]
    lines = [re.fullmatch(r" *\d+\.\d{6} ([<>!]) (.*)", line) for line in logs[0].read_text().splitlines()]
    assert all(lines)
    said = [(line[1], json.loads(line[2])) for line in lines if line]
    questions = [message["id"] for mark, message in said if mark == ">" and "id" in message]
    answers = [message["id"] for mark, message in said if mark == "<" and "id" in message]
    assert questions == answers != []


def test_a_daemon_in_a_session_of_its_own_is_gone_after_the_match(tmp_path: Path) -> None:
    games = document(bad(tmp_path, "starts_a_daemon_and_plays_on"), FIRST, "--deals", "1", cwd=tmp_path)["games"]
    notes = [step.get("note") for game in games for step in game["steps"]]  # type: ignore[attr-defined]
    daemons = [int(note.split()[1]) for note in notes if note]
    assert daemons
    assert not any(map(alive, daemons))


def test_pace_gives_every_turn_its_time(tmp_path: Path) -> None:
    found = document(FIRST, LAST, "--deck", DECK, "--pace", "20ms", cwd=tmp_path)
    turns = sum(step["action"].startswith("lay") for step in found["games"][0]["steps"])  # type: ignore[attr-defined]
    assert found["games"][0]["ms"] >= 20 * (turns - 1)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((FIRST,), "2 to 6 bots"),
        ((FIRST, "no-such-bot"), "no-such-bot"),
        ((FIRST, LAST, "--rule", "scoring=best"), "places or winner or loser"),
        ((FIRST, LAST, "--move-time", "1"), "no time"),
        ((FIRST, LAST, "--deals", "0"), "0"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path: Path, words: tuple[str | Path, ...], said: str) -> None:
    done = referee("match", *words, cwd=tmp_path)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
