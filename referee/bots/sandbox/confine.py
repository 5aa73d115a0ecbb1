"""A program of its own, by which a process gives up what it may do, and then becomes a bot: the tier C.

`python -I -S confine.py JSON PROGRAM ARGUMENT…` lets the process read and write only what JSON names (Landlock), sets
its limits, drops its user, filters its system calls, ties it to its parent, and executes the program. It reports to a
descriptor that the program does not get: READY before it is executed, then the number of the error if that failed. It
imports little, since every start of a bot waits for it, and nothing of the referee's, which the user it becomes may not
read.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import sys
from typing import Any, NoReturn

_PDEATHSIG, _NO_NEW_PRIVS, _SECCOMP, _FILTER_MODE = 1, 38, 22, 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_READ, _READ_AND_EXECUTE = 1 << 2 | 1 << 3, 1 << 0 | 1 << 2 | 1 << 3
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14
"""The rights to a file that is not a folder: execute, write, read, truncate."""
_MOST = {1: 13, 2: 14, 3: 15, 4: 15}
"""By version of Landlock: how many kinds of access it knows, from the first on."""
_LATEST = 16
_NET_SINCE, _SCOPES_SINCE = 4, 6

READY = b"ready "
"""Written to `report` when all is set."""

_libc = ctypes.CDLL(None, use_errno=True)


def main(settings: dict[str, Any], command: list[str]) -> NoReturn:
    """Become the bot, or say on stderr why not, as setpriv does."""
    report = settings["report"]
    os.set_inheritable(report, False)
    _must(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _landlock(settings["execute"], settings["write"], network=settings["network"], newest=settings["landlock"])
    for kind, soft, hard in settings["limits"]:
        resource.setrlimit(kind, (soft, hard))
    if settings["user"] is not None:
        os.setgroups([])
        os.setresgid(*[settings["user"]] * 3)
        os.setresuid(*[settings["user"]] * 3)
    _must(_libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != settings["parent"]:
        os._exit(1)
    _filter(bytes.fromhex(settings["filter"]))
    os.write(report, READY)
    try:
        os.execv(command[0], command)  # noqa: S606
    except OSError as error:
        os.write(report, b"%d" % (error.errno or 0))
        print(f"confine: failed to execute {command[0]}: {os.strerror(error.errno or 0)}", file=sys.stderr)  # noqa: T201
        os._exit(127)


def _landlock(execute: list[str], write: list[str], *, network: bool, newest: int) -> None:
    version = min(newest, _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG))
    if version < 1:
        raise OSError("Landlock is not there")
    handled = (1 << _MOST.get(version, _LATEST)) - 1
    net = 3 if version >= _NET_SINCE else 0
    scopes = 3 if version >= _SCOPES_SINCE else 0
    # A network that is not handled is allowed; what comes after it in the structure still needs its place.
    fields = [handled, *([0 if network else net] if net else []), *([scopes] if scopes else [])]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    rules = _must(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    for place in execute:
        _allow(rules, place, _READ_AND_EXECUTE & handled)
    for place in write:
        _allow(rules, place, handled)
    _must(_libc.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def _allow(rules: int, place: str, access: int) -> None:
    try:
        descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(place):  # noqa: PTH112 - pathlib takes milliseconds
        access &= _OF_FILES
    _must(_libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0))
    os.close(descriptor)


def _filter(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _must(_libc.prctl(_SECCOMP, _FILTER_MODE, header, 0, 0))


def _must(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
