"""What a kit's language needs on this machine and does not find."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from referee.bots.source.botfile import BotFile, parse_botfile
from referee.bots.source.manifest import BOT_FILE
from referee.bots.source.programs import BOXED, HOST, PACKAGES, homes_of, is_closed, is_in_folder, resolve
from referee.errors import InputError
from referee.kits.catalogue import Kit

_VIEW = BOXED if sys.platform == "linux" else HOST
"""Where bots will look for programs: what a sandbox has, where there are sandboxes."""


def botfile_of(kit: Kit) -> BotFile:
    """What a kit's `bot.toml` says."""
    return parse_botfile((kit.path / BOT_FILE).read_bytes())


def packages_of(kit: Kit) -> tuple[str, ...]:
    """The packages of Debian and Ubuntu that bring all that a kit needs, each once."""
    return _packages((*_builders(kit), *_players(kit)))


def missing_tools(kit: Kit) -> list[str]:
    """A sentence for what this machine lacks, and one for each program that lies where bots will not see it."""
    programs = dict.fromkeys((*_builders(kit), *_players(kit)))
    missing = [program for program in programs if shutil.which(program) is None]
    said = [_not_here(missing)] if missing else []
    for program in programs:
        only_builds = program in _builders(kit) and program not in _players(kit)
        if program not in missing and not (only_builds and _can_be_allowed(program)):
            said += [why] if (why := _why_unseen(program)) is not None else []
    return said


def runtimes_of(kit: Kit) -> tuple[Path, ...]:
    """The folders that its build has to be allowed to read, because programs that only build lie there."""
    unseen = [one for one in _builders(kit) if _why_unseen(one) is not None and _can_be_allowed(one)]
    return tuple(dict.fromkeys(home for program in unseen for home in homes_of(program)))


def _builders(kit: Kit) -> list[str]:
    return [step[0] for step in botfile_of(kit).build if not is_in_folder(step[0])]


def _players(kit: Kit) -> list[str]:
    program = botfile_of(kit).command[0]
    return [*kit.uses, *([] if is_in_folder(program) else [program])]


def _can_be_allowed(program: str) -> bool:
    return not any(map(is_closed, homes_of(program)))


def _why_unseen(program: str) -> str | None:
    try:
        resolve(program, _VIEW)
    except InputError as error:
        return str(error)
    return None


def _not_here(programs: list[str]) -> str:
    names = ", ".join(f"`{program}`" for program in programs)
    return f"{names}: not found on PATH; on Debian and Ubuntu: sudo apt install {' '.join(_packages(programs))}"


def _packages(programs: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(PACKAGES[program] for program in programs if program != "sh"))  # which is everywhere
