"""A good bot that uses so many ms of a processor for each answer; its other arguments say how.

`clock`: it computes for so many ms of the clock on the wall. `once`: it thinks at one of its first decisions of a game.
"""

import random
import sys
import time

import talk

MS = int(sys.argv[1])
NOW = time.monotonic if "clock" in sys.argv else time.process_time
ONCE = "once" in sys.argv
game, left = "", 0


def think(question):
    global game, left
    if question["game_id"] != game:
        game, left = question["game_id"], random.randrange(10)
    if left == 0 or not ONCE:
        until = NOW() + MS / 1000
        while NOW() < until:
            pass
    left -= 1
    talk.say(talk.answer(question))


talk.play(think)
