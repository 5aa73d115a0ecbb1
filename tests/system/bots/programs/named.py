"""A bot whose notes are its argument."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        answer = {"id": message["id"], "action": message["legal"][0], "note": sys.argv[1]}
        print(json.dumps(answer), flush=True)
