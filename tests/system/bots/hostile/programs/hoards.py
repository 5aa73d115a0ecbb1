"""Tries to take more of the machine than its share and notes how much it got; its argument says of what.

Everything is bounded here too, for where nothing contains it: 200 processes, 200 MB of disk, 40 MB of memory disk.
"""

import os
import signal
import sys
import threading

import talk

MODE, BAIT = sys.argv[1], talk.bait()
PROCESSES, MB = 200, 1 << 20
PLACES = {"HOME": 200, "/tmp": 100, "/var/tmp": 40, "/dev/shm": 40, "/bot": 40, "/run": 40, "/dev": 1}


def processes():
    """A fork bomb, whose processes sleep."""
    made = 0
    for _ in range(PROCESSES):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            os.closerange(0, 3)
            signal.alarm(60)
            signal.pause()
            os._exit(0)
        made += 1
    return ["all"] if made == PROCESSES else []


def threads():
    gate = threading.Event()
    threading.stack_size(1 << 16)
    try:
        for _ in range(PROCESSES):
            threading.Thread(target=gate.wait, daemon=True).start()
    except RuntimeError:
        return []
    finally:
        gate.set()
    return ["all"]


def a_place(folder, most):
    """How many MB of `most` go into a folder, in files of 8 MB."""
    written = 0
    try:
        os.mkdir(os.path.join(folder, BAIT["token"]))
        while written < most:
            with open(f"{folder}/{BAIT['token']}/{written}", "wb", buffering=0) as file:
                for _ in range(min(8, most - written)):
                    if file.write(bytes(MB)) < MB:
                        return written
                    written += 1
    except OSError:
        pass
    return written


def disk():
    """All that it gets at once, in all places: more than the box's 32 MB of /tmp and 8 of /dev/shm, or not."""
    got = sum(a_place(os.environ["HOME"] if place == "HOME" else place, most) for place, most in PLACES.items())
    return ["more_than_40_MB"] if got > 40 else []


def a_large_file():
    """More than 16 MiB in one."""
    try:
        with open(os.environ["HOME"] + "/large", "wb") as file:
            os.truncate(file.fileno(), 17 << 20)
    except OSError:
        return []
    return ["17_MiB"]


def descriptors():
    held = []
    try:
        while len(held) < 500:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    for one in held:
        os.close(one)
    return ["all"] if len(held) == 500 else []


def memory_disk():
    """Memory that is nobody's: a file in memory that no limit of a process counts."""
    try:
        held = os.memfd_create("hoard")
        os.posix_fallocate(held, 0, 15 << 20)
    except OSError:
        return []
    return ["memfd"]


talk.play_after(globals()[MODE])
