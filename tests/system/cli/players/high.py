"""Always the last legal action."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        print(json.dumps({"id": message["id"], "action": message["legal"][-1]}), flush=True)
