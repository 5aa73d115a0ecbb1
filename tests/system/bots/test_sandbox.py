"""Boxes from the inside and from the outside: what a bot finds, what it may take, how it is ended, whose fault is what."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from bots.hostile.arena import as_a_user
from command_line import ROOT, TESTS_PATH
from seats import PROGRAMS, prepared

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, starting
from referee.bots.process.limits import DEFAULT_BOX, MIB, Box, Limits
from referee.bots.process.process import BotProcess
from referee.bots.process.system import Reaper, usable_cores
from referee.bots.sandbox import bubblewrap, launching
from referee.bots.sandbox.launching import SandboxLauncher
from referee.bots.sandbox.probing import launcher_for
from referee.bots.seat.player import BotPlayer
from referee.bots.tiers import Tier, TierUnavailable
from referee.errors import BotFault, Verdict, VoidGame
from referee.play import SystemClock

PYTHON = "/usr/bin/python3"
SECONDS = 1_000_000_000
LOOKS = (
    "privileges", "user", "descriptors", "environment", "processes", "first_environment", "root", "devices", "own_folder",
    "interfaces", "limits", "writable",
)  # fmt: skip
REFUSED = {
    "ptrace": "ENOSYS", "unshare_user": "ENOSYS", "clone_user": "EPERM", "clone3": "ENOSYS", "mount": "ENOSYS",
    "keyctl": "ENOSYS", "bpf": "ENOSYS", "perf": "ENOSYS", "userfaultfd": "ENOSYS", "io_uring": "ENOSYS", "memfd": "ENOSYS",
    "shmget": "ENOSYS", "shared_memory": "ENOMEM", "growing_memory": "ENOMEM", "vsock": "EAFNOSUPPORT",
    "netlink": "EAFNOSUPPORT", "scheduler": "ENOSYS", "unpin": "ENOSYS", "raise_limits": [],
}  # fmt: skip


@pytest.fixture
def folder(public_path: Path) -> Path:
    """A bot's folder that root's boxes can be made from."""
    place = public_path / "bot"
    place.mkdir()
    for name in ("escape.py", "who.py", "bad.py"):
        shutil.copy(PROGRAMS / name, place)
    (public_path / "scratch").mkdir()
    return place


def launch(tier: Tier, bot: Prepared, box: Box = DEFAULT_BOX, **more: Any) -> Child:
    return launcher_for(tier, scratch=bot.folder.parent / "scratch", box=box, **more).launch(bot)


def told(tier: Tier, folder: Path, *names: str, box: Box = DEFAULT_BOX, cores: frozenset[int] | None = None) -> Any:
    """What `escape.py` found in a box."""
    child = launch(tier, prepared(PYTHON, "-S", "escape.py", *names, folder=folder), box, cores=cores)
    process = BotProcess(child, SystemClock())
    try:
        return json.loads(process.exchange(b"", time.monotonic_ns() + 30 * SECONDS))
    finally:
        child.end()


@pytest.mark.parametrize("tier", Tier)
def test_no_process_is_made_while_everything_is_ended(
    tier: Tier, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, start_new_session: bool = False, **kwargs: Any) -> None:
            if start_new_session:  # a bot's
                held.append(starting.locked())
            super().__init__(*args, start_new_session=start_new_session, **kwargs)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    launch(tier, prepared("/bin/cat", folder=folder)).end()
    assert held == [True]
    assert not starting.locked()


# -- from the inside


def test_a_bot_finds_its_folder_and_the_system_and_nothing_of_the_referee(folder: Path) -> None:
    found = told(Tier.A, folder, *LOOKS)
    assert found["privileges"] == {"capabilities": 0, "no_new": "1", "seccomp": "2"}
    assert found["user"][:6] == [65534] * 6 and set(found["user"][6:]) <= {65534}
    assert found["descriptors"] == [0, 1, 2]
    assert found["environment"] == {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "TZ": "UTC",
        "PWD": "/bot", "JDK_JAVA_OPTIONS": "-XX:MaxRAM=512m -XX:MaxRAMPercentage=50",
        "NODE_OPTIONS": "--max-old-space-size=384", "GOMEMLIMIT": "384MiB",
    }  # fmt: skip
    assert found["processes"] == [1, 2]
    assert found["first_environment"] == ""
    links = {name for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if Path("/", name).exists()}
    assert set(found["root"]) == {"bot", "dev", "etc", "proc", "tmp", "usr", *links}
    assert found["devices"] == ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom"]
    assert found["own_folder"] == ["/bot", ["bad.py", "escape.py", "who.py"]]
    assert found["interfaces"] == ["lo"]
    assert found["writable"] == ["/tmp", "/dev/shm"]
    assert found["limits"] == {
        "DATA": [512 * MIB] * 2, "STACK": [8 * MIB, 64 * MIB], "NPROC": [64, 64], "FSIZE": [16 * MIB] * 2,
        "NOFILE": [64, 64], "CORE": [0, 0], "MEMLOCK": [0, 0], "MSGQUEUE": [0, 0], "RTPRIO": [0, 0],
    }  # fmt: skip


def test_tier_b_is_the_same_without_proc(folder: Path) -> None:
    found = told(Tier.B, folder, "processes", "root", "own_folder", "writable", "tcp")
    assert found["processes"] == []
    assert "proc" in found["root"]
    assert found["own_folder"] == ["/bot", ["bad.py", "escape.py", "who.py"]]
    assert found["writable"] == ["/tmp", "/dev/shm"]
    assert found["tcp"] == "EAFNOSUPPORT"


@pytest.mark.parametrize("tier", [Tier.A, Tier.B, Tier.C])
def test_what_reaches_out_is_refused(tier: Tier, folder: Path) -> None:
    core = frozenset(usable_cores()[:1])
    assert told(tier, folder, "affinity", *REFUSED, cores=core) == {"affinity": sorted(core)} | REFUSED


@pytest.mark.parametrize("tier", [Tier.A, Tier.B])
def test_there_is_no_network_and_no_device_to_take_memory_from(tier: Tier, folder: Path) -> None:
    assert told(tier, folder, "tcp", "dev_zero", "kill_first") == {
        "tcp": "EAFNOSUPPORT", "dev_zero": "ENOENT", "kill_first": tier is Tier.A,
    }  # fmt: skip


def test_tier_c_has_no_sockets_and_reads_nothing_of_others(folder: Path) -> None:
    found = told(Tier.C, folder, "tcp", "dev_zero", "root", "etc", "processes", "writable", "nice")
    assert found == {
        "tcp": "EAFNOSUPPORT", "dev_zero": "EACCES", "root": "EACCES", "etc": "EACCES", "processes": "EACCES",
        "writable": [], "nice": "EACCES" if os.geteuid() else "EPERM",
    } | {"nice": found["nice"]}  # fmt: skip
    assert found["nice"] in ("EPERM", "EACCES")


def test_limits_hold(folder: Path) -> None:
    found = told(Tier.A, folder, "memory", "reserve", "large_file", "processes_at_once", "threads_at_once")
    assert found["memory"] == "MemoryError"
    assert found["reserve"] == "done", "address space alone is free"
    assert found["large_file"] == [16, "EFBIG"]
    assert found["processes_at_once"][0] == "EAGAIN" and 55 <= found["processes_at_once"][1] < 64
    assert 55 <= found["threads_at_once"] < 64
    assert told(Tier.A, folder, "fill_tmp")["fill_tmp"] == [32, "ENOSPC"]
    assert told(Tier.A, folder, "fill_shm")["fill_shm"] == [8, "ENOSPC"]


@pytest.mark.parametrize("tier", [Tier.A, Tier.C, Tier.D])
def test_bots_are_the_first_to_go_where_memory_runs_out(tier: Tier, folder: Path) -> None:
    child = launch(tier, prepared("/bin/cat", folder=folder))
    try:
        scores = {Path(f"/proc/{pid}/oom_score_adj").read_text().strip() for pid in child.processes()}
    finally:
        child.end()
    assert scores == {"1000"}
    assert Path("/proc/self/oom_score_adj").read_text().strip() != "1000"


def test_limits_are_what_the_organiser_says(folder: Path) -> None:
    box = Box(memory=100 * MIB, processes=20, file_size=2 * MIB, tmp_size=4 * MIB)
    found = told(Tier.A, folder, "large_file", "processes_at_once", "limits", box=box)
    assert found["large_file"] == [2, "EFBIG"]
    assert found["processes_at_once"][1] < 20
    assert (found["limits"]["DATA"], found["limits"]["NPROC"]) == ([100 * MIB] * 2, [20, 20])


def test_nothing_that_is_written_is_there_for_the_next_process(folder: Path) -> None:
    assert told(Tier.A, folder, "writable")["writable"] == ["/tmp", "/dev/shm"]
    seen = prepared("/bin/ls", "-A", "/tmp", "/dev/shm", folder=folder)
    child = launch(Tier.A, seen)
    process = BotProcess(child, SystemClock())
    process.settle(60 * SECONDS)
    child.end()
    assert b"written" not in process.inbox


def test_limits_of_tier_d_are_those_of_single_processes(folder: Path) -> None:
    found = told(Tier.D, folder, "limits")["limits"]
    assert (found["DATA"], found["FSIZE"], found["NOFILE"], found["CORE"]) == (
        [512 * MIB] * 2, [16 * MIB] * 2, [64, 64], [0, 0],
    )  # fmt: skip
    assert found["NPROC"] == list(resource.getrlimit(resource.RLIMIT_NPROC))


def test_a_folder_that_was_allowed_can_be_read_and_its_programs_come_first(folder: Path) -> None:
    runtime = folder.parent / "runtime"
    (runtime / "bin").mkdir(parents=True)
    (runtime / "bin" / "hello").write_text("#!/bin/sh\necho $PATH; touch here || echo read-only\n")
    (runtime / "bin" / "hello").chmod(0o755)
    bot = prepared("/bin/sh", "-c", f"cd {runtime}; hello", folder=folder)
    child = launch(Tier.A, Prepared(bot.manifest, bot.folder, bot.argv, (runtime,)))
    process = BotProcess(child, SystemClock())
    process.settle(60 * SECONDS)
    child.end()
    assert process.inbox.decode().splitlines() == [
        f"{runtime}/bin:{runtime}:/usr/local/bin:/usr/bin:/bin", "read-only",
    ]  # fmt: skip


# -- as somebody else


@pytest.mark.parametrize("tier", [Tier.A, Tier.B, Tier.C])
def test_a_user_who_is_not_root_gets_the_same_boxes(tier: Tier, folder: Path) -> None:
    folder.parent.joinpath("scratch").chmod(0o777)
    folder.parent.chmod(0o777)
    program = (
        "import sys; sys.path[:0] = sys.argv[1].split(':')\n"
        "from pathlib import Path\n"
        "from bots.test_sandbox import REFUSED, told\n"
        "from referee.bots.tiers import Tier\n"
        "import os\n"
        "from referee.bots.process.system import usable_cores\n"
        "assert os.geteuid() != 0\n"
        "got = told(Tier(sys.argv[2]), Path(sys.argv[3]), *REFUSED, cores=frozenset(usable_cores()[:1]))\n"
        "assert got == REFUSED, got\n"
    )
    words = [
        *(as_a_user() if os.geteuid() == 0 else (sys.executable,)),
        "-c",
        program,
        TESTS_PATH,
        tier.value,
        str(folder),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- from the outside


@pytest.mark.parametrize("tier", list(Tier))
def test_status_and_signal_of_a_bot_are_its_own(tier: Tier, folder: Path) -> None:
    for script, status in (("exit 7", 7), ("exit 0", 0), ("kill -SEGV $$", -11)):
        child = launch(tier, prepared("/bin/sh", "-c", script, folder=folder))
        process = BotProcess(child, SystemClock())
        assert process.settle(60 * SECONDS) == status
        assert child.end() == child.end() == status


@pytest.mark.parametrize("tier", [Tier.A, Tier.C, Tier.D])
def test_all_of_a_box_is_ended_with_it(tier: Tier, folder: Path, reaper: Reaper) -> None:
    script = "for i in 1 2 3 4 5; do setsid sleep 1000 & done; echo ready; wait"
    for _ in range(5):
        child = launch(tier, prepared("/bin/sh", "-c", script, folder=folder), reaper=reaper)
        process = BotProcess(child, SystemClock())
        process.exchange(b"", time.monotonic_ns() + 60 * SECONDS)
        inside = child.processes()
        assert len(inside) >= 6
        assert child.end() == -9
        reaper.sweep()
        assert [pid for pid in inside if Path(f"/proc/{pid}").exists()] == []


def test_descriptors_stay_as_they_were(folder: Path, reaper: Reaper) -> None:
    def start_and_end() -> None:
        launch(Tier.A, prepared("/bin/cat", folder=folder), reaper=reaper).end()

    start_and_end()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        start_and_end()
    assert len(os.listdir("/proc/self/fd")) == before


def test_processor_time_of_the_whole_box_is_counted_and_a_frozen_box_uses_none(folder: Path) -> None:
    script = "(while :; do :; done) & echo ready; while :; do :; done"
    child = launch(Tier.A, prepared("/bin/sh", "-c", script, folder=folder))
    try:
        BotProcess(child, SystemClock()).exchange(b"", time.monotonic_ns() + 60 * SECONDS)
        _until(lambda: child.cpu_ns() > 100_000_000)
        assert len(child.processes()) == 3
        child.suspend()
        _until(lambda: {_state(pid) for pid in child.processes()} == {"T"})
        _until(lambda: child.cpu_ns() == child.cpu_ns())  # who is stopped has yet to leave the processor
        frozen = child.cpu_ns()
        until = time.monotonic() + 0.2
        _until(lambda: time.monotonic() > until)
        assert child.cpu_ns() - frozen < 1_000_000
        child.resume()
        _until(lambda: child.cpu_ns() > frozen + 1_000_000)
    finally:
        assert child.end() == -9


def _until(done: Any) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        os.sched_yield()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


# -- whose fault it is


def test_a_program_that_is_not_there_is_the_bots_fault(folder: Path) -> None:
    (folder / "bot").write_text("#!/no/such/interpreter\n")
    (folder / "bot").chmod(0o755)
    for tier in (Tier.A, Tier.C):
        launcher = launcher_for(tier, scratch=folder.parent / "scratch")
        player = BotPlayer(prepared("./bot", folder=folder), launcher=launcher, clock=SystemClock(), limits=Limits())
        with pytest.raises(BotFault, match=r"could not be started: No such file.*the interpreter named") as caught:
            player.start()
        assert caught.value.verdict is Verdict.START_FAILED


def test_a_copy_that_is_gone_is_the_machines_fault(folder: Path) -> None:
    bot = prepared("./bot", folder=folder.parent / "gone")
    player = BotPlayer(bot, launcher=SandboxLauncher(Tier.A), clock=SystemClock(), limits=Limits())
    with pytest.raises(VoidGame, match=r"its copy is no longer whole: .*gone"):
        player.start()


def test_a_sandbox_that_cannot_begin_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = folder.parent / "bwrap"
    tool.write_text("#!/bin/sh\necho 'no more namespaces' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setattr(launching, "tools", lambda: bubblewrap.Tools(str(tool), "/usr/bin/prlimit", True))
    with pytest.raises(
        VoidGame, match="no process could be made for subject: the sandbox could not start: no more name"
    ):
        launch(Tier.A, prepared("/bin/cat", folder=folder))


def test_a_sandbox_that_breaks_is_the_machines_fault(folder: Path) -> None:
    child = launch(Tier.A, prepared("/bin/cat", folder=folder))
    os.kill(child.pid, 9)
    process = BotProcess(child, SystemClock())
    with pytest.raises(VoidGame, match="the sandbox failed, and not the bot in it"):
        process.settle(60 * SECONDS)
    inside = child.processes()
    child.end()
    assert [pid for pid in inside[1:] if Path(f"/proc/{pid}").exists()] == []


def test_a_sandbox_that_breaks_when_it_has_begun_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = folder.parent / "bwrap"
    tool.write_text(
        f"#!{PYTHON}\n"
        "import os, sys\n"
        "words = open(int(sys.argv[2]), 'rb').read().split(b'\\0')\n"
        "told = int(words[words.index(b'--json-status-fd') + 1])\n"
        "os.write(told, b'{\"child-pid\": %d}\\n' % os.getpid())\n"
        "sys.exit('bwrap: Can\\'t mount tmpfs: No space left on device')\n"
    )
    tool.chmod(0o755)
    monkeypatch.setattr(launching, "tools", lambda: bubblewrap.Tools(str(tool), "/usr/bin/prlimit", True))
    bot = prepared("/bin/cat", folder=folder)
    player = BotPlayer(bot, launcher=SandboxLauncher(Tier.A), clock=SystemClock(), limits=Limits())
    with pytest.raises(
        VoidGame, match=r"the sandbox failed, .*last on stderr: bwrap: Can't mount tmpfs: No space left"
    ):
        player.start()


def test_a_box_whose_maker_is_killed_while_it_begins_runs_no_bot(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bubblewrap ties itself to its maker late: until then it lacks what it cannot do without."""
    launcher = SandboxLauncher(Tier.A)
    object.__setattr__(launcher, "_filter", b"")  # all that is given where the maker is gone
    child = launcher.launch(prepared("/bin/sh", "-c", "echo begun", folder=folder))
    process = BotProcess(child, SystemClock())
    try:
        with pytest.raises(VoidGame, match="the sandbox failed, and not the bot in it"):
            process.settle(60 * SECONDS)
        assert b"begun" not in process.inbox
    finally:
        child.end()


