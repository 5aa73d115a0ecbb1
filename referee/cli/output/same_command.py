"""The command line of this process, for the user to run again."""

from __future__ import annotations

import os
import shlex
import sys


def same_command(command: str) -> str:
    """Return this command line for a shell, with the variables of the environment that `command` takes options from."""
    variables = sorted(
        name for name in os.environ if name == "REFEREE_DB" or name.startswith(f"REFEREE_{command.upper()}_")
    )
    done = ("--new-season", "--force")  # once is enough
    words = [word for word in sys.argv[1:] if word not in done]
    settings = [f"{name}={_quoted(os.environ[name])}" for name in variables]
    return " ".join([*settings, "referee", *map(_quoted, words)])


def _quoted(word: str) -> str:
    """`word` for a shell; where it has control characters, in the quotes that bash, zsh and ksh read escapes in."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = os.fsencode(word).decode("latin-1").encode("unicode_escape").decode("ascii")
    return "$'" + escaped.replace("'", "\\'") + "'"
