"""All processes of a bot together: what they have used, suspending and resuming them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import processes
import pytest
from processes import wait_until

from referee.bots.process import process_group
from referee.bots.process.system import kill_group, tree

MS = 1_000_000
WORK = """
import os, signal, sys, time
def work(ms):
    until = time.process_time() + ms / 1e3
    while time.process_time() < until: pass
"""


@contextmanager
def program(text: str) -> Iterator[subprocess.Popen[str]]:
    """A program in a session of its own, that ends with all that it has started; it says and hears lines."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen([sys.executable, "-S", "-c", WORK + text], **pipes)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        kill_group(process.pid)  # its session: whoever lost its parents is in it, and in no tree of ours
        process.communicate()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def states(pid: int) -> set[str]:
    """Of all processes of a tree, those apart that are dead."""
    return processes.states(tree(pid))


def test_a_process_is_told_its_time_by_its_clock_as_it_tells_it_itself() -> None:
    with program("work(30); print(time.process_time_ns(), flush=True); input()") as process:
        told = int(line_of(process))
        wait_until(lambda: states(process.pid) == {"S"})
        assert told <= (process_group.own_ns(process.pid) or 0) < told + 30 * MS
    assert process_group.own_ns(process.pid) is None


REAPED = "if os.fork() == 0: work(60); input(); os._exit(0)\nos.wait(); print('reaped', flush=True); time.sleep(100)"
UNREAPED = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n" + REAPED.replace("os.wait();", "time.sleep(0.05);")
UNSEEN = "if os.fork() == 0: work(60); os._exit(0)\nos.wait(); print('reaped', flush=True); time.sleep(100)"


def test_what_is_reaped_by_another_of_them_is_counted_once() -> None:
    with program(REAPED) as process:
        usage, both = process_group.CpuUsage(), lambda: tree(process.pid)
        wait_until(lambda: usage.read(both) >= 60 * MS and states(process.pid) == {"S"})
        seen = usage.read(both)
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
        assert line_of(process) == "reaped"
        assert seen <= usage.read(both) < seen + 40 * MS


def test_what_nobody_reaps_is_counted_up_to_its_last_sight() -> None:
    with program(UNREAPED) as process:
        usage, both = process_group.CpuUsage(), lambda: tree(process.pid)
        wait_until(lambda: usage.read(both) >= 60 * MS and states(process.pid) == {"S"})
        seen = usage.read(both)
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
        wait_until(lambda: len(both()) == 1)
        assert seen <= usage.read(both) < seen + 40 * MS
        assert (process_group.own_ns(process.pid) or 0) < 60 * MS, "only the child worked"


def test_what_was_never_seen_and_is_reaped_is_counted() -> None:
    with program(UNSEEN) as process:
        assert line_of(process) == "reaped"
        own = process_group.own_ns(process.pid) or 0
        assert own + 50 * MS <= process_group.CpuUsage().read(lambda: tree(process.pid)) < own + 100 * MS


TREES = {
    "sleeping": "print('here', flush=True); time.sleep(100)",
    "working": "print('here', flush=True); work(1e6)",
    "threads": "import threading\nthreading.Thread(target=work, args=(1e6,)).start()\nprint('here', flush=True)\nwork(1e6)",
    "forking on": """
def on():
    while True:
        if os.fork() == 0:
            if os.fork() == 0: work(3)
            os._exit(0)
        os.wait()
if os.fork() == 0: on()
print('here', flush=True)
on()
""",
    "waking each other": """
family = os.getpid()
print('here', flush=True)
for _ in range(3): os.fork()
while True: os.killpg(family, signal.SIGCONT)
""",
    "woken by the ends of its children, which take long": """
import ctypes
libc, clone = ctypes.CDLL(None), {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
big = bytearray(128 << 20)
big[::4096] = b'1' * (len(big) // 4096)
print('here', flush=True)
while True:
    if libc.syscall(clone, int(signal.SIGCONT), 0, 0, 0, 0) == 0: libc._exit(0)
    work(1)
    try:
        while os.waitpid(-1, os.WNOHANG | 0x40000000)[0]: pass
    except ChildProcessError: pass
""",
}


@pytest.mark.parametrize("shape", TREES)
def test_all_stand_still_until_they_are_let_go_on(shape: str) -> None:
    with program(TREES[shape]) as process:
        assert line_of(process) == "here"
        family = lambda: tree(process.pid)  # noqa: E731
        for _ in range(5):
            wait_until(lambda: process_group.suspend(family))  # on a busy machine one attempt may be too short
            assert states(process.pid) == {"T"}
            usage = process_group.CpuUsage()
            used = usage.read(family)
            assert states(process.pid) == {"T"}
            assert usage.read(family) == used
            process_group.resume(family)
            wait_until(lambda: "T" not in states(process.pid))


def test_whoever_is_gone_is_no_hindrance() -> None:
    with program("print('here', flush=True)") as process:
        process.wait()
        assert process_group.suspend(lambda: [process.pid])
        process_group.resume(lambda: [process.pid])
        assert process_group.CpuUsage().read(lambda: [process.pid]) == 0
