"""What a box may take as a whole: with a cgroup where this machine lets us make one, and what is left of it without."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bots.hostile.arena import as_a_user
from command_line import ROOT, TESTS_PATH
from seats import PROGRAMS, prepared

from referee.bots.process import system
from referee.bots.process.launcher import Child
from referee.bots.process.limits import MIB, Box, Limits
from referee.bots.process.process import BotProcess
from referee.bots.process.process_group import clock_of
from referee.bots.sandbox import bubblewrap, cgroup_homes, cgroup_leavings, cgroups, launching
from referee.bots.sandbox.cgroup_homes import OWN_LEAF, Maker, Version
from referee.bots.sandbox.launching import SandboxLauncher
from referee.bots.sandbox.probing import as_recorded, in_words
from referee.bots.seat.player import BotPlayer
from referee.bots.tiers import Tier, TierUnavailable
from referee.errors import BotFault, Verdict, VoidGame
from referee.play import SystemClock

PYTHON = "/usr/bin/python3"
SECOND = 1_000_000_000
SMALL = Box(memory=64 * MIB, tmp_size=4 * MIB, open_files=128)
IN_ALL = 64 + 4 + 8 + 16
"""MiB: what all of a small box may have, its files and the kernel's pages included."""
HAS_GROUPS = cgroups.home_or_none() is not None


@pytest.fixture
def folder(public_path: Path) -> Path:
    """A bot's folder that root's boxes can be made from."""
    for name in ("escape.py", "hungry.py"):
        shutil.copy(PROGRAMS / name, public_path)
    return public_path


@contextlib.contextmanager
def boxed(folder: Path, *argv: str, box: Box = SMALL, grouped: bool = True) -> Iterator[Child]:
    child = SandboxLauncher(Tier.A, box, grouped=grouped).launch(prepared(*argv, folder=folder))
    try:
        yield child
    finally:
        child.end()


def told(child: Child) -> dict[str, object]:
    line = BotProcess(child, SystemClock()).exchange(b"", time.monotonic_ns() + 60 * SECOND)
    return dict(json.loads(line))


def groups_of(pid: int) -> list[Path]:
    """The folders of ours in which a process is."""
    lines = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    if not HAS_GROUPS:
        return []
    names = {path.rpartition("/")[2] for _, _, path in lines if "/referee-box-" in path}
    return [place for name in names for place in (home / name for home in cgroups.home().folders.values())]


# -- memory


def test_sixty_processes_have_together_what_the_box_may_have(folder: Path) -> None:
    with boxed(folder, PYTHON, "-S", "escape.py", "crowd") as child:
        crowd = told(child)["crowd"]
        assert isinstance(crowd, dict)
        if HAS_GROUPS:
            assert crowd["killed"] > 0 and 0 < 8 * crowd["holding"] <= IN_ALL
            assert crowd["killed"] + crowd["holding"] == 60
            assert child.memory_used_up() == IN_ALL * MIB
        else:
            assert crowd == {"killed": 0, "holding": 60}, "each has no more than its own limit, and no less"


@pytest.mark.parametrize("grouped", [True, False])
def test_a_lone_process_meets_the_same_limit_with_a_group_and_without(folder: Path, grouped: bool) -> None:
    with boxed(
        folder, PYTHON, "-S", "escape.py", "memory", "fill_tmp", "fill_shm", box=Box(), grouped=grouped
    ) as child:
        assert told(child) == {"memory": "MemoryError", "fill_tmp": [32, "ENOSPC"], "fill_shm": [8, "ENOSPC"]}
        assert child.memory_used_up() is None


def test_files_without_content_count_where_there_is_a_group(folder: Path) -> None:
    with boxed(folder, PYTHON, "-S", "escape.py", "many_files") as child:
        process = BotProcess(child, SystemClock())
        status = process.settle(60 * SECOND)
        assert (status, child.memory_used_up()) == ((-9, IN_ALL * MIB) if HAS_GROUPS else (0, None))
        assert process.inbox == (b"" if HAS_GROUPS else b'{"many_files": 200000}\n')


def fault(folder: Path, *argv: str) -> BotFault:
    launcher = SandboxLauncher(Tier.A, SMALL)
    player = BotPlayer(prepared(*argv, folder=folder), launcher=launcher, clock=SystemClock(), limits=Limits(60_000))
    with pytest.raises(BotFault) as caught:
        player.start()
    return caught.value


