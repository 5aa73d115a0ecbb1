"""Builds in their boxes: what they see, what they may take, what is left of them, and that real ones succeed."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from bots.hostile.arena import as_a_user
from bots.webs import Answer, serving
from bots.workshops import BOXES, SANDBOXES, TIERS, Make, failure, tiers, view_of
from command_line import ROOT
from toolchains import linked_copy

from referee.bots.building import disk_quota, workshop
from referee.bots.building.disk_quota import DiskQuota
from referee.bots.building.harvest import copy_out
from referee.bots.building.workshop import Workshop
from referee.bots.cache.prepare import Prepared, build_log, prepare
from referee.bots.process.system import Reaper, tree
from referee.bots.process.workbench import BuildLimits
from referee.bots.source.programs import BOXED_PATH, HostView
from referee.bots.source.tree import TreeLimits
from referee.bots.tiers import Tier
from referee.errors import BotsRefused, InputError

MIB = 1 << 20


@contextmanager
def web() -> Iterator[int]:
    """The port of a server on this machine that answers `fetched` to everybody."""
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Answer)) as port:
        yield port


# -- what a build sees


def seen(bot: Make, build: Callable[..., Prepared], tier: Tier, public_path: Path, **options: Any) -> dict[str, Any]:
    cache = public_path / "cache"
    cache.mkdir()
    (cache / "secret").write_text("of another bot")
    with web() as port:
        made = build(bot("report", str(cache / "secret"), str(os.getpid()), str(port)), tier, **options)
    found: dict[str, Any] = json.loads((made.folder / "report").read_text())
    return found


COMMON = {
    "HOME", "LANG", "PATH", "TMPDIR", "TZ", "PWD", "JDK_JAVA_OPTIONS", "NODE_OPTIONS", "GOMEMLIMIT", "OLDPWD", "SHLVL", "_",
    "LC_CTYPE",
}  # fmt: skip


@tiers(BOXES)
def test_a_build_in_a_box_sees_its_folder_and_the_system_and_nothing_else(
    tier: Tier, bot: Make, build: Callable[..., Prepared], public_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    found = seen(bot, build, tier, public_path)
    assert set(found.pop("variables")) <= COMMON
    assert found.pop("processes", 4) <= 6
    assert found == {
        "read_secret": "ENOENT", "list_cache": "ENOENT", "write_beside": "ENOENT", "write_source": "EROFS",
        "write_usr": "EROFS", "write_root": "EROFS", "write_here": "done", "write_home": "done", "read_etc": "ENOENT",
        "read_shadow": "ENOENT", "signal_referee": found["signal_referee"], "connect": "ECONNREFUSED", "home": "/tmp",
        "folder": "/bot", "nice": min(19, os.nice(0) + 10),
    }  # fmt: skip
    assert found["signal_referee"] in ("ESRCH", "done")  # done: another process of the box has that number


@tiers([tier for tier in TIERS if tier is Tier.C])
def test_a_confined_build_reaches_its_folder_and_the_system_and_nothing_else(
    tier: Tier, bot: Make, build: Callable[..., Prepared], public_path: Path
) -> None:
    found = seen(bot, build, tier, public_path)
    refused = {name for name, what in found.items() if what == "EACCES"}
    assert refused >= {
        "read_secret",
        "list_cache",
        "write_beside",
        "write_usr",
        "write_root",
        "read_etc",
        "read_shadow",
    }
    assert (found["write_here"], found["write_home"]) == ("done", "done")
    assert found["connect"] == "EAFNOSUPPORT"
    assert found["signal_referee"] == "EPERM"
    assert set(found["variables"]) <= COMMON
    assert not (public_path / "cache" / "secret.written").exists()


@tiers(SANDBOXES)
def test_a_build_that_may_fetch_has_the_network_and_the_proxies_and_no_more_files(
    tier: Tier, bot: Make, build: Callable[..., Prepared], public_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    found = seen(bot, build, tier, public_path, fetch=True)
    assert found["connect"] == "done"
    assert "https_proxy" in found["variables"] and "SECRET" not in found["variables"]
    refused = {"read_secret", "list_cache", "write_beside", "write_usr", "write_root", "read_etc", "read_shadow"}
    assert {name for name in refused if found[name] in ("ENOENT", "EACCES", "EROFS")} == refused


@tiers(SANDBOXES)
def test_what_was_fetched_is_in_the_copy_and_only_then(
    tier: Tier, bot: Make, build: Callable[..., Prepared], public_path: Path
) -> None:
    with web() as port:
        manifest = bot("fetch", f"http://127.0.0.1:{port}/")
        reason = failure(build, manifest, tier)
        assert (
            f"it seems to want the network, which it gets from `referee build {manifest.path} --fetch` alone" in reason
        )
        assert (build(manifest, tier, fetch=True).folder / "fetched").read_bytes() == b"fetched"
    kept = prepare(manifest, public_path / "cache", view=view_of(tier))  # nothing builds it now
    assert (kept.folder / "fetched").read_bytes() == b"fetched"


# -- what a build may take


@tiers(TIERS)
def test_a_build_that_never_ends_is_killed_in_time(tier: Tier, bot: Make, build: Callable[..., Prepared]) -> None:
    reason = failure(build, bot("forever"), tier, seconds=3)
    assert "did not end in 3 s and was killed (`referee build --time` gives it more)" in reason


@tiers(BOXES)
def test_a_fork_bomb_is_killed_in_time(tier: Tier, bot: Make, build: Callable[..., Prepared]) -> None:
    assert "did not end in 3 s" in failure(build, bot("fork_bomb"), tier, seconds=3)


@tiers(TIERS)
def test_of_endless_output_the_two_ends_are_kept(
    tier: Tier, bot: Make, build: Callable[..., Prepared], public_path: Path
) -> None:
    manifest = bot("chatter")
    failure(build, manifest, tier, seconds=6, output=4096)
    log = build_log(manifest, public_path / "cache", view=view_of(tier))
    assert log is not None and log.startswith("$ ") and len(log) < 10_000
    assert "bytes left out]" in log


@tiers(BOXES)
@pytest.mark.parametrize("place", [".", "/tmp", "/dev/shm"])
def test_a_disk_filler_fills_what_is_its_own(tier: Tier, place: str, bot: Make, build: Callable[..., Prepared]) -> None:
    box = BuildLimits().box
    small = type(box)(memory=box.memory, processes=box.processes, file_size=box.file_size, tmp_size=32 * MIB)
    reason = failure(build, bot("fill", place), tier, size=32 * MIB, box=small)
    assert "failed with exit status 1; `referee build" in reason
    assert "No space left on device" in reason


@tiers([tier for tier in TIERS if tier in (Tier.C, Tier.D)])
def test_a_disk_filler_without_a_box_is_killed(tier: Tier, bot: Make, build: Callable[..., Prepared]) -> None:
    box = BuildLimits().box
    small = type(box)(memory=box.memory, processes=box.processes, file_size=box.file_size, tmp_size=32 * MIB)
    assert "wrote more than 64 MiB, and was killed" in failure(build, bot("fill", "."), tier, size=32 * MIB, box=small)


def test_what_lies_in_no_folder_is_seen_by_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = [100 * MIB]
    monkeypatch.setattr(disk_quota.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(0, 0, free[0]))
    watch = DiskQuota((tmp_path,), MIB, least_free=10 * MIB)
    assert watch.exceeded() is None
    free[0] = 9 * MIB
    assert watch.exceeded() == "left less than 10 MiB of the disk free"


@tiers(TIERS)
def test_what_is_only_large_on_paper_is_not_copied(tier: Tier, bot: Make, build: Callable[..., Prepared]) -> None:
    assert failure(build, bot("sparse"), tier, size=1024 * MIB) == "its build leaves files of more than 1024 MiB"


@tiers(TIERS)
def test_too_many_files_and_too_deep_folders_are_refused(
    tier: Tier, bot: Make, build: Callable[..., Prepared], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.search("is a path of 1,025 bytes|made paths of more than 4,000 bytes", failure(build, bot("deep"), tier))
    monkeypatch.setattr(workshop, "ENTRIES", 100)
    assert failure(build, bot("many"), tier) == "its build leaves more than 100 files"


def test_a_folder_of_very_many_files_is_not_listed_to_its_end(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    for number in range(3000):
        (made / f"{number:0200}").touch()
    top = os.open(made, os.O_RDONLY)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="its build leaves more than 10 files"):
            copy_out(top, tmp_path / "copy", TreeLimits(10, 1000))
        assert tracemalloc.get_traced_memory()[1] < 100 << 10
    finally:
        tracemalloc.stop()
        os.close(top)


# -- what is left of a build


@tiers(TIERS)
def test_a_daemon_is_dead_before_the_copy_is_made(
    tier: Tier, bot: Make, build: Callable[..., Prepared], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(tree(os.getpid()))
    left: list[int] = []

    def copied(top: int, target: Path, limits: TreeLimits) -> None:
        left.extend(set(tree(os.getpid())) - before)
        copy_out(top, target, limits)

    monkeypatch.setattr(workshop, "copy_out", copied)
    made = build(bot("daemon"), tier).folder / "made"
    assert left == []
    assert made.read_text().startswith("by the build\nby the daemon\n")


@tiers(TIERS)
def test_a_build_that_kills_its_parent_has_failed(tier: Tier, bot: Make, build: Callable[..., Prepared]) -> None:
    assert "` was killed by signal 9" in failure(build, bot("kill_parent"), tier)


@tiers(BOXES)
def test_a_build_that_kills_all_that_it_can_has_failed(tier: Tier, bot: Make, build: Callable[..., Prepared]) -> None:
    assert "builds.py kill_all` " in failure(build, bot("kill_all"), tier)


@tiers([tier for tier in TIERS if tier is Tier.A])
def test_who_says_that_it_is_done_is_taken_at_its_word_and_killed(
    tier: Tier, bot: Make, build: Callable[..., Prepared]
) -> None:
    assert (build(bot("forge"), tier).folder / "builds.py").exists()


@tiers(TIERS)
def test_modes_and_hard_links_are_not_kept(tier: Tier, bot: Make, build: Callable[..., Prepared]) -> None:
    folder = build(bot("special"), tier).folder
    found = {path.name: path.stat() for path in folder.iterdir()}
    modes = {name: stat.S_IMODE(status.st_mode) for name, status in found.items()}
    assert modes | {"builds.py": 0} == {
        "bot.toml": 0o444, "builds.py": 0, "setuid": 0o555, "open": 0o555, "closed": 0o444, "same": 0o555,
    }  # fmt: skip
    assert {(status.st_uid, status.st_nlink) for status in found.values()} == {(os.geteuid(), 1)}


@tiers(TIERS)
@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (("fifo",), "its build leaves `pipe`, which is a FIFO: a bot is made of files, folders and links"),
        (("link", "/etc/passwd"), "the link `out` leads out of the folder"),
        (("link", "../secret"), "the link `out` leads out of the folder"),
        (("link", "nowhere"), "the link `out` leads nowhere"),
    ],
)
def test_links_out_and_what_is_no_file_are_refused(
    tier: Tier, mode: tuple[str, ...], words: str, bot: Make, build: Callable[..., Prepared]
) -> None:
    with pytest.raises(BotsRefused, match=words):
        build(bot(*mode), tier)


@tiers(TIERS)
def test_what_is_built_differently_each_time_is_built_once(
    tier: Tier, bot: Make, build: Callable[..., Prepared]
) -> None:
    manifest = bot("different")
    made = [(build(manifest, tier, rebuild=again).folder / "made").read_bytes() for again in (False, False, True)]
    assert made[0] == made[1] != made[2]


# -- real builds


@tiers(TIERS)
def test_several_steps_of_a_compiler_see_what_those_before_have_made(
    tier: Tier, bot: Make, build: Callable[..., Prepared]
) -> None:
    steps = [["cc", "-c", "one.c"], ["cc", "-o", "both", "one.o", "two.c"], ["./both", "a word", "it's"]]
    code = '#include <stdio.h>\nint one(void);\nint main(int n, char **words) { return fputs(words[one()], fopen("said", "w")) < 0; }'
    files = {"one.c": "int one(void) { return 2; }\n", "two.c": code}
    folder = build(bot(build=steps, **files), tier).folder
    assert (folder / "said").read_text() == "it's"


@tiers(SANDBOXES)
@pytest.mark.parametrize("compiler", ["cc", "javac"])
def test_a_compiler_builds_a_folder(tier: Tier, compiler: str, bot: Make, build: Callable[..., Prepared]) -> None:
    if (tier, compiler) == (Tier.B, "javac"):
        return  # Java needs /proc
    steps, files, made = {
        "cc": ([["cc", "-O2", "-o", "bot", "bot.c"]], {"bot.c": "int main(void) { return 0; }\n"}, "bot"),
        "javac": (
            [["javac", "-d", "classes", "Bot.java"]],
            {"Bot.java": "class Bot { Object x = new Object() {}; }"},
            "classes",
        ),
    }[compiler]
    assert (build(bot(build=steps, **files), tier).folder / made).exists()


def rustup_home() -> Path:
    return Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser())


@tiers([tier for tier in SANDBOXES if tier is not Tier.B])  # rustup needs /proc
def test_cargo_builds_with_a_rustup_that_it_may_only_read(
    tier: Tier, bot: Make, build: Callable[..., Prepared], public_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cargo = shutil.which("cargo")
    assert cargo is not None
    homes = []
    if not cargo.startswith("/usr/bin/"):  # rustup's
        homes = [public_path / "cargo", public_path / "rustup"]
        linked_copy(Path(cargo).parent, homes[0] / "bin", symlinks=True)
        linked_copy(rustup_home(), homes[1], symlinks=True)
        monkeypatch.setenv("RUSTUP_HOME", str(homes[1]))
    files = {"Cargo.toml": '[package]\nname = "bot"\nversion = "1.0.0"\n', "src/main.rs": "fn main() {}\n"}
    asked = [str(home) for home in homes]
    folder = build(bot(build=[["cargo", "build", "--release"]], runtime=asked, **files), tier).folder
    assert subprocess.run([folder / "target" / "release" / "bot"], check=False).returncode == 0


def a_compiler_in(home: Path) -> Path:
    """A folder with the program `mycc`, which makes a program of this folder's name."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "mycc").write_text(f'#!/bin/sh\necho "#!/bin/sh\necho {home.name}" >bot\nchmod +x bot\n')
    (home / "bin" / "mycc").chmod(0o755)
    return home


