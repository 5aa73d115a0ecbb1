"""Tries to read what is not its own and notes what it could; its arguments say what, and what there is to find."""

import contextlib
import os
import re
import sys

import talk

MODE, BAIT = sys.argv[1], talk.bait()


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


def of_processes(what):
    """What can be read of the referee's process, of one of its children, of another bot's."""
    return [name for name in ("referee", "victim", "sibling") if content(f"/proc/{BAIT[name]}/{what}")]


def environments():
    return of_processes("environ")


def arguments():
    return of_processes("cmdline")


def memories():
    def open_memory(name):
        try:
            os.close(os.open(f"/proc/{BAIT[name]}/mem", os.O_RDONLY))
        except OSError:
            return False
        return True

    return [name for name in ("referee", "victim", "sibling") if open_memory(name)]


def descriptors():
    """Those of the referee, by /proc, and those that were left open in this process."""
    found = []
    for name in ("referee", "sibling"):
        with contextlib.suppress(OSError):
            found += [name] if os.listdir(f"/proc/{BAIT[name]}/fd") else []
    for number in range(3, 1024):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(f"inherited_{number}")
    return found


def processes():
    """Those that are not of its own: the three that it was told of, where /proc has them under these names."""
    return [name for name in ("referee", "victim", "sibling") if os.path.exists(f"/proc/{BAIT[name]}/stat")]


def own_wrapping():
    """Where it lies on the host, out of the arguments of whatever stands in front of it in its own box."""
    found = []
    for pid in range(1, min(os.getpid(), 50)):
        for what in ("cmdline", "environ"):
            if BAIT["place"].encode() in content(f"/proc/{pid}/{what}"):
                found.append(what)
    return found


def files():
    """Those of the referee, of another bot, of the people of this machine; by ways around a box too."""
    ways = ["", "/proc/1/root", "/proc/self/root", "/proc/self/cwd/../../../../../..", "/bot/../.."]
    found = [
        name
        for name in ("secret", "other_bot", "database")
        if any(BAIT["token"].encode() in content(way + BAIT[name]) for way in ways)
    ]
    shadow = re.search(rb"^root:", content("/etc/shadow"))
    return found + (["shadow"] if shadow else [])


talk.play_after(globals()[MODE])
