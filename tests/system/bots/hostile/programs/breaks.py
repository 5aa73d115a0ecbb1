"""Tries to harm what is not its own and notes what it could; its arguments say what, and what there is to harm.

What would harm the machine where nothing contains it is tried on what was put there for it only.
"""

import ctypes
import os
import resource
import select
import signal
import socket
import sqlite3
import sys

import talk

MODE, BAIT = sys.argv[1], talk.bait()
LIBC = ctypes.CDLL(None, use_errno=True)
SEIZE, DETACH = 0x4206, 17
NAMESPACES = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "network": 0x40000000, "ipc": 0x08000000}
IS_BOXED = os.getpid() < 50
"""Whether this is a process of a namespace of its own: without, what it would kill is the machine."""


def done(call, *arguments):
    try:
        call(*arguments)
    except (OSError, sqlite3.Error):
        return False
    return True


def killing():
    """The referee is asked only whether it could be."""
    could = [name for name in ("victim", "sibling") if done(os.kill, BAIT[name], signal.SIGKILL)]
    return could + (["referee"] if done(os.kill, BAIT["referee"], 0) else [])


def stopping():
    return [name for name in ("victim", "sibling") if done(os.kill, BAIT[name], signal.SIGSTOP)]


def killing_its_parent():
    """In a box only: the others are told of by what happens to the game."""
    if not IS_BOXED:
        return ["parent"]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        done(os.kill, os.getppid(), number)
    return []


def killing_all():
    """In a box only. Linux leaves out who calls, and the first process of a namespace."""
    if not IS_BOXED:
        return ["all"]
    done(os.kill, -1, signal.SIGKILL)
    return []


def tracing():
    could = []
    for name in ("victim", "sibling"):
        if LIBC.ptrace(SEIZE, BAIT[name], None, None) == 0:
            could.append(name)
    return could


def namespaces():
    """Each in a thread, or a child where a thread may not; none outlives the attempt."""
    could = []
    for name, flag in NAMESPACES.items():
        child = os.fork()
        if child == 0:
            os._exit(0 if LIBC.unshare(flag) == 0 or LIBC.unshare(flag | NAMESPACES["user"]) == 0 else 1)
        if os.waitpid(child, 0)[1] == 0:
            could.append(name)
    return could


def leaving_its_core():
    """A pinned bot has one core; what it can have more of it takes."""
    own = os.sched_getaffinity(0)
    done(os.sched_setaffinity, 0, range(os.cpu_count()))
    return ["more"] if os.sched_getaffinity(0) != own else []


def priorities():
    could = ["nice"] if done(os.setpriority, os.PRIO_PROCESS, 0, -5) else []
    could += ["realtime"] if done(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)) else []
    if "realtime" in could:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return could


def limits():
    """Limits of other processes; a core file of 0 bytes, which harms nothing where it succeeds."""
    core = (resource.RLIMIT_CORE, (0, 0))
    return [name for name in ("victim", "sibling") if done(resource.prlimit, BAIT[name], *core)]


def slowing():
    """Giving others the last place in the queue for the processor."""
    return [name for name in ("victim", "sibling") if done(os.setpriority, os.PRIO_PROCESS, BAIT[name], 19)]


def modes():
    """What Landlock does not cover: modes, owners and attributes of files that may not even be read."""

    def mode(path):
        before = os.stat(path).st_mode
        os.chmod(path, 0o666)
        if os.stat(path).st_mode == before:
            raise OSError("nothing was done")
        os.chmod(path, before)

    def attribute(path):
        os.setxattr(path, "user.mark", b"x")
        os.removexattr(path, "user.mark")
        try:
            os.removexattr(path, "user.mark")
        except OSError:
            return  # it was there once
        raise OSError("nothing was done")

    tries = {"mode": mode, "attribute": attribute}
    return [
        f"{name} of {path}"
        for name, call in tries.items()
        for path in ("database", "other_bot")
        if done(call, BAIT[path])
    ]


def times():
    before = {name: os.stat(BAIT[name]).st_mtime for name in ("database", "other_bot") if os.path.exists(BAIT[name])}
    could = []
    for name, was in before.items():
        done(os.utime, BAIT[name], (1, 1))
        if os.stat(BAIT[name]).st_mtime != was:
            could.append(name)
    return could


def the_database():
    """By SQL, and by bytes."""

    def insert():
        with sqlite3.connect(BAIT["database"], timeout=0.2) as connection:
            connection.execute("insert into games values ('mine')")

    def append():
        with open(BAIT["database"], "ab") as file:
            file.write(b"")

    return [call.__name__ for call in (insert, append) if done(call)]


def files():
    """Its own folder, other bots', and the places where anybody may write."""

    def write(folder):
        with open(os.path.join(folder, BAIT["token"]), "w") as file:
            file.write("mine")

    places = {
        "own_folder": os.path.dirname(os.path.abspath(__file__)),
        "other_bot": os.path.dirname(BAIT["other_bot"]),
        "beside_the_database": os.path.dirname(BAIT["database"]),
    }
    return [name for name, folder in places.items() if done(write, folder)]


def networks():
    """A server of the referee's machine, by TCP, UDP and the two kinds of Unix sockets."""

    def connect(family, kind, address):
        with socket.socket(family, kind) as one:
            one.settimeout(0.5)
            one.connect(address)
            one.send(b"x")

    inet, unix = socket.AF_INET, socket.AF_UNIX
    tries = {
        "tcp": (inet, socket.SOCK_STREAM, ("127.0.0.1", BAIT["port"])),
        "abstract": (unix, socket.SOCK_STREAM, "\0" + BAIT["token"]),
        "path": (unix, socket.SOCK_STREAM, BAIT["socket"]),
    }
    return [name for name, arguments in tries.items() if done(connect, *arguments)]


def datagrams():
    """A pair of sockets is asked for nothing, and one end of it sends to any address."""

    def send(kind, address):
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        with one, other:
            if one.sendto(b"x", socket.MSG_DONTWAIT, address) != 1 or other in select.select([other], [], [], 0)[0]:
                raise OSError("it went to the other end")

    kinds = {"datagram": socket.SOCK_DGRAM, "packet": socket.SOCK_SEQPACKET, "stream": socket.SOCK_STREAM}
    could = []
    for name, kind in kinds.items():
        could += [f"{name} {where}" for where in ("mailbox", "socket") if done(send, kind, BAIT[where])]
    return could


def burning():
    """All cores, while others move: for 3 s at most."""
    for _ in range(4):
        if os.fork() == 0:
            signal.alarm(3)
            while True:
                pass
    return ["burn"]


talk.play_after(globals()[MODE])
