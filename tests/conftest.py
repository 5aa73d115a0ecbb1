"""What all tests share: bots are not kept apart unless a test asks for it."""

from __future__ import annotations

import os

from command_line import NO_SANDBOX

os.environ.update(NO_SANDBOX)
