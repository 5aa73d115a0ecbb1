"""Ends, or its stdout does, when it is asked; its argument says how."""

import mmap
import os
import signal
import sys

import talk


def exits(question):
    print("Traceback: it broke here", file=sys.stderr)
    sys.exit(7)


def exits_with_zero(question):
    sys.exit(0)


def segfaults(question):
    os.kill(os.getpid(), signal.SIGSEGV)


def kills_itself(question):
    os.kill(os.getpid(), signal.SIGKILL)


def closes_stdout_and_lives(question):
    os.close(1)
    talk.forever()


def closes_everything_and_exits(question):
    os.closerange(0, 3)
    os._exit(0)


def answers_and_exits(question):
    talk.say(talk.answer(question))
    os._exit(0)


def eats_memory(question):
    """A gigabyte at most, never touched."""
    held = [mmap.mmap(-1, 1 << 26, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(16)]
    talk.say(talk.answer(question, note=f"could: have {len(held) << 6} MiB"))


def writes_a_file_without_end(question):
    """Twenty times the largest file that it may have would be the disk's share of somebody else."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    with open(os.environ["HOME"] + "/file", "wb", buffering=0) as file:
        for _ in range(200):
            file.write(bytes(1 << 20))


talk.play(globals()[sys.argv[1]])