def test_a_verdict_says_that_the_memory_of_the_box_was_used_up(folder: Path) -> None:
    words = (
        f"its processes and files took more than the {IN_ALL} MiB that its box may have in all before it said `ready`"
    )
    for who, how in (("itself", "it was killed: "), ("child", "it exited with status 3; one was killed before: ")):
        found = fault(folder, PYTHON, "-S", "hungry.py", who)
        assert found.verdict is Verdict.START_FAILED
        assert found.detail == (how + words if HAS_GROUPS else "it exited with status 3 before it said `ready`")


def test_a_box_whose_outer_process_the_kernel_chose_is_the_bots_fault(folder: Path) -> None:
    """Else a bot that is losing could fill its memory until bubblewrap is killed, and the game void."""
    with boxed(folder, "/bin/sh", "-c", f"{PYTHON} -S escape.py crowd; sleep 1000") as child:
        told(child)
        os.kill(child.pid, 9)
        process = BotProcess(child, SystemClock())
        if HAS_GROUPS:
            assert process.settle(5 * SECOND) == -9
        else:
            with pytest.raises(VoidGame):
                process.settle(5 * SECOND)


# -- processor time


def test_processor_time_of_what_is_gone_is_counted_where_there_is_a_group(folder: Path) -> None:
    script = "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done) & wait; echo done; read x"
    with boxed(folder, "/bin/sh", "-c", script) as child:
        BotProcess(child, SystemClock()).exchange(b"", time.monotonic_ns() + 60 * SECOND)
        before = child.cpu_ns()
        assert before > 20_000_000
        assert child.cpu_ns() - before < 100_000_000


def test_accounts_are_told_when_the_box_is_gone_too(folder: Path) -> None:
    with boxed(folder, "/bin/sh", "-c", f"{PYTHON} -S escape.py crowd; sleep 1000") as child:
        told(child)
        used = child.cpu_ns()
    if HAS_GROUPS:
        assert child.cpu_ns() >= used > 0
        assert child.memory_used_up() == IN_ALL * MIB
        child.end()


def test_that_no_group_can_be_made_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def find() -> cgroup_homes.Home:
        looks.append(None)
        raise TierUnavailable("there is none", "")

    monkeypatch.setattr(cgroups, "find_home", find)
    cgroups._found.cache_clear()
    try:
        assert [cgroups.home_or_none(), cgroups.home_or_none()] == [None, None]
        with pytest.raises(TierUnavailable, match="there is none"):
            cgroups.home()
        assert len(looks) == 1
        assert as_recorded(Tier.A) == "A"
        assert SandboxLauncher(Tier.A)._groups is None
    finally:
        cgroups._found.cache_clear()


def test_processor_time_is_exact_to_the_moment(folder: Path) -> None:
    """It is behind the processes' own clocks, read right after it, by no more than they can have used meanwhile."""
    script = "(while :; do :; done) & echo here; while :; do :; done"
    with boxed(folder, "/bin/sh", "-c", script) as child:
        BotProcess(child, SystemClock()).exchange(b"", time.monotonic_ns() + 60 * SECOND)
        inside = child.processes()
        behind, meanwhile = [], []
        for _ in range(100):
            until = time.monotonic() + 0.003
            while time.monotonic() < until:
                pass
            began = time.monotonic_ns()
            total = child.cpu_ns()
            behind.append(sum(time.clock_gettime_ns(clock_of(pid)) for pid in inside) - total)
            meanwhile.append((time.monotonic_ns() - began) * len(inside) + 100_000)
        constant = min(behind)  # bubblewrap's own time before the bot began
        assert [late - constant > most for late, most in zip(behind, meanwhile, strict=True)] == [False] * 100


# -- from the inside


@pytest.mark.parametrize("tier", [Tier.A, Tier.B])
def test_a_box_sees_no_group_and_can_write_to_none(tier: Tier, folder: Path) -> None:
    child = SandboxLauncher(tier).launch(prepared(PYTHON, "-S", "escape.py", "cgroups", folder=folder))
    try:
        if tier is Tier.A:
            assert told(child) == {"cgroups": {"named": [], "mounted": [], "written": []}}
        else:
            assert told(child) == {"cgroups": "ENOENT"}
        assert len(groups_of(child.pid)) == (len(cgroups.home().folders) if HAS_GROUPS else 0)
    finally:
        child.end()


