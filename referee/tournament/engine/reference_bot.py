"""A bot of ours that runs wherever any bot does: it shows whether this machine can play at all.

It is a shell's script of nothing but what POSIX builds into `sh`, and so needs no file of its own and no other program.
It answers each question with the first legal action.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from referee.bots.cache.prepare import Prepared
from referee.bots.source.manifest import BotSpec
from referee.record import Bot

# The messages are the referee's own, without spaces, and `id` and `legal` stand in each question once.
_SCRIPT = r"""
while IFS= read -r line; do
  case $line in
    *'"type":"hello"'*) printf '%s\n' '{"type":"ready","protocol":1}' ;;
    *'"type":"quit"'*) exit 0 ;;
    *'"legal":["'*)
      id=${line#*'"id":'}
      action=${line#*'"legal":["'}
      printf '{"id":%s,"action":"%s"}\n' "${id%%[!0-9]*}" "${action%%'"'*}" ;;
  esac
done
"""

_FOLDER = Path("/usr")
"""Every box has it, and every user may enter it."""


def nobody() -> Prepared:
    """The bot; its name is none that an entry can have."""
    identity = Bot("(nobody)", sha256(_SCRIPT.encode()).hexdigest())
    manifest = BotSpec(
        identity=identity,
        path=_FOLDER,
        command=("/bin/sh", "-c", _SCRIPT),
        build=(),
        language=None,
        author=None,
        players=frozenset(range(2, 7)),
    )
    return Prepared(manifest, _FOLDER, manifest.command)
