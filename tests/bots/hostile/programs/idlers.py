"""Bots that work while others are asked, each in a way of its own, and one that works on when it is asked."""

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


def load(processes=6):
    """By many: nobody else is to get a processor."""
    for _ in range(processes):
        forked(work)


def play():
    talk.ready()
    begun = False
    for question in talk.questions():
        talk.say(talk.answer(question))
        if not begun or MODE == "itself":
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
