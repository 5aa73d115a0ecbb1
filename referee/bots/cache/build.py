"""What a build is: its steps as one script, who runs it, and the words for how it failed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from protocol.text import readable
from referee.bots.source.botfile import Command
from referee.bots.source.manifest import BotSpec
from referee.errors import InputError

BUILT = "built"
"""What the script says on stderr when all steps are done; then it waits, so that what it made can be fetched."""
STEP, FAILED = "step", "failed"
"""What it says before a step, with its number, and after one that failed, with its status."""
_LONGEST_SCRIPT = 120_000
"""Bytes that Linux takes as one argument, about."""
_SHOWN_LINES = 12
_LINE_WIDTH = 200

_WANTS_NETWORK = (
    "could not resolve",
    "couldn't resolve",
    "failed to resolve",
    "name resolution",
    "name or service not known",
    "network is unreachable",
    "network unreachable",
    "unknown host",
    "unknownhostexception",
    "enotfound",
    "enetunreach",
    "eai_again",
    "eafnosupport",
    "dial tcp",
    "failed to connect",
    "connection refused",
    "couldn't connect",
    "could not connect",
    "failed to establish a new connection",
    "address family not supported",
    "no matching package named",
    "use of network",
)
"""What curl, pip, npm, cargo, go, Maven and the C library say where there is no network, in small letters."""
_KNOWS_NOT_WHOM = (
    "certificate_verify_failed",
    "certificate verify failed",
    "certificate signed by unknown authority",
    "self-signed certificate",
    "self signed certificate",
    "self_signed_cert",
    "unable_to_verify_leaf_signature",
    "unable to get local issuer certificate",
    "unable to get issuer cert",
    "ssl certificate problem",
    "invalid peer certificate",
    "unable to find valid certification path",
)
"""What they say of a certificate by somebody whom they do not know."""


class BuildFailed(InputError):
    """A bot's build ran, and did not make a bot: its author's fault."""


@dataclass(frozen=True, slots=True)
class BuildTask:
    """A bot to be built: the `steps`, each with its program as `resolve` gives it.

    `source` is a copy of its files, `target` the folder to be made of it, `scratch` an empty folder for the time,
    `log` where what the steps print is kept, `runtime` the folders beyond /usr that they may read.
    """

    bot: BotSpec
    steps: tuple[Command, ...]
    source: Path
    target: Path
    scratch: Path
    log: Path
    runtime: tuple[Path, ...] = ()


class Builder(Protocol):
    """Builds bots."""

    def build(self, task: BuildTask) -> None:
        """Make `target`, of which nobody who was built has anything in hand.

        Raises BuildFailed where a step fails, or it takes more than it may; InputError where it could not be begun;
        OSError. Nothing that a step started is left in any case.
        """


def script(steps: Sequence[Command], *, source: str | None) -> str:
    """The steps for `sh -c`, in the folder that is built; `source` is where its files come from, None: they are there.

    Programs have a slash in their names, so that none is taken for a word of the shell's. Raises InputError where
    there is too much of it.
    """
    lines = [f'{FAILED}() {{ echo "{FAILED} $1" >&2; exit 1; }}']
    if source is not None:
        lines.append(f"cp -RP {source}/. . </dev/null || {FAILED} $?")
    for number, step in enumerate(steps):
        assert "/" in step[0]
        shown = shlex.quote(f"$ {in_words(step)}")
        lines += [
            f"echo {STEP} {number} >&2",
            f"printf '%s\\n' {shown}",
            f"{shlex.join(step)} </dev/null 2>&1 || {FAILED} $?",
        ]
    lines += [f"echo {BUILT} >&2", "read -r _", ""]
    made = "\n".join(lines)
    if len(made.encode()) > _LONGEST_SCRIPT:
        raise InputError("its `build` is too long: put it into a script of the folder, and call that")
    return made


def in_words(step: Command) -> str:
    """A step as one would write it in a shell, cut where it is long."""
    return readable(shlex.join(step), _LINE_WIDTH)


def last_lines(log: str) -> str:
    """The last lines of a log, indented below a sentence; nothing where only our own line stands in it."""
    lines = log.rstrip().split("\n")[-_SHOWN_LINES:]
    return "".join(
        f"\n    {readable(line.expandtabs(), _LINE_WIDTH)}" for line in lines if line and not line.startswith("$ ")
    )


def remedy(log: str, name: str, *, fetch: bool, allowed: Iterable[Path] = ()) -> str:
    """What may help, by what a build said at its end: a clause for the end of a sentence, or nothing.

    `allowed` are the folders beyond /usr that the build could read: the command that is told allows them again.
    """
    name += "".join(f" --allow-runtime {readable(str(folder), 120)}" for folder in allowed)
    said = log[-8192:].lower()
    if not fetch and any(words in said for words in _WANTS_NETWORK):
        return f"; it seems to want the network, which it gets from `referee build {name} --fetch` alone"
    if fetch and any(words in said for words in _KNOWS_NOT_WHOM):
        return (
            "; it was shown a certificate that it does not know: name the file of your own by SSL_CERT_FILE, and for "
            "Node by NODE_EXTRA_CA_CERTS"
        )
    if "no space left on device" in said:
        return f"; `referee build {name} --size 4G --tmp-size 2G` would give it more room"
    return ""
