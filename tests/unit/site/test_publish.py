"""Publishing: equal games give equal bytes, files are replaced whole and together, errors are sentences."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest

from referee.errors import InputError
from referee.ratings import Standings
from referee.site import About, publish

NAMES = {"index.html", "standings.md", "standings.csv", "standings.json", "run.json"}
WHEN = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_new_folder_gets_the_five_files_and_nothing_else(standings: Standings, about: About, tmp_path: Path) -> None:
    out = tmp_path / "site"
    publish(standings, about, out, when=WHEN)
    assert set(files(out)) == NAMES
    assert stat.S_IMODE(out.stat().st_mode) == 0o755
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o644}


def test_two_runs_differ_only_in_when_they_ran(standings: Standings, about: About, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    publish(standings, about, first, when=WHEN)
    publish(standings, about, second, when=WHEN + timedelta(days=1))
    before, after = files(first), files(second)
    assert before.pop("run.json") != after.pop("run.json")
    assert before == after


def test_the_time_is_in_utc_and_in_no_other_file(standings: Standings, about: About, tmp_path: Path) -> None:
    publish(standings, about, tmp_path, when=WHEN.astimezone(timezone(timedelta(hours=9))))
    written = files(tmp_path)
    assert msgspec.json.decode(written.pop("run.json")) == {
        "published": "2020-02-03T04:05:06Z",
        "versions": {"referee": "9.8.7"},
        "held": [],
    }
    assert not [name for name, text in written.items() if b"2020" in text]


def test_a_release_alone_does_not_change_the_data(standings: Standings, about: About, tmp_path: Path) -> None:
    newer = msgspec.structs.replace(about, versions={"referee": "10.0.0"})
    publish(standings, about, tmp_path, when=WHEN)
    before = files(tmp_path)
    publish(standings, newer, tmp_path, when=WHEN)
    after = files(tmp_path)
    assert {name for name in NAMES if before[name] != after[name]} == {"index.html", "standings.md", "run.json"}


def test_what_lay_there_is_replaced_and_other_files_stay(standings: Standings, about: About, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("old")
    (tmp_path / "CNAME").write_text("kept")
    publish(standings, about, tmp_path, when=WHEN)
    written = files(tmp_path)
    assert set(written) == NAMES | {"CNAME"}
    assert written["CNAME"] == b"kept"
    assert written["index.html"].startswith(b"<!DOCTYPE html>")


def test_a_failing_page_leaves_the_old_files(standings: Standings, about: About, tmp_path: Path) -> None:
    publish(standings, about, tmp_path, when=WHEN)
    before = files(tmp_path)
    (table, *_) = standings.tables
    broken_row = msgspec.structs.replace(table.rows[0], score="no number")
    broken = Standings(tables=(msgspec.structs.replace(table, rows=(broken_row,)),))
    with pytest.raises(ValueError, match="format code"):
        publish(broken, about, tmp_path, when=WHEN)
    assert files(tmp_path) == before


def test_a_place_that_cannot_be_taken_leaves_every_other_file(
    standings: Standings, about: About, tmp_path: Path
) -> None:
    (tmp_path / "run.json").mkdir()
    (tmp_path / "index.html").write_text("old")
    with pytest.raises(InputError, match=r"run\.json in it is a folder"):
        publish(standings, about, tmp_path, when=WHEN)
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "index.html"}
    assert (tmp_path / "index.html").read_text() == "old"


def test_a_missing_parent_is_named(standings: Standings, about: About, tmp_path: Path) -> None:
    out = tmp_path / "missing" / "site"
    with pytest.raises(InputError) as caught:
        publish(standings, about, out, when=WHEN)
    assert str(caught.value).startswith(f"cannot publish into {out}: No such file or directory; ")
    assert "\n" not in str(caught.value)


def test_a_file_in_the_folders_place_is_an_input_error(standings: Standings, about: About, tmp_path: Path) -> None:
    out = tmp_path / "site"
    out.write_text("a file")
    with pytest.raises(InputError, match="File exists"):
        publish(standings, about, out, when=WHEN)
    assert out.read_text() == "a file"


def test_a_folder_that_nobody_can_write_is_an_input_error(standings: Standings, about: About) -> None:
    with pytest.raises(InputError, match="cannot publish into /dev/fd: "):  # root cannot either
        publish(standings, about, Path("/dev/fd"), when=WHEN)


def test_what_a_killed_publisher_had_not_moved_into_its_place_is_removed(
    standings: Standings, about: About, tmp_path: Path
) -> None:
    (tmp_path / ".index.html.k1ll3d.tmp").write_text("<html>")
    (tmp_path / ".notes.tmp").write_text("somebody else's")
    publish(standings, about, tmp_path)
    assert set(files(tmp_path)) == NAMES | {".notes.tmp"}
