"""Plays any legal action, each as likely as the others."""

import json
import random
import sys


def say(message):
    print(json.dumps(message), flush=True)


def main():
    dice = random.Random()
    for line in sys.stdin:
        message = json.loads(line)
        kind = message.get("type")
        if kind == "hello":
            say({"type": "ready", "protocol": 1, "name": "random", "version": "1", "language": "Python"})
        elif kind == "start":
            dice.seed(message["seed"])
        elif kind == "quit":
            break
        elif "id" in message:
            say({"id": message["id"], "action": dice.choice(message["legal"])})


if __name__ == "__main__":
    main()
