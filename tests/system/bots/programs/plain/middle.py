"""A bot without memory: always the middle legal action."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        legal = message["legal"]
        print(json.dumps({"id": message["id"], "action": legal[len(legal) // 2]}), flush=True)
