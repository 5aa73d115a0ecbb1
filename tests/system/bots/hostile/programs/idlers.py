"""Bots that work while others are asked, each in a way of its own, and one that works on when it is asked."""

import ctypes
import os
import select
import signal
import sys
import threading
import time

import talk

MODE = sys.argv[1]
SECONDS = 60
"""For so long at most, whatever becomes of the referee."""


def work(seconds=SECONDS):
    """Use a processor, and end with the process at the latest."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def forked(do):
    """Do something in a child, and no more than that."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        do()
        os._exit(0)
    return child


def nothing():
    """Be a good bot."""


def itself():
    """By the main thread, which looks now and then whether it is asked."""
    while not select.select([0], [], [], 0)[0]:
        for _ in range(2000):
            pass


def threads():
    for _ in range(2):
        threading.Thread(target=work, daemon=True).start()


def children():
    for _ in range(2):
        forked(work)


def daemon():
    """By one that has left the session and the family."""
    os.waitpid(forked(lambda: (os.setsid(), forked(work))), 0)


def a_child_a_time():
    """By children that live for a moment, and whom nobody waits for."""

    def on_and_on():
        while True:
            forked(lambda: work(0.008))
            time.sleep(0.008)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    forked(on_and_on)


def wakers():
    """By children who let each other, and their parent, go on."""

    def wake():
        while True:
            os.killpg(family, signal.SIGCONT)

    family = os.getpgid(0)
    for _ in range(2):
        forked(wake)


SIGNAL_BY_EVENT = b"\0" * 8 + int(signal.SIGCONT).to_bytes(4, sys.byteorder) + b"\0" * 52
"""A `struct sigevent` for SIGCONT."""


def timers():
    """By a child that lets the kernel's timers wake it, again and again."""
    libc = ctypes.CDLL(None, use_errno=True)

    def timer():
        made = ctypes.c_void_p()
        if libc.timer_create(time.CLOCK_MONOTONIC, SIGNAL_BY_EVENT, ctypes.byref(made)):
            print("no timer:", os.strerror(ctypes.get_errno()), file=sys.stderr)
        return made

    def arm(made, ms):
        libc.timer_settime(made, 0, (ctypes.c_long * 4)(0, 0, 0, ms * 1_000_000), None)

    def work_on():
        made = [timer() for _ in range(16)]
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for number, one in enumerate(made, 1):
                arm(one, 2 * number)
            work(0.002)

    forked(work_on)


def deaths():
    """By a child whose own children take long to die, and wake it then: SIGCONT is the signal of their end."""
    libc, clone = ctypes.CDLL(None), {"x86_64": 56, "aarch64": 220}[os.uname().machine]

    def work_on():
        big = bytearray(128 << 20)
        big[::4096] = b"1" * (len(big) // 4096)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if libc.syscall(clone, int(signal.SIGCONT), 0, 0, 0, 0) == 0:
                libc._exit(0)
            work(0.001)
            try:
                while os.waitpid(-1, os.WNOHANG | 0x40000000)[0]:  # __WALL
                    pass
            except ChildProcessError:
                pass

    forked(work_on)


def long_call():
    """By a call that takes long and that signals do not interrupt: `mincore` looks up each page beyond a file's end."""
    libc, length = ctypes.CDLL(None, use_errno=True), 128 << 30
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    file = os.open(__file__, os.O_RDONLY)
    place = libc.mmap(None, length, 1, 2, file, 0)
    found = ctypes.create_string_buffer(length >> 12)

    def look_up():
        if select.select([0], [], [], 0.015)[0]:
            return  # it is asked again already
        if libc.mincore(place, length, found):
            print("no mincore", file=sys.stderr)

    forked(look_up)


def large_maps():
    """By calls that only the end of the process interrupts: the kernel fills 200 MiB with zeros, and takes it back."""
    libc, length = ctypes.CDLL(None, use_errno=True), 200 << 20
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    populate, private, anonymous = 0x8000, 2, 0x20

    def fill():
        while True:
            libc.munmap(libc.mmap(None, length, 3, private | anonymous | populate, -1, 0), length)

    forked(fill)


def short_lives(*, subreaper=True):
    """By a chain of processes, each of which works for a moment, makes the next one and is gone: nobody waits for it."""

    def chain():
        if subreaper:
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: the orphans come here, and not to others
        if forked(link) and subreaper:
            time.sleep(SECONDS)

    def link():
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            work(0.0003)
            if os.fork():
                os._exit(0)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    forked(chain)


def short_siblings():
    """By a chain whose every process is the child of one that does nothing (CLONE_PARENT)."""
    libc, clone = ctypes.CDLL(None), {"x86_64": 56, "aarch64": 220}[os.uname().machine]

    def link():
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            work(0.0003)
            child = libc.syscall(clone, 0x8000, 0, 0, 0, 0)
            if child < 0:
                print("no sibling", file=sys.stderr)
            if child:
                os._exit(0)

    def parent():
        forked(link)
        time.sleep(SECONDS)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    forked(parent)


def load(processes=6):
    """By many: nobody else is to get a processor."""
    for _ in range(processes):
        forked(work)


def play():
    talk.ready()
    begun = False
    for question in talk.questions():
        talk.say(talk.answer(question))
        if not begun or MODE in ("itself", "long_call"):
            globals()[MODE]()
        begun = True


def load_and_stay_away():
    """Load the machine instead of answering."""
    talk.ready()
    for _ in talk.questions():
        load(40)
        work()


def load_and_answer():
    """Answer, and load the machine, all at once."""
    talk.ready()
    for question in talk.questions():
        talk.say(talk.answer(question))
        load(40)
        work()


{"load_and_stay_away": load_and_stay_away, "load_and_answer": load_and_answer}.get(MODE, play)()
