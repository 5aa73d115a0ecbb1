"""A bot's read-only copy: what is in it, when it is made anew, and what a build may and may not do."""

from __future__ import annotations

import os
import pickle
import select
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.bots.building.workshop import Workshop
from referee.bots.cache.build import BuildFailed
from referee.bots.cache.prepare import Prepared, build_log, default_cache, prepare
from referee.bots.process.environment import told_memory
from referee.bots.process.system import Reaper
from referee.bots.process.workbench import BuildLimits
from referee.bots.source.manifest import BotSpec, find_bots
from referee.bots.source.programs import BOXED
from referee.bots.source.tree import scan
from referee.bots.tiers import Tier
from referee.errors import BotsRefused

Bot = Callable[..., BotSpec]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def bot(tmp_path: Path) -> Bot:
    """Makes a bot of a folder: its build a line of shell, its files by name."""

    def make(*, build: str | None = None, command: str = '["sh", "bot.sh"]', name: str = "x", **files: str) -> BotSpec:
        folder = tmp_path / "bots" / name
        folder.mkdir(parents=True)
        toml = f"command = {command}\n" + (f"build = ['sh', '-c', '''{build}''']\n" if build else "")
        (folder / "bot.toml").write_text(toml)
        for file, text in files.items():
            (folder / file).write_text(text)
        return found(folder)

    return make


def found(path: Path) -> BotSpec:
    result = find_bots([path])
    assert result.refused == {}
    return result.bots[0]


def built(bot: BotSpec, cache: Path, *, seconds: float = 300, **options: bool) -> Prepared:
    """The bot, built without a box."""
    builder = Workshop(Tier.D, BuildLimits(seconds=seconds), reaper=Reaper())
    return prepare(bot, cache, builder=builder, **options)


def refusal(bot: BotSpec, cache: Path, **options: float) -> str:
    with pytest.raises(BotsRefused) as caught:
        built(bot, cache, **options)
    ((path, reason),) = caught.value.reasons.items()
    assert path == str(bot.path)
    return reason


def modes(folder: Path) -> dict[str, int]:
    paths = [folder, *folder.rglob("*")]
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode) for path in paths if not path.is_symlink()
    }


# -- the copy


def test_a_copy_has_the_content_of_the_bot_and_is_read_only(bot: Bot, cache: Path) -> None:
    manifest = bot(text="hello\n", run="#!/bin/sh\n")
    (manifest.path / "run").chmod(0o700)
    (manifest.path / "deep").mkdir()
    (manifest.path / "deep" / "b").touch()
    (manifest.path / "link").symlink_to("deep/b")
    manifest = found(manifest.path)
    ready = built(manifest, cache)
    assert ready.folder == cache / manifest.identity.hash / "bot"
    assert scan(ready.folder).hash() == manifest.identity.hash
    assert modes(ready.folder) == {
        ".": 0o555,
        "bot.toml": 0o444,
        "text": 0o444,
        "run": 0o555,
        "deep": 0o555,
        "deep/b": 0o444,
    }
    assert os.readlink(ready.folder / "link") == "deep/b"


def test_argv_names_programs_on_path_absolutely_and_files_from_the_folder(bot: Bot, cache: Path) -> None:
    assert built(bot(name="a"), cache).argv == (shutil.which("sh"), "bot.sh")
    folder = bot(name="b", run="#!/bin/sh\necho $0 $1; pwd -P\n").path
    (folder / "run").chmod(0o755)
    (folder / "bot.toml").write_text('command = [".//run", "--fast"]')
    ready = built(found(folder), cache)
    assert ready.argv == ("./run", "--fast")
    said = subprocess.run(ready.argv, cwd=ready.folder, capture_output=True, text=True).stdout
    assert said == f"./run --fast\n{os.path.realpath(ready.folder)}\n"


def test_a_single_file_is_copied_into_a_folder_of_its_own(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "x.sh").write_text("echo hello\n")
    ready = built(found(tmp_path / "x.sh"), cache)
    assert [path.name for path in ready.folder.iterdir()] == ["x.sh"]
    assert subprocess.run(ready.argv, cwd=ready.folder, capture_output=True).stdout == b"hello\n"


def test_python_modules_are_found_and_need_no_cache_of_bytecode(bot: Bot, cache: Path) -> None:
    files = {"bot.py": "import helper\n", "helper.py": "print('hello')\n"}
    ready = built(bot(command='["python3", "bot.py"]', **files), cache)
    assert subprocess.run(ready.argv, cwd=ready.folder, capture_output=True).stdout == b"hello\n"
    inode = ready.folder.stat().st_ino
    assert built(ready.manifest, cache).folder.stat().st_ino == inode


