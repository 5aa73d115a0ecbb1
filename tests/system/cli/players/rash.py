"""The first legal action, and in every fifth game, as its seed says, an answer that is none."""

import json
import sys

rash = False
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif message["type"] == "start":
        rash = message["seed"] % 5 == 0
    elif "id" in message:
        print(json.dumps({"id": message["id"], "action": "no" if rash else message["legal"][0]}), flush=True)
