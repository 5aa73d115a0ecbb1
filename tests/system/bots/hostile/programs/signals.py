"""Two of these try to tell each other something past the referee; the arguments name the way, and a word for it.

Seat 0 tells, seat 1 looks whether it was told, at every question; what it notes is what it could hear.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct
import sys
import time

import talk

WAY, WORD = sys.argv[1:3]
LIBC = ctypes.CDLL(None, use_errno=True)
HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = {"own": f"{HERE}/talk.py", "system": os.path.realpath(sys.executable)}
ADD_KEY, KEYCTL, USER_KEYRING, SEARCH, SET_TIMEOUT = 248, 250, -4, 10, 15
UNREAD = f"{HERE}/unread"
NUMBER = int.from_bytes(WORD.encode()[-3:], "big")
WRITE_LOCK = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, NUMBER, 1, 0)
F_OFD_SETLK, F_GET_RW_HINT, F_SET_RW_HINT, SHORT_LIVED = 37, 1035, 1036, 2
STARTED = time.time()
held = {}


def flock_tell():
    for name, path in SHARED.items():
        held[name] = os.open(path, os.O_RDONLY)
        fcntl.flock(held[name], fcntl.LOCK_EX | fcntl.LOCK_NB)


def flock_hear():
    heard = []
    for name, path in SHARED.items():
        with open(path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                heard.append(name)
    return heard


def record_lock_tell():
    for name, path in SHARED.items():
        held[name] = os.open(path, os.O_RDONLY)
        fcntl.lockf(held[name], fcntl.LOCK_SH | fcntl.LOCK_NB, 1, NUMBER)


def record_lock_hear():
    """Whoever may not write may still ask whether a lock for writing would find another's."""
    heard = []
    for name, path in SHARED.items():
        with open(path, "rb") as file:
            asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, NUMBER, 1, 0)
            found = fcntl.fcntl(file, fcntl.F_GETLK, asked)
            if struct.unpack_from("h", found)[0] != fcntl.F_UNLCK:
                heard.append(name)
    return heard


def taken_lock(command):
    """A lock on one byte of a device that all boxes have: the second process that wants it does not get it."""

    def lock():
        held["device"] = held.get("device") or os.open("/dev/null", os.O_RDWR)
        fcntl.fcntl(held["device"], command, WRITE_LOCK)

    def hear():
        try:
            lock()
        except (BlockingIOError, PermissionError) as error:
            return ["taken"] if error.errno in (errno.EAGAIN, errno.EACCES) else []
        fcntl.fcntl(held["device"], command, struct.pack("hhqqi4x", fcntl.F_UNLCK, os.SEEK_SET, NUMBER, 1, 0))
        return []

    return lock, hear


def listed_lock_hear():
    with open("/proc/locks") as file:
        return ["listed"] if any(line.split()[-2:] == [str(NUMBER)] * 2 for line in file) else []


def device_time_tell():
    os.utime("/dev/full")


def device_time_hear():
    return ["touched"] if os.stat("/dev/full").st_mtime >= STARTED else []


def write_hint_tell():
    with open(SHARED["own"], "rb") as file:
        fcntl.fcntl(file, F_SET_RW_HINT, struct.pack("Q", SHORT_LIVED))


def write_hint_hear():
    with open(SHARED["own"], "rb") as file:
        (hint,) = struct.unpack("Q", fcntl.fcntl(file, F_GET_RW_HINT, bytes(8)))
    return ["hint"] if hint == SHORT_LIVED else []


def watch_tell():
    for path in SHARED.values():
        os.close(os.open(path, os.O_RDONLY))


def watch_hear():
    """Whether anybody has opened a file since the question before."""
    if "watch" not in held:
        held["watch"] = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in SHARED.values():
            LIBC.inotify_add_watch(held["watch"], path.encode(), 0x20)
        return []
    try:
        return ["opened"] if os.read(held["watch"], 4096) else []
    except OSError:
        return []


def access_time_tell():
    with open(UNREAD, "rb") as file:
        file.read()


def access_time_hear():
    """Whether a file of which nobody had read was read; its time says 1970 until then."""
    return ["read"] if os.stat(UNREAD).st_atime > 1 else []


def a_file(folder):
    def tell():
        open(f"{folder}/{WORD}", "w").close()

    def hear():
        return ["exists"] if os.path.exists(f"{folder}/{WORD}") else []

    return tell, hear


def abstract_tell():
    held["socket"] = socket.socket(socket.AF_UNIX)
    held["socket"].bind("\0" + WORD)
    held["socket"].listen()


def abstract_hear():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + WORD)
        return ["connected"]


def tcp_tell():
    held["socket"] = socket.socket()
    held["socket"].bind(("127.0.0.1", 20_000 + NUMBER % 10_000))
    held["socket"].listen()


def tcp_hear():
    with socket.socket() as one:
        one.settimeout(0.5)
        one.connect(("127.0.0.1", 20_000 + NUMBER % 10_000))
        return ["connected"]


def keyring_tell():
    key = LIBC.syscall(ADD_KEY, b"user", WORD.encode(), b"x", ctypes.c_size_t(1), USER_KEYRING)
    if key > 0:
        LIBC.syscall(KEYCTL, SET_TIMEOUT, key, 20)


def keyring_hear():
    key = LIBC.syscall(KEYCTL, SEARCH, USER_KEYRING, b"user", WORD.encode(), 0)
    return ["found"] if key > 0 else []


def shared_memory_tell():
    held["id"] = LIBC.shmget(NUMBER, 4096, 0o1666)


def shared_memory_hear():
    found = LIBC.shmget(NUMBER, 4096, 0)
    if found >= 0:
        LIBC.shmctl(found, 0, None)
    return ["found"] if found >= 0 else []


WAYS = {
    "flock": (flock_tell, flock_hear),
    "record_lock": (record_lock_tell, record_lock_hear),
    "taken_lock": taken_lock(fcntl.F_SETLK),
    "open_lock": taken_lock(F_OFD_SETLK),
    "listed_lock": (taken_lock(F_OFD_SETLK)[0], listed_lock_hear),
    "device_time": (device_time_tell, device_time_hear),
    "write_hint": (write_hint_tell, write_hint_hear),
    "watch": (watch_tell, watch_hear),
    "access_time": (access_time_tell, access_time_hear),
    "dev_shm": a_file("/dev/shm"),
    "tmp": a_file("/tmp"),
    "own_folder": a_file(HERE),
    "abstract": (abstract_tell, abstract_hear),
    "tcp": (tcp_tell, tcp_hear),
    "keyring": (keyring_tell, keyring_hear),
    "shared_memory": (shared_memory_tell, shared_memory_hear),
}


def main():
    tell, hear = WAYS[WAY]
    heard, told = set(), False
    talk.ready()
    for question in talk.questions():
        try:
            if question["seat"] == 1:
                heard.update(hear())
            elif not told or WAY in ("watch", "device_time"):
                told = True
                tell()
        except OSError as error:
            print(errno.errorcode[error.errno], error, file=sys.stderr, flush=True)
        talk.say(talk.answer(question, note="could: " + " ".join(sorted(heard))))


main()