def test_a_prepared_bot_can_be_sent_to_another_process(bot: Bot, cache: Path) -> None:
    ready = built(bot(), cache)
    assert pickle.loads(pickle.dumps(ready)) == ready


def test_a_bot_whose_files_changed_since_it_was_found_is_refused(bot: Bot, cache: Path) -> None:
    manifest = bot(text="one")
    (manifest.path / "text").write_text("two")
    assert refusal(manifest, cache) == "its files were changed while they were read: try again"
    assert sorted(path.suffix for path in cache.iterdir()) == [".lock"]


def test_a_copy_outlives_its_original(bot: Bot, cache: Path) -> None:
    manifest = bot(text="one")
    first = built(manifest, cache)
    shutil.rmtree(manifest.path)
    assert built(manifest, cache) == first


def test_bots_of_one_content_share_a_copy(bot: Bot, cache: Path) -> None:
    assert built(bot(name="a"), cache).folder == built(bot(name="b"), cache).folder


def test_a_changed_copy_is_made_again(bot: Bot, cache: Path) -> None:
    manifest = bot(text="one")
    ready = built(manifest, cache)
    for spoil in (spoil_content, spoil_exec_bit, add_a_file, lose_the_hash):
        spoil(ready.folder)
        again = built(manifest, cache)
        assert again.folder == ready.folder
        assert scan(again.folder).hash() == manifest.identity.hash
        assert modes(again.folder)["text"] == 0o444
    assert sorted(path.name for path in cache.iterdir()) == [manifest.identity.hash, f"{manifest.identity.hash}.lock"]


def spoil_content(folder: Path) -> None:
    (folder / "text").chmod(0o644)
    (folder / "text").write_text("two")


def spoil_exec_bit(folder: Path) -> None:
    (folder / "text").chmod(0o755)


def add_a_file(folder: Path) -> None:
    folder.chmod(0o755)
    (folder / "notes").write_text("what the other bots did")


def lose_the_hash(folder: Path) -> None:
    (folder.parent / "tree").unlink()