@tiers(SANDBOXES)
def test_a_compiler_in_a_folder_that_is_allowed_need_not_be_asked_for(
    tier: Tier, bot: Make, public_path: Path, reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, other = a_compiler_in(public_path / "asked"), a_compiler_in(public_path / "other")
    monkeypatch.setenv("PATH", f"{other / 'bin'}:{os.environ['PATH']}")
    built = []
    for runtime, allowed in (([], [other]), ([str(asked)], [other, asked])):
        found = bot(build=[["mycc"]], runtime=runtime)
        made = prepare(
            found,
            public_path / "cache",
            view=HostView(BOXED_PATH, tuple(allowed)),
            builder=Workshop(tier, reaper=reaper),
        )
        assert made.runtime == tuple(map(Path, runtime))
        built.append(subprocess.run([made.folder / "bot"], capture_output=True, text=True, check=True).stdout.strip())
    assert built == ["other", "asked"]


@tiers(SANDBOXES)
def test_a_compiler_in_a_folder_that_is_closed_to_others_is_refused_in_a_sentence(
    tier: Tier, bot: Make, public_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        return  # sandboxes are of the same user, who may enter
    home = a_compiler_in(tmp_path / "closed")  # pytest's folder is its owner's
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")
    view = HostView(BOXED_PATH, (home,))
    with pytest.raises(BotsRefused, match=f"{home} is closed to others, and root's sandboxes are another user's"):
        prepare(bot(build=[["mycc"]]), public_path / "cache", view=view, builder=Workshop(tier))


# -- as somebody else


def test_all_of_that_holds_for_who_is_not_root_too() -> None:
    if os.geteuid() != 0:
        return  # all of the above was built by such a one
    only = ("-k", "tier_A and not cargo", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
