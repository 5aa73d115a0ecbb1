"""A bot that looks around in its box and tries what no box allows; prints one JSON object of what it found.

`python escape.py NAME…` tries the named attempts; each gives what it could do, or the name of the error. Standard
library alone: in a box there is nothing else.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import select
import signal
import socket
import stat
import struct
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = libc.mmap.restype = ctypes.c_long
X86 = platform.machine() == "x86_64"
MIB = 1 << 20


def call(x86, aarch64, *arguments):
    if libc.syscall(ctypes.c_long(x86 if X86 else aarch64), *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "")
    return "done"


def mapped(flags, size=4096, descriptor=-1):
    got = libc.mmap(None, ctypes.c_size_t(size), 3, flags, descriptor, ctypes.c_long(0))
    if got == -1:
        raise OSError(ctypes.get_errno(), "")
    return "done"


def status(key):
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith(key + ":"))


def privileges():
    keys = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    return {
        "capabilities": sum(int(status(key), 16) for key in keys),
        "no_new": status("NoNewPrivs"),
        "seccomp": status("Seccomp"),
    }


def user():
    return [*os.getresuid(), *os.getresgid(), *os.getgroups()]


def descriptors():
    return sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}"))


def environment():
    return dict(os.environ)


def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())


def first_environment():
    return open("/proc/1/environ").read()


def counters():
    found = []
    names = "locks pressure/cpu sys/fs/file-nr sys/fs/aio-nr vmstat zoneinfo buddyinfo interrupts softirqs diskstats schedstat"
    for path in [f"/proc/{name}" for name in names.split()]:
        with contextlib.suppress(OSError), open(path) as file:
            found += [path] if file.read() else []
    return found


def root():
    return sorted(os.listdir("/"))


def etc():
    return sorted(os.listdir("/etc"))


def devices():
    return sorted(os.listdir("/dev"))


def own_folder():
    return [os.getcwd(), sorted(os.listdir("/bot"))]


def interfaces():
    return [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]


def limits():
    kinds = ("DATA", "STACK", "NPROC", "FSIZE", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO")
    return {
        kind: resource.getrlimit(getattr(resource, f"RLIMIT_{kind}", 14 if kind == "RTPRIO" else 12)) for kind in kinds
    }


def writable():
    found = []
    for place in (
        "/",
        "/bot",
        "/usr",
        "/usr/bin",
        "/etc",
        "/dev",
        "/proc/sys/kernel",
        "/tmp",
        "/dev/shm",
        "/var",
        "/run",
        "/home",
    ):
        try:
            with open(f"{place}/written", "w"):
                found.append(place)
        except OSError:
            pass
    return found


def fill(place, most):
    written = 0
    try:
        for number in range(most):
            with open(f"{place}/{number}", "wb") as file:
                for _ in range(8):
                    written += file.write(b"x" * MIB)
    except OSError as error:
        return [written // MIB, errno.errorcode[error.errno]]
    return written // MIB


def fill_tmp():
    return fill("/tmp", 100)


def fill_shm():
    return fill("/dev/shm", 100)


def large_file():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    written = 0
    try:
        with open("/tmp/large", "wb", buffering=0) as file:
            while written < 100 * MIB:
                written += file.write(b"x" * MIB)
    except OSError as error:
        return [written // MIB, errno.errorcode[error.errno]]
    return written // MIB


def memory():
    held = []
    try:
        while len(held) < 4096:
            held.append(bytearray(MIB))
    except MemoryError:
        return "MemoryError" if 400 < len(held) < 512 else len(held)
    return len(held)


def cgroups():
    """What can be seen and written of groups: names of one's own, mounts, and files that could be written."""
    found = {"named": [], "mounted": [], "written": []}
    with open("/proc/self/cgroup") as file:
        found["named"] = [line for line in file if line.strip().split(":", 2)[2] != "/"]
    with open("/proc/self/mountinfo") as file:
        found["mounted"] = [line for line in file if " - cgroup" in line]
    top = "/sys/fs/cgroup"
    for place in (top, f"{top}/memory", f"{top}/unified", f"/proc/self/root{top}"):
        for name, value in (
            ("cgroup.procs", "0"),
            ("tasks", "0"),
            ("memory.max", "max"),
            ("memory.limit_in_bytes", "-1"),
        ):
            try:
                with open(f"{place}/{name}", "w") as file:
                    file.write(value)
                found["written"].append(f"{place}/{name}")
            except OSError:
                pass
    return found


def crowd():
    """How many of sixty processes hold 8 MiB each when all have tried, and how many were killed for it."""
    here, there = os.pipe()
    children, killed = {}, 0
    for _ in range(60):
        mine, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            held = bytearray(8 * MIB)
            for page in range(0, len(held), 4096):
                held[page] = 1
            for _ in range(2):
                os.write(there, struct.pack("i", os.getpid()))
                os.read(mine, 1)
            os._exit(len(held) & 1)
        os.close(mine)
        children[pid] = theirs
    for _ in range(2):  # whoever answers the second time has lived through everybody's first
        silent = set(children)
        while silent:
            if select.select([here], [], [], 0.01)[0]:
                silent.discard(struct.unpack("i", os.read(here, 4))[0])
                continue
            ended, how = os.waitpid(-1, os.WNOHANG)
            if ended:
                assert os.WTERMSIG(how) == signal.SIGKILL, how
                silent.discard(ended)
                del children[ended]
                killed += 1
        for theirs in children.values():
            with contextlib.suppress(BrokenPipeError):  # it was killed meanwhile
                os.write(theirs, b"x")
    return {"killed": killed, "holding": len(children)}