def test_a_cache_that_cannot_be_used_is_named(bot: Bot, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "cache"
    sentence = f"it cannot be copied to {place} (XDG_CACHE_HOME says where): Not a directory: {place}"
    assert refusal(bot(), place) == sentence


def test_the_cache_lies_where_the_system_keeps_such_things(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", "/home/of-someone")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_cache() == Path("/home/of-someone/.cache/referee/bots")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert default_cache() == Path("/home/of-someone/.cache/referee/bots")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_cache() == Path("/var/cache/referee/bots")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert default_cache() == Path("/elsewhere/referee/bots")


# -- the build


def test_a_build_happens_once_in_the_copy_and_its_result_is_read_only(bot: Bot, cache: Path, tmp_path: Path) -> None:
    manifest = bot(build=f"echo built >made; chmod 777 made; echo once >>{tmp_path}/count", command='["cat", "made"]')
    for _ in range(3):
        ready = built(manifest, cache)
    assert (tmp_path / "count").read_text() == "once\n"
    assert modes(ready.folder)["made"] == 0o555
    assert not (manifest.path / "made").exists()
    assert subprocess.run(ready.argv, cwd=ready.folder, capture_output=True).stdout == b"built\n"


def test_a_built_copy_that_was_changed_is_built_again_even_where_botignore_hides_it(bot: Bot, cache: Path) -> None:
    manifest = bot(build="echo built >made", command='["cat", "made"]', **{".botignore": "made\n"})
    made = built(manifest, cache).folder / "made"
    made.chmod(0o644)
    made.write_text("changed")
    assert (built(manifest, cache).folder / "made").read_text() == "built\n"


def test_what_builds_a_bot_is_part_of_its_copys_name(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.c").write_text("int main(void) { return 0; }\n")
    manifest = found(tmp_path / "x.c")
    here = built(manifest, cache).folder
    assert here.parent.name.startswith(manifest.identity.hash + "-")
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    assert built(manifest, cache).folder != here


def test_a_c_file_becomes_a_program(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "x.c").write_text('#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
    ready = built(found(tmp_path / "x.c"), cache)
    assert ready.argv == ("./bot",)
    assert subprocess.run(ready.argv, cwd=ready.folder, capture_output=True).stdout == b"hello\n"


def test_a_build_sees_a_bare_environment_and_an_empty_home_that_is_gone_later(
    bot: Bot, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("RUSTUP_HOME", "/no/such/folder")
    build = 'env >env; ls -A "$HOME" >home; echo x >"$HOME/x"; test "$HOME" = "$TMPDIR"; cat >stdin'
    folder = built(bot(build=build), cache).folder
    seen = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())
    home = Path(seen.pop("HOME"))
    assert (Path(seen.pop("TMPDIR")), home.exists()) == (home, False)
    assert (seen.pop("LANG"), seen.pop("TZ"), seen.pop("PATH")) == ("C.UTF-8", "UTC", os.environ["PATH"])
    for name, value in told_memory(BuildLimits().box).items():
        assert seen.pop(name) == value
    assert seen.keys() <= {"PWD", "OLDPWD", "SHLVL", "_"}  # the shell's own
    assert (folder / "home").read_text() == (folder / "stdin").read_text() == ""
    assert sorted(path.name for path in folder.parent.iterdir()) == ["bot", "tree"]


def test_a_build_finds_where_rustup_keeps_its_compilers(
    bot: Bot, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path))
    assert (built(bot(build='echo "$RUSTUP_HOME" >where'), cache).folder / "where").read_text() == f"{tmp_path}\n"


def test_a_build_that_fails_is_refused_with_the_end_of_its_output_escaped(bot: Bot, cache: Path) -> None:
    build = r'for i in $(seq 30); do echo "line $i"; done; printf "\033[31mred\n\377" >&2; exit 3'
    reason = refusal(bot(build=build), cache)
    first, *rest = reason.split("\n")
    assert first.startswith("its build `sh -c 'for i in $(seq 30)")
    assert first.endswith("` failed with exit status 3")
    assert rest == [*(f"    line {number}" for number in range(21, 31)), r"    \x1b[31mred", r"    \xff"]
    assert sorted(path.suffix for path in cache.iterdir()) == [".lock", ".log"]


def test_what_a_build_printed_is_kept_whether_it_failed_or_not(bot: Bot, cache: Path) -> None:
    manifest = bot(build="echo first; test -e /no/such/file || { echo second >&2; exit 1; }")
    assert build_log(manifest, cache) is None
    refusal(manifest, cache)
    shell = shutil.which("sh")
    words = "echo first; test -e /no/such/file || { echo second >&2; exit 1; }"
    assert build_log(manifest, cache) == f"$ {shell} -c '{words}'\nfirst\nsecond\n"
    other = bot(name="other", build="echo done")
    built(other, cache)
    assert build_log(other, cache) == f"$ {shell} -c 'echo done'\ndone\n"


def test_a_bot_that_was_not_built_is_refused_where_nothing_is_to_be_built(bot: Bot, cache: Path) -> None:
    manifest = bot(build="echo built >made")
    with pytest.raises(BotsRefused, match="it has not been built here"):
        prepare(manifest, cache)
    folder = built(manifest, cache).folder
    assert prepare(manifest, cache).folder == folder


def test_a_bot_is_built_anew_where_that_is_wanted(bot: Bot, cache: Path, tmp_path: Path) -> None:
    manifest = bot(build=f"echo once >>{tmp_path}/count; wc -l <{tmp_path}/count >made")
    assert [(built(manifest, cache).folder / "made").read_text() for _ in range(2)] == ["1\n", "1\n"]
    assert (built(manifest, cache, rebuild=True).folder / "made").read_text() == "2\n"


def test_where_a_rebuild_fails_the_copy_that_was_there_stays(bot: Bot, cache: Path, tmp_path: Path) -> None:
    manifest = bot(build=f"test ! -e {tmp_path}/fail; echo built >made; test ! -e {tmp_path}/fail")
    folder = built(manifest, cache).folder
    (tmp_path / "fail").touch()
    with pytest.raises(BotsRefused) as caught:
        built(manifest, cache, rebuild=True)
    assert isinstance(caught.value.__cause__, BuildFailed)
    assert prepare(manifest, cache).folder == folder


def test_a_copy_built_without_a_box_is_none_for_those_who_play_in_one(bot: Bot, cache: Path) -> None:
    manifest = bot(build="echo built >made")
    built(manifest, cache)
    with pytest.raises(BotsRefused, match="it has not been built here"):
        prepare(manifest, cache, view=BOXED)


def test_a_build_that_is_killed_is_refused(bot: Bot, cache: Path) -> None:
    assert "` was killed by signal 9" in refusal(bot(build="kill -9 $$"), cache)


def test_the_second_step_is_not_run_where_the_first_fails(bot: Bot, cache: Path, tmp_path: Path) -> None:
    folder = bot().path
    (folder / "bot.toml").write_text(f'command = ["sh"]\nbuild = [["false"], ["touch", "{tmp_path}/second"]]')
    assert refusal(found(folder), cache) == "its build `false` failed with exit status 1"
    assert not (tmp_path / "second").exists()


def test_a_build_that_does_not_make_the_program_is_refused(bot: Bot, cache: Path) -> None:
    manifest = bot(build="echo nothing", command='["./made"]')
    assert refusal(manifest, cache) == "`made` is not there: name an existing file, or a build that makes it"


def test_a_build_that_leaves_a_link_out_of_the_folder_is_refused(bot: Bot, cache: Path) -> None:
    assert refusal(bot(build="ln -s /etc/passwd out"), cache).startswith("the link `out` leads out of the folder")


@contextmanager
def fifo(path: Path) -> Iterator[Callable[[], bool]]:
    """A FIFO, and whether it is free of writers within ten seconds: its last writer closed it or was killed."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield lambda: bool(select.select([reader], [], [], 10)[0]) and os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_a_build_out_of_time_is_killed_with_all_its_children(bot: Bot, cache: Path, tmp_path: Path) -> None:
    with fifo(tmp_path / "fifo") as is_free:
        manifest = bot(build=f"exec 9>{tmp_path}/fifo; echo begun; sleep 600 & sleep 600; true")
        reason = refusal(manifest, cache, seconds=0.5)
        assert reason.endswith(
            "` did not end in 0.5 s and was killed (`referee build --time` gives it more)\n    begun"
        )
        assert is_free()


def test_what_a_build_leaves_running_is_killed(bot: Bot, cache: Path, tmp_path: Path) -> None:
    with fifo(tmp_path / "fifo") as is_free:
        built(bot(build=f"exec 9>{tmp_path}/fifo; sleep 600 &"), cache)
        assert is_free()


# -- several referees


def test_two_referees_at_once_build_once(bot: Bot, cache: Path, tmp_path: Path) -> None:
    manifest = bot(build=f"echo once >>{tmp_path}/count; echo built >made")
    with ThreadPoolExecutor(4) as pool:
        folders = {ready.folder for ready in pool.map(lambda _: built(manifest, cache), range(4))}
    assert len(folders) == 1
    assert (tmp_path / "count").read_text() == "once\n"


ANOTHER_REFEREE = """
import sys
from pathlib import Path
from referee.bots.source.manifest import find_bots
from referee.bots.cache.prepare import prepare
from referee.bots.source.programs import BOXED
from referee.bots.building.workshop import Workshop
from referee.bots.tiers import Tier
prepare(find_bots([Path(sys.argv[1])]).bots[0], Path(sys.argv[2]), builder=Workshop(Tier.D))
"""


def test_a_copy_left_unfinished_by_a_killed_referee_is_never_used_and_swept(
    bot: Bot, cache: Path, tmp_path: Path
) -> None:
    gate, begun = tmp_path / "gate", tmp_path / "begun"
    os.mkfifo(gate)
    os.mkfifo(begun)
    manifest = bot(build=f"echo half >made; test -p {begun} && echo >{begun} && cat {gate}; echo whole >made")
    other = bot(name="other", text="something else")
    referee = subprocess.Popen([sys.executable, "-c", ANOTHER_REFEREE, manifest.path, cache])
    begun.read_text()  # the build is at its gate
    (half,) = cache.glob("*.making")
    built(other, cache)
    assert half.exists()  # its lock is held
    referee.send_signal(signal.SIGKILL)
    referee.wait()
    gate.write_text("")  # the orphan ends
    begun.unlink()
    built(other, cache)
    assert not half.exists()
    assert (built(manifest, cache).folder / "made").read_text() == "whole\n"


def test_leftovers_of_any_permissions_are_swept_and_what_they_link_to_is_not(
    bot: Bot, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o555)
    left = cache / "0123.abc.making"
    (left / "bot" / "deep").mkdir(parents=True)
    (left / "bot" / "deep" / "file").touch()
    (left / "bot" / "link").symlink_to(tmp_path / "elsewhere")
    for folder in (left / "bot" / "deep", left / "bot", left):
        folder.chmod(0o000)
    built(bot(), cache)
    assert not left.exists()
    assert modes(tmp_path / "elsewhere") == {".": 0o555}
