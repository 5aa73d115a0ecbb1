"""Ends before it is ready: its argument says of what. Takes more memory in ten processes than one of them may have."""

import os
import signal
import sys

MIB = 1 << 20


def take(mib):
    held = bytearray(mib * MIB)
    for page in range(0, len(held), 4096):
        held[page] = 1
    return held


def children_of(mib, count=10):
    here, there = os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            held = take(mib)
            os.write(there, b"x")
            signal.pause()
            os._exit(len(held) & 1)
    os.close(there)
    heard = 0
    while heard < count:
        heard += len(os.read(here, count))


if sys.argv[1] == "itself":  # the largest of them all is the one that the kernel ends
    children_of(6)
    mine = take(40)
elif sys.argv[1] == "child":
    children_of(6)
    largest = os.fork()
    if largest == 0:
        mine = take(40)
        os._exit(0)
    os.waitpid(largest, 0)
sys.exit(3)
