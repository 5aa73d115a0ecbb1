"""The environment of a build that may fetch: proxies, certificates, and the variables that the organiser passes on.

Files and folders that these variables name are shown in the box, read-only, at the same path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from referee.errors import InputError

_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
NAMES = (*_PROXIES, *map(str.upper, _PROXIES), "SSL_CERT_FILE")
"""The variables that every build with the network gets, where they are set."""
_USER_INFO = re.compile(r"//([^/@\s]+)@")
_SHORTEST_SECRET = 4
"""Shorter secrets also occur inside other words."""
_OF_BOXES = ("/proc", "/dev", "/sys")
"""A box has its own of these, or none."""
_TOO_MUCH = ("/bot", "/source", "/usr", "/etc", "/tmp", "/proc", "/dev", "/sys", "/var", "/run")  # noqa: S108
"""Folders that may not be shown, nor any folder that contains one."""


@dataclass(frozen=True, slots=True)
class FetchEnvironment:
    """What a build that fetches gets.

    `variables` for its environment; `files`, the files and folders that they name, as far as they exist, each with the
    variable that named it first.
    """

    variables: dict[str, str]
    files: dict[Path, str]

    def beyond(self, shown: Iterable[Path]) -> tuple[Path, ...]:
        """Return the files that a box must show, read-only, beyond those that are `shown` anyway.

        With a link comes its target. Raises InputError if a box cannot read one, or it would show far more.
        """
        places = {place: name for named, name in self.files.items() for place in (named, _real(named))}
        shown = tuple(shown)
        needed = {place: name for place, name in places.items() if not any(map(place.is_relative_to, shown))}
        for place, name in needed.items():
            _check(place, name)
        return tuple(needed)


def fetch_environment(environment: Mapping[str, str], passed: Iterable[str] = ()) -> FetchEnvironment:
    """Return what a build gets of `environment`: the usual variables, and those whose names are `passed`.

    The path in SSL_CERT_FILE is made absolute. A passed variable names files if its value is an absolute path, or
    several with a colon between two.
    """
    variables = {name: value for name in (*NAMES, *passed) if (value := environment.get(name))}
    if "SSL_CERT_FILE" in variables:
        variables["SSL_CERT_FILE"] = str(Path(variables["SSL_CERT_FILE"]).absolute())
    files: dict[Path, str] = {}
    for name, value in variables.items():
        words = value.split(":") if value.startswith("/") else []
        files = {place: name for word in words if word and _is_there(place := Path(word))} | files
    return FetchEnvironment(variables, files)


def redacted(text: str, variables: Mapping[str, str]) -> str:
    """Return what a build printed without the passwords in the addresses of these variables."""
    for words in sorted(_secrets(variables.values()), key=len, reverse=True):
        text = text.replace(words, "***")
    return text


def _secrets(values: Iterable[str]) -> set[str]:
    """Return users with passwords, tokens and passwords alone, as they are written and decoded."""
    written = {found for value in values for found in _USER_INFO.findall(value)}
    parts = {part for one in written for part in (one, one.partition(":")[2]) if len(part) >= _SHORTEST_SECRET}
    return parts | {unquote(part) for part in parts}


def _is_there(place: Path) -> bool:
    try:
        return (place.is_file() or place.is_dir()) and not any(map(place.is_relative_to, _OF_BOXES))
    except OSError:  # a name that is too long, or a folder that may not be entered
        return False


def _real(place: Path) -> Path:
    return Path(os.path.realpath(place))


def _check(place: Path, name: str) -> None:
    if any(Path(more).is_relative_to(place) for more in (*_TOO_MUCH, Path.home())):
        raise InputError(f"{name} names {place}, which holds far more than a build needs: name a folder of its own")
    if not (_open_to_all(place) if os.geteuid() == 0 else os.access(place, os.R_OK)):
        raise InputError(
            f"{name} names {place}, which the user that makes sandboxes may not read: name a copy that others may "
            "read, in a folder that others may enter"
        )


def _open_to_all(place: Path) -> bool:
    wanted = 0o005 if place.is_dir() else 0o004
    return place.stat().st_mode & wanted == wanted and all(way.stat().st_mode & 0o001 for way in place.parents)
