"""A bundle holds one seat's side of a game, whole, and nothing that the seat did not see."""

from __future__ import annotations

import os
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest
from command_line import ROOT
from dialogues import LIMITS, pairs, record_of
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import Pair, some_pair

from referee.bots.seat.recorded import transcript_of
from referee.bots.seat.transcript import SeatFault
from referee.bundles.bundle import files_of, offending, read_bundle
from referee.bundles.readme import CONTRACT
from referee.errors import InputError, Verdict

# -- words

FAULT = SeatFault(
    turn=3,
    asked=True,
    verdict=Verdict.CRASH,
    detail="it exited with status 1 (last on stderr: KeyError: 'plan') while it was being asked",
    evidence={"line": None, "exit_status": 1, "stderr": "a\x1b[31mb\nKeyError: 'plan'\n", "us": 18_140},
)


def test_the_lines_of_the_contract_are_those_of_its_page() -> None:
    page = (ROOT / "protocol" / "README.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page.partition("\n## Verdicts\n")[2], re.MULTILINE))
    assert {verdict.value: words for verdict, (words, _) in CONTRACT.items()} == {
        verdict.value: rows[verdict.value] for verdict in Verdict
    }
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    assert {section for _, section in CONTRACT.values()} <= set(headings)


# -- nothing that the seat did not see


def check_twins(pair: Pair) -> None:
    first, second = (
        files_of(transcript_of(record_of(world, pair), pair.seat, LIMITS)) for world in (pair.first, pair.second)
    )
    assert first == second


def test_two_games_that_look_alike_to_a_seat_give_equal_bundles() -> None:
    assert len(pairs()) > 60
    for pair in pairs():
        check_twins(pair)


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_what_a_seat_cannot_see_changes_no_byte_of_its_bundle(seed: int) -> None:
    pair = some_pair(Random(seed))
    if pair is not None:
        check_twins(pair)


def zip_with(path: Path, member: str, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return path


def many_members(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(60_000):
            archive.writestr(zipfile.ZipInfo(f"{number:05}"), b"")
    return path


def encrypted(path: Path) -> Path:
    data = bytearray(zip_with(path, "record.json", b"{}").read_bytes())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(start) + flags] |= 1
    path.write_bytes(data)
    return path


def of_a_strange_method(path: Path) -> Path:
    data = bytearray(zip_with(path, "record.json", b"{}").read_bytes())
    for start, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(start) + method] = 97
    path.write_bytes(data)
    return path


def large(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(1 << 40)
    return path


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    "make",
    [
        lambda path: zip_with(path, "record.json", bytes(1 << 30)),
        lambda path: zip_with(path, "record.json", b"[" * (1 << 23)),
        lambda path: zip_with(path, "record.json", b'{"x":' * 200_000),
        *(many_members, encrypted, of_a_strange_method, large, pipe),
    ],
    ids=["bomb", "nested", "nested objects", "many", "encrypted", "strange", "large", "pipe"],
)
def test_a_bundle_of_a_stranger_is_refused_soon(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip")
    began = time.process_time()
    with pytest.raises(InputError):
        read_bundle(path)
    assert time.process_time() - began < 3


def test_a_file_of_a_bundle_that_is_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "link").mkdir()
    (tmp_path / "link/record.json").symlink_to("/dev/zero")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/record.json")
    for name in ("link", "pipe"):
        with pytest.raises(InputError):
            read_bundle(tmp_path / name)


def test_bytes_that_are_no_text_are_kept() -> None:
    fault = msgspec.structs.replace(FAULT, evidence={"line": "\\xff", "line_base64": "/w=="})
    assert offending(fault) == b"\xff"
    assert (
        offending(msgspec.structs.replace(FAULT, evidence={"line": "naïve", "line_base64": None})) == "naïve".encode()
    )
    assert offending(FAULT) is None
