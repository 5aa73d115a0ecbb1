"""A good bot that uses so many ms of a processor for each answer."""

import sys
import time

import talk

MS = int(sys.argv[1])


def think(question):
    until = time.process_time() + MS / 1000
    while time.process_time() < until:
        pass
    talk.say(talk.answer(question))


talk.play(think)
