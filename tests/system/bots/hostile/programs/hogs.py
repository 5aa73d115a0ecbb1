"""Never answers, and lets its own processes wait for each other, or for nothing; its argument says how."""

import ctypes
import os
import signal
import sys
import threading
import time

import talk

SECONDS = 30


def work(seconds=SECONDS):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def sleeps(question):
    talk.forever()


def works(question):
    work()


def works_in_threads(question):
    for _ in range(20):
        threading.Thread(target=work, daemon=True).start()
    work()


def works_in_children(question):
    for _ in range(20):
        if os.fork() == 0:
            work()
            os._exit(0)
    work()


def wakes_all_at_once(question):
    """Twenty threads want a processor at the same moments, and none in between."""

    def pulse():
        while True:
            time.sleep(0.05 - time.monotonic() % 0.05)
            work(0.001)

    for _ in range(20):
        threading.Thread(target=pulse, daemon=True).start()
    pulse()


def works_in_a_chain(question):
    """One waits for the processor, which others use that live for a moment and that nobody waits for."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    for _ in range(4):
        if os.fork() == 0:
            signal.alarm(SECONDS)
            while True:
                work(0.0003)
                if os.fork():
                    os._exit(0)
    work()


talk.play(globals()[sys.argv[1]])
