"""Lets its time run out when it is asked; its argument says how."""

import os
import signal
import sys
import time

import talk


def thinks_for_ever(question):
    talk.forever()


def fills_its_stdin(question):
    """Never reads again, in a pipe that takes no more. In a box of root's the pipe is not the bot's to fill."""
    try:
        end = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
    except PermissionError:
        end = None
    talk.say(talk.answer(question))
    try:
        while end is not None:
            os.write(end, b"x" * 4096)
    except BlockingIOError:
        pass
    talk.forever()


def half_a_line(question):
    talk.say(talk.answer(question).encode()[:10])
    talk.forever()


def no_newline(question):
    talk.say(talk.answer(question).encode())
    talk.forever()


def one_byte_every_50_ms(question):
    for byte in talk.answer(question, note="x" * 150).encode():
        talk.say(bytes([byte]))
        time.sleep(0.05)


def stops_itself(question):
    os.kill(os.getpid(), signal.SIGSTOP)


def closes_stdin(question):
    talk.say(talk.answer(question))
    os.close(0)
    talk.forever()


def floods_stderr(question):
    while True:
        os.write(2, b"x" * 65536)


def answers_too_late(question):
    time.sleep(0.6)
    talk.say(talk.answer(question))


def answers_the_first_too_late_and_the_second_in_time(question):
    if not hasattr(talk, "late"):
        talk.late = True
        time.sleep(0.6)
    talk.say(talk.answer(question))


def does_not_flush(question):
    sys.stdout.write(talk.answer(question) + "\n")
    talk.forever()


def computes_for_ever(question):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        pass


talk.play(globals()[sys.argv[1]])
