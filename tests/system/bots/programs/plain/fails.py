"""A bot that ends when it is first asked."""

import json
import sys

for line in sys.stdin:
    if json.loads(line)["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    else:
        sys.exit(5)
