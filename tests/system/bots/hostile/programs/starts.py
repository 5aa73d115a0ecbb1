"""Never gets as far as a game; its argument says how."""

import os
import sys
import time

import talk


def exits():
    print("no such model", file=sys.stderr)
    sys.exit(3)


def dies_of_a_signal():
    os.abort()


def says_a_banner():
    talk.hear()
    talk.say("My Bot v1.0")
    talk.forever()


def says_a_banner_without_end():
    while True:
        talk.say(b"loading " * 4096)


def speaks_another_version():
    talk.hear()
    talk.say('{"type": "ready", "protocol": 2}')
    talk.forever()


def is_slow():
    time.sleep(2)
    talk.play(lambda question: talk.say(talk.answer(question)))


def is_slow_within_its_limit():
    time.sleep(0.35)
    talk.play(lambda question: talk.say(talk.answer(question)))


def never_says_ready():
    talk.forever()


def does_not_flush():
    talk.hear()
    sys.stdout.write('{"type": "ready", "protocol": 1}\n')
    talk.forever()


globals()[sys.argv[1]]()
