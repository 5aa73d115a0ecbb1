"""A bundle holds one seat's side of a game, whole, and nothing that the seat did not see."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest
from dialogues import BOTS, LIMITS, by_program
from seats import PROGRAMS

from referee.bots.seat.recorded import transcript_of
from referee.bots.seat.transcript import SeatFault, Transcript
from referee.bundles.bundle import files_of, read_bundle
from referee.bundles.place import BundleOutput
from referee.errors import InputError, Verdict

MODES = [
    "plain",
    "exits",
    "does_not_flush",
    "answers_an_old_id",
    "answers_twice",
    "bad_utf8",
    "debug_print",
    "exits_before_ready",
    "prints_a_banner",
    "notes",
]


def argv(mode: str) -> tuple[str, ...]:
    plain = mode == "plain"
    return (sys.executable, str(PROGRAMS / ("plain/first.py" if plain else "bad.py")), *([] if plain else [mode]))


def told(folder: Path, mode: str) -> tuple[Transcript, bytes, bytes]:
    """One seat's side of a game of a real program, with what it really heard and said."""
    record, ear = by_program(folder, *argv(mode))
    return transcript_of(record, 1, LIMITS), ear.sent_lines, ear.said


def parsed(messages: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in messages.splitlines()]


def compact(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


# -- whole


@pytest.mark.parametrize("mode", MODES)
def test_a_bundle_is_read_as_it_was_written(mode: str, tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, mode)
    for path in (tmp_path / "folder", tmp_path / "one.zip"):
        with BundleOutput(path) as place:
            place.write(files_of(transcript))
        assert read_bundle(path) == transcript


@pytest.mark.parametrize("mode", ["does_not_flush", "bad_utf8", "answers_twice", "debug_print"])
def test_messages_are_those_of_the_wire_to_the_byte(mode: str, tmp_path: Path) -> None:
    transcript, heard, said = told(tmp_path, mode)
    files = files_of(transcript)
    messages = parsed(files["messages.jsonl"])
    to_bot = [compact(message["line"]) for message in messages if message["to"] == "bot"]
    assert b"".join(to_bot) == heard
    assert files["stdin.jsonl"] + to_bot[-1] == heard
    assert json.loads(to_bot[-1])["type"] == "fault"
    assert {message["seat"] for message in messages} == {1}
    from_bot = [message for message in messages if message["to"] == "referee"]
    own = "".join(str(one["text"]) if "text" in one else json.dumps(one["line"]) for one in from_bot[1:])
    real = said.decode("utf-8", "backslashreplace").partition("\n")[2]
    assert own.replace("\n", "") == ("" if mode == "does_not_flush" else real.replace("\n", ""))


def test_the_offending_line_is_there_to_the_byte(tmp_path: Path) -> None:
    transcript, _, said = told(tmp_path, "bad_utf8")
    files = files_of(transcript)
    assert files["offending.bin"] + b"\n" == said.splitlines(keepends=True)[-1]
    assert b"\xff" in files["offending.bin"]
    assert "offending.bin" not in files_of(told(tmp_path, "does_not_flush")[0])


def test_a_game_without_a_fault_has_its_end_and_no_files_of_a_fault(tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, "plain")
    files = files_of(transcript)
    assert list(files) == ["README.txt", "messages.jsonl", "stdin.jsonl", "record.json"]
    assert json.loads(files["stdin.jsonl"].splitlines()[-1])["type"] == "end"
    assert b"went wrong" not in files["README.txt"]


def test_stdin_alone_brings_a_bot_to_its_fault(tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, "exits")
    done = subprocess.run(
        argv("exits"), input=files_of(transcript)["stdin.jsonl"], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (7, b"Traceback: it broke here\n")
    assert files_of(transcript)["stderr.txt"] == done.stderr


# -- words

FAULT = SeatFault(
    turn=3,
    asked=True,
    verdict=Verdict.CRASH,
    detail="it exited with status 1 (last on stderr: KeyError: 'plan') while it was being asked",
    evidence={"line": None, "exit_status": 1, "stderr": "a\x1b[31mb\nKeyError: 'plan'\n", "us": 18_140},
)


def test_the_readme_tells_an_author_what_when_and_what_was_due(tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, "exits")
    asked = msgspec.structs.replace(
        transcript.questions[0],
        line=b'{"id":9,"phase":"lay","legal":["lay 7C","lay 8C"]}\n',
        id=9,
    )
    text = files_of(msgspec.structs.replace(transcript, lines=(asked,), fault=FAULT))["README.txt"].decode()
    assert text.startswith(
        "Game a1b2 of Four Widows, as seat 1 saw it\n"
        "==========================================\n"
        "\n"
        f"bot       bot1, version {'1' * 64}\n"
        "game      3 players, round 4; odd_card talon, scoring places, discard any, stall_limit 200\n"
        "limits    start: 5000 ms, a decision: 400 ms, a game's decisions: 60000 ms\n"
        "asked     1 question\n"
        "\n"
        "What went wrong\n"
        "\n"
        "verdict   crash\n"
        "what      it exited with status 1 (last on stderr: KeyError: 'plan') while it was being asked\n"
        "when      in turn 3, at its question number 1 (phase lay), after 18.1 ms\n"
        'expected  one line, such as {"id": 9, "action": "lay 7C"}; allowed were: lay 7C, lay 8C\n'
        "process   it exited with status 1\n"
        "contract  the process ended, or closed its stdout, before `quit`; the exit status does not matter\n"
        '          (protocol/README.md, "Verdicts"; more in "The life of a process")\n'
        "\n"
        "The end of its stderr:\n"
        "\n"
        "    a\\x1b[31mb\n"
        "    KeyError: 'plan'\n"
        "\n"
        "Files\n"
    )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"turn": None, "asked": False}, "when      at its start, before its first question, after 18.1 ms\n"),
        ({"asked": False}, "when      in turn 3, before its question number 2 was put\n"),
        ({"evidence": {"exit_status": None}}, "process   it lived on, and was ended\n"),
        (
            {"evidence": {"exit_status": 0}, "verdict": Verdict.TIMEOUT},
            "process   when it was told, it exited with status 0\n",
        ),
        ({"evidence": {}}, "It wrote nothing to stderr.\n"),
    ],
)
def test_the_readme_has_words_for_each_kind_of_fault(fault: dict[str, object], words: str, tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, "exits")
    changed = msgspec.structs.replace(FAULT, **fault)
    assert words in files_of(msgspec.structs.replace(transcript, fault=changed))["README.txt"].decode()


