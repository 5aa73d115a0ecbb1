"""What a build that may fetch gets of the organiser's environment: the way out, mirrors of registries, whom to trust.

Networks of companies have a proxy, certificates of their own and a mirror of each registry. Tools are told of these by
variables; the files of certificates that variables name are shown in the box, read-only, where they lie.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from referee.errors import InputError

_ANY_CASE = (
    *("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"),
    *("npm_config_registry", "npm_config_proxy", "npm_config_https_proxy", "npm_config_noproxy"),
    *("npm_config_strict_ssl", "npm_config_cafile"),
)
"""Read by tools in small letters, in capital ones, or both."""
_PLAIN = (
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_PROXY"),
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"),
    *("GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOINSECURE"),
    *("CARGO_HTTP_PROXY", "CARGO_NET_GIT_FETCH_WITH_CLI", "RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT"),
)
_FILES = (
    *("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "CARGO_HTTP_CAINFO"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_SSL_CAINFO", "NIX_SSL_CERT_FILE", "DENO_CERT"),
    *("npm_config_cafile", "NPM_CONFIG_CAFILE"),
)
"""Of which each names a file of certificates, or a folder where its tool takes one."""
_LISTS = ("SSL_CERT_DIR",)
"""Of which each names folders of certificates, with a colon between two."""
_PATHS = (*_FILES, *_LISTS)
NAMES = tuple(dict.fromkeys((*_ANY_CASE, *(name.upper() for name in _ANY_CASE), *_PLAIN, *_PATHS)))
"""All variables that are handed on where they are set, and no others."""
_USER_INFO = re.compile(r"//([^/@\s]+)@")
_SHORTEST_SECRET = 4
"""What is shorter stands in other words too."""
_OF_BOXES = ("/proc", "/dev", "/sys")
"""Where a box has its own, or nothing."""
_TOO_MUCH = ("/bot", "/source", "/usr", "/etc", "/tmp", "/proc", "/dev", "/sys", "/var", "/run")  # noqa: S108
"""What no folder of certificates may be, or have in it."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What a build that fetches is told.

    `variables` for its environment; `certificates`, the files and folders that they name, as far as they are there,
    each with the variable that named it first.
    """

    variables: dict[str, str]
    certificates: dict[Path, str]

    def beyond(self, shown: Iterable[Path]) -> tuple[Path, ...]:
        """Which certificates a box has to be given, read-only, beyond what is `shown` in it anyway.

        With a link comes what it leads to. Raises InputError where a box cannot read one, or it would show far more.
        """
        places = {place: name for named, name in self.certificates.items() for place in (named, _real(named))}
        shown = tuple(shown)
        needed = {place: name for place, name in places.items() if not any(map(place.is_relative_to, shown))}
        for place, name in needed.items():
            _check(place, name)
        return tuple(needed)


def errand(environment: Mapping[str, str]) -> Errand:
    """What of an environment a build that fetches is told; paths are made absolute, as its folder is another."""
    variables = {name: value for name in NAMES if (value := environment.get(name))}
    certificates: dict[Path, str] = {}
    for name in _PATHS:
        words = variables.get(name, "").split(":") if name in _LISTS else [variables.get(name, "")]
        places = [Path(word).absolute() for word in words if word]
        if places:
            variables[name] = ":".join(map(str, places))
        certificates = {place: name for place in places if _is_there(place)} | certificates
    return Errand(variables, certificates)


def veiled(text: str, variables: Mapping[str, str]) -> str:
    """What a build printed, without the passwords in addresses of these variables, which tools like to repeat."""
    for words in sorted(_secrets(variables.values()), key=len, reverse=True):
        text = text.replace(words, "***")
    return text


def _secrets(values: Iterable[str]) -> set[str]:
    """Users with their passwords, tokens and passwords alone, as they are written and as they are meant."""
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
        raise InputError(f"{name} names {place}, where more lies than certificates: name a folder of them alone")
    if not (_open_to_all(place) if os.geteuid() == 0 else os.access(place, os.R_OK)):
        raise InputError(
            f"{name} names {place}, which the user that makes sandboxes may not read: name a copy that others may "
            "read, in a folder that they may enter"
        )


def _open_to_all(place: Path) -> bool:
    wanted = 0o005 if place.is_dir() else 0o004
    return place.stat().st_mode & wanted == wanted and all(way.stat().st_mode & 0o001 for way in place.parents)