def many_files():
    made = 0
    try:
        for made in range(200_000):
            os.close(os.open(f"/tmp/{made}", os.O_CREAT | os.O_WRONLY))
    except OSError as error:
        return errno.errorcode[error.errno]
    return made + 1


def reserve():
    return mapped(mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, 4096) and reserved(64 << 30)


def reserved(size):
    got = libc.mmap(None, ctypes.c_size_t(size), 0, 0x4022, -1, ctypes.c_long(0))
    return "done" if got != -1 else errno.errorcode[ctypes.get_errno()]


def processes_at_once():
    children = []
    try:
        while len(children) < 1000:
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    except OSError as error:
        return [errno.errorcode[error.errno], len(children)]
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def threads_at_once():
    stop = threading.Event()
    begun = 0
    try:
        while begun < 1000:
            threading.Thread(target=stop.wait, daemon=True).start()
            begun += 1
    except RuntimeError:
        return begun
    finally:
        stop.set()
    return begun


def raise_limits():
    raised = []
    for kind in ("DATA", "NPROC", "FSIZE", "NOFILE"):
        number = getattr(resource, f"RLIMIT_{kind}")
        most = resource.getrlimit(number)[1]
        try:
            resource.setrlimit(number, (most + 1, most + 1))
            raised.append(kind)
        except (OSError, ValueError):
            pass
    return raised


def unpin():
    os.sched_setaffinity(0, range(os.cpu_count()))
    return sorted(os.sched_getaffinity(0))


def affinity():
    return sorted(os.sched_getaffinity(0))


def tcp():
    with socket.create_connection(("1.1.1.1", 53), 1):
        return "done"


def opened(path):
    """Whether it could be written to; nothing is."""
    os.close(os.open(path, os.O_WRONLY))
    return "done"


def linked():
    os.link("/usr/bin/env", os.environ["HOME"] + "/linked")
    return "done"


def device_node():
    os.mknod(os.environ["HOME"] + "/disk", stat.S_IFBLK | 0o600, os.makedev(8, 0))
    return "done"


def typed():
    """Into the terminal, where there is one, as if somebody had."""
    fcntl.ioctl(0, 0x5412, b"x")
    return "done"


