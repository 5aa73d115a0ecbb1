"""A bot that says ready and nothing more."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type": "ready", "protocol": 1}', flush=True)
