"""A build that looks around and tries what no build may; `python3 builds.py MODE ARGUMENT…`. Standard library alone."""

import errno
import json
import os
import signal
import socket
import sys
import time
import urllib.request
from functools import partial


def outcome(attempt):
    """`done`, or the name of the error."""
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno, "error")
    return "done"


def touch(path):
    with open(path, "w"):
        pass


def read(path):
    with open(path) as file:
        file.read()


def append(path):
    with open(path, "a"):
        pass


def report(secret, referee, port):
    """Write down what can be seen and done."""
    found = {
        "read_secret": outcome(lambda: read(secret)),
        "list_cache": outcome(lambda: os.listdir(os.path.dirname(secret))),
        "write_beside": outcome(lambda: touch(secret + ".written")),
        "write_source": outcome(lambda: touch("/source/written")),
        "write_usr": outcome(lambda: touch("/usr/written")),
        "write_root": outcome(lambda: touch("/written")),
        "write_here": outcome(lambda: touch("written")),
        "write_home": outcome(lambda: touch(os.environ["HOME"] + "/written")),
        "read_etc": outcome(lambda: read("/etc/hostname")),
        "read_shadow": outcome(lambda: read("/etc/shadow")),
        "signal_referee": outcome(lambda: os.kill(int(referee), 0)),
        "connect": outcome(lambda: socket.create_connection(("127.0.0.1", int(port)), 5).close()),
        "home": os.environ["HOME"],
        "variables": sorted(os.environ),
        "nice": os.nice(0),
        "folder": os.getcwd(),
    }
    if outcome(lambda: os.listdir("/proc")) == "done":
        found["processes"] = len([name for name in os.listdir("/proc") if name.isdigit()])
    with open("report", "w") as file:
        json.dump(found, file)


def forever():
    print("begun", flush=True)
    time.sleep(1000)


def chatter():
    line = b"on and on " * 800 + b"\n"
    while True:
        os.write(1, line)


def fork_bomb():
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)


def fill(place):
    """Write until nothing more can be written, into files of 16 MiB."""
    block = bytes(1 << 20)
    for number in range(1 << 20):
        with open(f"{place}/{number}", "wb", 0) as file:
            for _ in range(16):
                file.write(block)


def sparse():
    """Files that are all hole, and would be large in a copy."""
    for number in range(3):
        with open(f"hole{number}", "wb") as file:
            file.truncate(512 << 20)


def daemon():
    """Leave a process of another session behind, that goes on writing to what was built."""
    with open("made", "w") as made:
        made.write("by the build\n")
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open("made", "a", 1) as made:
                made.write("by the daemon\n")
                touch("begun")
                while True:
                    made.write("by the daemon\n")
                    time.sleep(0.001)
        os._exit(0)
    while not os.path.exists("begun"):
        time.sleep(0.001)


def kill_parent():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


def kill_all():
    os.kill(-1, signal.SIGKILL)
    time.sleep(1000)


def forge():
    """Say in the name of the script that all is done, and that a step was begun that there is none of.

    That can be tried where the referee is no other user than the box; else all is done at once.
    """
    fds = f"/proc/{os.getppid()}/fd"
    known = {os.readlink("/proc/self/fd/1"), os.readlink(f"{fds}/0")}
    for number in os.listdir(fds):
        place = os.readlink(f"{fds}/{number}")
        if place.startswith("pipe:") and place not in known:
            try:
                script = os.open(f"{fds}/{number}", os.O_WRONLY)
            except PermissionError:
                return
            os.write(script, b"step 999999\nbuilt\nfailed 7\n")
    time.sleep(1000)


def special():
    """Things that a bot's folder may have, with more to them than is kept."""
    for name, mode in (("setuid", 0o6755), ("open", 0o777), ("closed", 0o600)):
        touch(name)
        os.chmod(name, mode)
    os.link("open", "same")


def fifo():
    os.mkfifo("pipe")


def bound():
    socket.socket(socket.AF_UNIX).bind("door")


def link(target):
    os.symlink(target, "out")


def deep():
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")


def many():
    for number in range(200):
        touch(str(number))


def different():
    with open("made", "wb") as made:
        made.write(os.urandom(16))


def fetch(address):
    with urllib.request.urlopen(address, timeout=10) as answer, open("fetched", "wb") as file:
        file.write(answer.read())


def told(*files):
    """Write down what stands in the environment, and which files can be read and written."""
    found = {file: [outcome(partial(read, file)), outcome(partial(append, file))] for file in files}
    with open("told", "w") as file:
        json.dump({"variables": dict(os.environ), "files": found}, file)


globals()[sys.argv[1]](*sys.argv[2:])
