"""A bot whose notes say which process it is, and that may do something after each game's end or in its second game."""

import json
import os
import sys
import time

AFTER_END = {
    "exits_after_end": lambda: os._exit(0),
    "talks_after_end": lambda: print("good game", flush=True),
    "exits_slowly_after_end": lambda: (time.sleep(0.1), os._exit(0)),
    "talks_slowly_after_end": lambda: (time.sleep(0.1), print("good game", flush=True)),
}
IN_ITS_SECOND_GAME = {
    "exits_in_its_second_game": lambda question: os._exit(1),
    "forgets_the_action_in_its_second_game": lambda question: print(json.dumps({"id": question["id"]}), flush=True),
    "dies_in_its_answer_in_its_second_game": lambda question: (
        os.write(1, b'{"id": %d, "act' % question["id"]),
        os._exit(1),
    ),
}
MODE = sys.argv[1] if len(sys.argv) > 1 else ""
games = 0

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif message["type"] == "start":
        games += 1
    elif "id" in message:
        if games == 2 and MODE in IN_ITS_SECOND_GAME:
            IN_ITS_SECOND_GAME[MODE](message)
        answer = {"id": message["id"], "action": message["legal"][0], "note": str(os.getpid())}
        print(json.dumps(answer), flush=True)
    elif message["type"] == "end" and MODE in AFTER_END:
        AFTER_END[MODE]()