def test_all_of_a_box_is_in_its_group_and_nothing_else_is(folder: Path) -> None:
    with (
        boxed(folder, "/bin/sh", "-c", "sleep 1000 & echo here; wait") as child,
        boxed(folder, "/bin/sh", "-c", "echo here; sleep 1000") as other,
    ):
        for one in (child, other):
            BotProcess(one, SystemClock()).exchange(b"", time.monotonic_ns() + 60 * SECOND)
        for place in groups_of(child.processes()[0]):
            inside = set(map(int, (place / "cgroup.procs").read_text().split()))
            assert inside == {child.pid, *child.processes()}
        assert groups_of(os.getpid()) == []
        assert not set(groups_of(child.pid)) & set(groups_of(other.pid))
        assert len(child.processes()) == 3


# -- what is left


def test_a_group_goes_with_its_box(folder: Path) -> None:
    with boxed(folder, "/bin/sh", "-c", "sleep 1000 & echo here; wait") as child:
        BotProcess(child, SystemClock()).exchange(b"", time.monotonic_ns() + 60 * SECOND)
        places = groups_of(child.pid)
        assert [place.is_dir() for place in places] == [True] * len(places)
    until = time.monotonic() + 60
    while any(place.exists() for place in places):
        cgroups.remove_late()
        assert time.monotonic() < until


def own_groups() -> list[Path]:
    """The groups that this process has made, and that are there."""
    home = cgroups.home_or_none()
    return [one for place in home.folders.values() for one in place.glob(f"*-{home.maker.tag}-*")] if home else []


