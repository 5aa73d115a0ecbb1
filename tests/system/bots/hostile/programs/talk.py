"""The protocol, as little of it as the hostile programs need. Stands alone, like any bot."""

import base64
import json
import os
import sys
import time


def say(data):
    """Write a line of text, or bytes as they are, at once."""
    data = data if isinstance(data, bytes) else data.encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def hear():
    """The next message, None at the end."""
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else None


def ready():
    hear()
    say('{"type": "ready", "protocol": 1}')


def questions():
    """Every question until the last."""
    while (message := hear()) is not None and message["type"] != "quit":
        if "id" in message:
            yield message


def answer(question, **changes):
    """The first legal action as a line, with changes to it."""
    return json.dumps({"id": question["id"], "action": question["legal"][0], **changes})


def play(misbehave):
    """Play, calling `misbehave` with every question instead of answering it."""
    ready()
    for question in questions():
        misbehave(question)


def play_after(attempt):
    """Try something when the first question comes, then play on, and note with every answer what could be done."""
    ready()
    could = None
    for question in questions():
        could = sorted(attempt()) if could is None else could
        say(answer(question, note="could: " + " ".join(could)))


def forever():
    """Live for longer than any test."""
    time.sleep(300)
    os._exit(0)


def bait():
    """What there is to steal and to break, from the second argument."""
    return json.loads(base64.b64decode(sys.argv[2]))