def spared():
    """Not the first to go any more where memory runs out."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("0")
    return "done"


def advised(advice):
    """Advice about the first page of a file that every box has."""
    with open(sys.executable, "rb") as file:
        pages = libc.mmap(None, ctypes.c_size_t(4096), 1, mmap.MAP_PRIVATE, file.fileno(), ctypes.c_long(0))
    return call(28, 233, pages, 4096, advice)


def commanded(command, argument=0):
    with open(__file__, "rb") as file:
        fcntl.fcntl(file, command, argument)
    return "done"


def controlled(path, request):
    with open(path, "rb") as file:
        fcntl.ioctl(file, request, bytes(8))
    return "done"


def read_without_waiting():
    with open(__file__, "rb") as file:
        return os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT)


def descriptor_in_flight():
    one, other = socket.socketpair()
    with one, other:
        return socket.send_fds(one, [b"x"], [0])


def larger_pipe():
    here, there = os.pipe()
    return fcntl.fcntl(there, 1031, 1 << 17) and bool(here)


ATTEMPTS = {
    "ask_for_locks": lambda: commanded(fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0)),
    "lease": lambda: commanded(fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "notices": lambda: commanded(fcntl.F_NOTIFY, 1),
    "read_hint": lambda: commanded(1035, bytes(8)),
    "write_hint": lambda: commanded(1036, struct.pack("Q", 2)),
    "write_hint_of_file": lambda: commanded(1038, struct.pack("Q", 2)),
    "signal_of_file": lambda: commanded(10, signal.SIGCONT),
    "owner_of_file": lambda: commanded(8, 1),
    "pages_in_memory": lambda: call(27, 232, 0, 0, 0),
    "pages_counted": lambda: call(451, 451, 0, 0, 0, 0),
    "read_ahead": lambda: call(187, 213, 0, 0, 4096),
    "name_in_memory": lambda: call(437, 437, -100, 0, 0, 24),
    "cool_pages": lambda: advised(20),
    "page_out": lambda: advised(21),
    "merge_pages": lambda: advised(12),
    "flags_of_file": lambda: controlled(__file__, 0x80086601),
    "random_count": lambda: controlled("/dev/urandom", 0x80045200),
    "touched": lambda: os.utime("/dev/full"),
    "asynchronous": lambda: call(206, 0, 1, 0),
    "huge_pages": lambda: mapped(mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000, 2 * MIB),
    "process_descriptor": lambda: os.pidfd_open(os.getpid()),
    "process_descriptor_by_socket": lambda: socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, 77),
    "number_of_socket": lambda: len(socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, 57, 8)),
    "process_descriptor_by_clone": lambda: call(56, 220, 0x1011, 0, 0, 0, 0),
    "barrier_for_all": lambda: call(324, 283, 1, 0, 0),
    "limits_of_parent": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE),
    "priority_of_parent": lambda: os.getpriority(os.PRIO_PROCESS, os.getppid()),
    "priority_of_user": lambda: os.getpriority(os.PRIO_USER, 0),
    "slow_parent": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    "robust_list": lambda: call(274, 100, os.getppid(), 0, 0),
    "release_memory": lambda: call(448, 448, 0, 0),
    "subreaper": lambda: call(157, 167, 36, 1, 0, 0, 0),
    "not_dumpable": lambda: call(157, 167, 4, 0, 0, 0, 0),
    "own_filter": lambda: call(157, 167, 22, 2, 0, 0, 0),
    "own_landlock": lambda: call(444, 444, 0, 0, 1),
    "future": lambda: call(999, 999),
    "add_key": lambda: call(248, 217, 0, 0, 0, 0, -3),
    "request_key": lambda: call(249, 218, 0, 0, 0, 0),
    "msgget": lambda: call(68, 186, 0, 0o1600),
    "semget": lambda: call(64, 190, 0, 1, 0o1600),
    "mq_open": lambda: call(240, 180, 0, 0, 0, 0),
    "packets": lambda: bool(socket.socket(17, socket.SOCK_RAW)),
    "kernel_crypto": lambda: bool(socket.socket(38, socket.SOCK_SEQPACKET)),
    "trace_first": lambda: call(101, 117, 0x4206, 1, 0, 0),
    "read_first": lambda: call(310, 270, 1, 0, 0, 0, 0, 0),
    "steal_descriptor": lambda: call(438, 438, 0, 0, 0),
    "enter_namespaces": lambda: call(308, 268, 0, 0x10000000),
    "unmount": lambda: call(166, 39, 0, 2),
    "pivot_root": lambda: call(155, 41, 0, 0),
    "open_filesystem": lambda: call(430, 430, 0, 0),
    "open_tree": lambda: call(428, 428, -100, 0, 1),
    "handle": lambda: call(303, 264, -100, 0, 0, 0, 0),
    "chroot": lambda: os.chroot("/tmp"),
    "clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
    "kernel_log": lambda: call(103, 116, 3, 0, 0),
    "load_module": lambda: call(175, 105, 0, 0, 0),
    "reboot": lambda: call(169, 142, 0, 0, 0, 0),
    "personality": lambda: call(135, 92, 0x0040000),
    "host_name": lambda: socket.sethostname("mine"),
    "be_root": lambda: os.setuid(0),
    "kernel_messages": lambda: opened("/dev/kmsg"),
    "memory_device": lambda: opened("/dev/mem"),
    "core_pattern": lambda: opened("/proc/sys/kernel/core_pattern"),
    "system_request": lambda: opened("/proc/sysrq-trigger"),
    "control_group": lambda: os.mkdir("/sys/fs/cgroup/mine"),
    "ptrace": lambda: call(101, 117, 0, 0, 0, 0),
    "unshare_user": lambda: call(272, 97, 0x10000000),
    "clone_user": lambda: call(56, 220, 0x10000011, 0, 0, 0, 0),
    "clone3": lambda: call(435, 435, 0, 0),
    "mount": lambda: call(165, 40, 0, 0, 0, 0, 0),
    "keyctl": lambda: call(250, 219, 0, -3, 1),
    "bpf": lambda: call(321, 280, 0, 0, 0),
    "perf": lambda: call(298, 241, 0, 0, -1, -1, 0),
    "userfaultfd": lambda: call(323, 282, 1),
    "io_uring": lambda: call(425, 425, 8, 0),
    "memfd": lambda: call(319, 279, 0, 0),
    "shmget": lambda: call(29, 194, 0, 4096, 0o1600),
    "shared_memory": lambda: mapped(mmap.MAP_SHARED | mmap.MAP_ANONYMOUS),
    "growing_memory": lambda: mapped(mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x0100),
    "dev_zero": lambda: mapped(mmap.MAP_SHARED, 4096, os.open("/dev/zero", os.O_RDWR)),
    "vsock": lambda: bool(socket.socket(40, socket.SOCK_STREAM)),
    "netlink": lambda: bool(socket.socket(16, socket.SOCK_RAW)),
    "kill_first": lambda: os.kill(1, signal.SIGKILL) or os.path.exists("/proc/1"),
    "nice": lambda: os.nice(-5),
    "scheduler": lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)),
}


def attempt(name):
    try:
        return (ATTEMPTS.get(name) or globals()[name])()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))


print(json.dumps({name: attempt(name) for name in sys.argv[1:]}), flush=True)