@pytest.mark.parametrize("mode", ["plain", "exits"])
def test_neither_deck_nor_key_nor_seeds_nor_names_of_others_are_in_a_bundle(mode: str, tmp_path: Path) -> None:
    record, _ = by_program(tmp_path, *argv(mode))
    content = b"\n".join(files_of(transcript_of(record, 1, LIMITS)).values()).decode()
    assert record.key is not None
    hidden = [record.key, "".join(record.deck), " ".join(record.deck), '","'.join(record.deck), "deal", "rotation"]
    hidden += [word for bot in (BOTS[0], BOTS[2]) for word in (bot.name, bot.hash)]
    assert [word for word in hidden if word in content] == []
    assert {f'"seed":{seed}' in content for seed in (record.seeds[0], record.seeds[2])} == {False}
    assert f'"seed":{record.seeds[1]}' in content


# -- bundles of others


def test_what_is_no_bundle_is_refused_in_one_sentence(tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, "exits")
    whole = files_of(transcript)
    broken = {
        "missing": {name: data for name, data in whole.items() if name != "record.json"},
        "cut": {**whole, "messages.jsonl": whole["messages.jsonl"][:-40]},
        "short": {**whole, "messages.jsonl": b"\n".join(whole["messages.jsonl"].splitlines()[:3])},
        "renumbered": {**whole, "messages.jsonl": re.sub(rb'"act","id":\d+', b'"act","id":1', whole["messages.jsonl"])},
        "cards": {**whole, "messages.jsonl": re.sub(rb'"hand":\["..', b'"hand":["XX', whole["messages.jsonl"])},
        "other": {**whole, "record.json": b'{"format":2}'},
        "large": {**whole, "record.json": b" " * (17 << 20)},
    }
    for name, files in broken.items():
        for path in (tmp_path / name, tmp_path / f"{name}.zip"):
            with BundleOutput(path) as place:
                place.write(files)
            with pytest.raises(InputError, match="is damaged, or not a bundle"):
                read_bundle(path)
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(InputError, match="not a bundle"):
        read_bundle(tmp_path / "text.zip")


def large(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(1 << 40)
    return path


def test_a_zip_depends_on_its_content_alone(tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, "exits")
    for name in ("a.zip", "b.zip"):
        with BundleOutput(tmp_path / name) as place:
            place.write(files_of(transcript), "x/")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == [f"x/{name}" for name in files_of(transcript)]


def test_a_line_with_other_line_ends_is_kept_and_stays_one_line(tmp_path: Path) -> None:
    transcript, _, _ = told(tmp_path, "plain")
    [first, *others] = transcript.questions
    answer = '{"id":1,"action":"keep","note":"a\u2028b\u2029c\x85d"}'.encode()
    changed = msgspec.structs.replace(transcript, lines=(msgspec.structs.replace(first, answer=answer), *others))
    files = files_of(changed)
    for name in ("messages.jsonl", "record.json"):
        assert len(files[name].decode().splitlines()) == files[name].count(b"\n")
    with BundleOutput(tmp_path / "bundle") as place:
        place.write(files)
    assert read_bundle(tmp_path / "bundle").questions[0].answer == answer