def test_a_box_that_cannot_begin_leaves_no_group(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cgroups.remove_late()
    before = own_groups()
    tool = folder / "bwrap"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setattr(launching, "tools", lambda: bubblewrap.Tools(str(tool), "/usr/bin/prlimit", True))
    with pytest.raises(VoidGame, match="the sandbox could not start"):
        SandboxLauncher(Tier.A).launch(prepared("/bin/true", folder=folder))
    until = time.monotonic() + 60
    while own_groups() != before:
        cgroups.remove_late()
        assert time.monotonic() < until


def test_what_a_killed_process_left_is_removed_by_the_next_one(folder: Path) -> None:
    program = (
        "import sys, time; sys.path[:0] = ':'.join(sys.argv[1:3]).split(':')\n"
        "from pathlib import Path\n"
        "from bots.test_sandbox_cgroups import groups_of\n"
        "from referee.bots.sandbox.launching import SandboxLauncher\n"
        "from referee.bots.tiers import Tier\n"
        "from seats import prepared\n"
        "child = SandboxLauncher(Tier.A).launch(prepared('/bin/cat', folder=Path(sys.argv[3])))\n"
        "print(*groups_of(child.pid), flush=True); time.sleep(1000)\n"
    )
    words = [sys.executable, "-c", program, str(ROOT), TESTS_PATH, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None
        places = [Path(word) for word in maker.stdout.readline().split()]
        assert len(places) == (len(cgroups.home().folders) if HAS_GROUPS else 0)
        cgroup_leavings.sweep()
        assert all(place.is_dir() for place in places), "its maker lives"
        maker.kill()
    until = time.monotonic() + 60
    while any(place.exists() for place in places):
        cgroup_leavings.sweep_everywhere()
        assert time.monotonic() < until


def test_only_groups_of_the_dead_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    began = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    here = os.stat("/proc/self/ns/pid").st_ino
    maker = Maker(here, os.getpid(), began)
    dead = [f"referee-box-{here}-{gone.pid}-1-0", f"referee-box-{maker.namespace}-{os.getpid()}-{began + 1}-7"]
    kept = [
        f"referee-box-{maker.tag}-0", f"referee-box-{here + 1}-{gone.pid}-1-0", "referee-box-x", "referee-box-",
        f"another-{here}-{gone.pid}-1-0", f"referee-box-{here}-{gone.pid}-1-0-and-more",
    ]  # fmt: skip
    for name in dead + kept:
        (tmp_path / name).mkdir()
    cgroup_leavings._clear([tmp_path, tmp_path / "none"], maker.is_of_the_dead, 0.0)
    assert sorted(os.listdir(tmp_path)) == sorted(kept)


def test_a_group_that_cannot_be_made_is_the_machines_fault(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if HAS_GROUPS:
        launcher = SandboxLauncher(Tier.A)
        gone = cgroups.home()._replace(folders={"memory": folder / "no such hierarchy"})
        object.__setattr__(launcher, "_groups", gone)
        with pytest.raises(VoidGame, match=r"No such file or directory: .*no such hierarchy"):
            launcher.launch(prepared("/bin/cat", folder=folder))


# -- where groups can be made


def test_what_is_recorded_and_told_says_whether_there_are_groups() -> None:
    with_groups = " with cgroups" if HAS_GROUPS else ""
    assert [as_recorded(tier) for tier in Tier] == [f"A{with_groups}", f"B{with_groups}", "C", "D"]
    assert ("for all of its processes together" in in_words(Tier.A)) is HAS_GROUPS
    assert in_words(Tier.D) == Tier.D.words


def test_a_user_without_a_group_of_his_own_is_told_what_would_help() -> None:
    program = (
        "from referee.bots.sandbox.cgroups import home\n"
        "from referee.bots.tiers import TierUnavailable\n"
        "try: print('has', home().version.name)\n"
        "except TierUnavailable as why: print(f'{why.reason}|{why.remedy}')\n"
    )
    words = (*as_a_user(), "-c", program) if os.geteuid() == 0 else (sys.executable, "-c", program)
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    assert said.startswith("has ") or "cgroup" in said.partition("|")[0]
    if Path("/run/systemd/system").is_dir() and "delegated" in said:
        assert "systemd-run --user --scope -p Delegate=yes" in said


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """What a group of version 2 looks like that is delegated to us and holds nobody but this process."""
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    return tmp_path


def test_alone_in_a_delegated_group_we_move_into_a_leaf_and_hand_the_controllers_on(own: Path) -> None:
    assert cgroup_homes._delegated(own) == own
    assert (own / OWN_LEAF / "cgroup.procs").read_text() == str(os.getpid())
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_where_controllers_are_handed_on_already_nobody_moves(own: Path) -> None:
    (own / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (own / OWN_LEAF).mkdir()
    assert cgroup_homes._delegated(own / OWN_LEAF) == cgroup_homes._delegated(own) == own
    assert os.listdir(own / OWN_LEAF) == []


def test_a_group_with_others_in_it_is_left_alone(own: Path) -> None:
    (own / "cgroup.procs").write_text(f"1\n{os.getpid()}\n")
    with pytest.raises(TierUnavailable, match="others are in the referee's own cgroup") as caught:
        cgroup_homes._delegated(own)
    assert caught.value.remedy == Version.TWO.remedy
    assert sorted(os.listdir(own)) == ["cgroup.procs", "cgroup.subtree_control"]


def test_the_process_that_guards_us_is_none_of_the_others_and_moves_too(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "guard", 4711)
    (own / "cgroup.procs").write_text(f"4711\n{os.getpid()}\n")
    assert cgroup_homes._delegated(own) == own
    assert (own / OWN_LEAF / "cgroup.procs").read_text() == "4711"  # a file keeps the last one


def unified() -> Path | None:
    """Our own group of version 2, where one may be made below it, be it without controllers."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    path = next((line[3:] for line in lines if line.startswith("0::")), None)
    place = cgroup_homes._own_folder(cgroup_homes._mounts(), path, "cgroup2")
    return place[0] if place is not None and os.access(place[0], os.W_OK) else None


def test_with_version_two_a_box_is_in_its_group_before_it_begins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the kernel's own files, but for the limits: beside version 1 there are no controllers to set them with."""
    own = unified()
    if own is None:
        return  # nothing of version 2 is at hand: what is made of its files is tested above
    files = cgroups._Files(lambda *_: iter(()), ("", "cgroup.events"), ("", "cpu.stat"))
    monkeypatch.setitem(cgroups._FILES, Version.TWO, files)
    home = cgroup_homes.Home(Version.TWO, {"": own}, (own,), cgroup_homes.this_maker())
    launcher = SandboxLauncher(Tier.A)
    object.__setattr__(launcher, "_groups", home)
    before = sorted(path.name for path in own.glob("referee-box-*"))
    child = launcher.launch(prepared("/bin/sh", "-c", "sleep 1000 & echo here; while :; do :; done", folder=folder))
    try:
        BotProcess(child, SystemClock()).exchange(b"", time.monotonic_ns() + 60 * SECOND)
        [group] = [own / name.name for name in own.glob(f"referee-box-{home.maker.tag}-*") if name.name not in before]
        assert set(map(int, (group / "cgroup.procs").read_text().split())) == {child.pid, *child.processes()}
        used = child.cpu_ns()
        until = time.monotonic() + 60
        while child.cpu_ns() < used + 20_000_000:
            assert time.monotonic() < until
        assert child.memory_used_up() is None
    finally:
        child.end()
    while group.exists():
        cgroups.remove_late()
        assert time.monotonic() < until