def test_a_machine_without_the_tool_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bubblewrap.tools.cache_clear()
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda *_, **__: None)
    try:
        with pytest.raises(TierUnavailable, match="bubblewrap is not installed") as caught:
            SandboxLauncher(Tier.A)
        assert caught.value.remedy == "apt-get install bubblewrap"
    finally:
        bubblewrap.tools.cache_clear()


def test_boxes_end_with_the_process_that_made_them(folder: Path) -> None:
    program = (
        "import sys, time; sys.path[:0] = ':'.join(sys.argv[1:3]).split(':')\n"
        "from pathlib import Path\n"
        "from bots.test_sandbox import launch\n"
        "from referee.bots.tiers import Tier\n"
        "from seats import prepared\n"
        "child = launch(Tier.A, prepared('/bin/sh', '-c', 'sleep 1000 & sleep 1000', folder=Path(sys.argv[3])))\n"
        "while len(child.processes()) < 4: time.sleep(0.001)\n"
        "print(*child.processes(), flush=True); time.sleep(1000)\n"
    )
    words = [sys.executable, "-c", program, str(ROOT), TESTS_PATH, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None
        inside = [int(word) for word in maker.stdout.readline().split()]
        assert len(inside) == 4
        maker.kill()
    _until(lambda: not any(_is_alive(pid) for pid in inside))


def _is_alive(pid: int) -> bool:
    try:
        return _state(pid) not in "ZX"
    except OSError:
        return False


def test_root_is_another_user_in_each_worker_and_box(monkeypatch: pytest.MonkeyPatch) -> None:
    users = set()
    for pid in (1, 4242, 4243, 4_194_304):  # the last is the largest that Linux gives
        monkeypatch.setattr(launching.os, "getpid", lambda pid=pid: pid)
        users |= {launching.build_user(), *(launching.next_user() for _ in range(6))}
    assert len(users) == 4 * 7
    assert min(users) >= 0x6000_0000 and max(users) < 0x7FFF_0000
