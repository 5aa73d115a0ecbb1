"""Where bots find programs: what they see of this machine, what a first word stands for, how to get what is missing."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from protocol.text import readable
from referee.errors import InputError

BOXED_PATH = "/usr/local/bin:/usr/bin:/bin"
"""PATH in a sandbox."""
_IN_EVERY_BOX = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


@dataclass(frozen=True, slots=True)
class HostView:
    """What of this machine a bot will see: `path` is where its programs are sought, None for the referee's own PATH.

    `allowed` are the folders beyond /usr that the organiser lets bots ask for, `folders` those that this one gets.
    """

    path: str | None = None
    allowed: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()

    @property
    def is_boxed(self) -> bool:
        """True if it is less than what the referee sees."""
        return self.path is not None

    def runtime(self, wanted: Sequence[str]) -> tuple[Path, ...]:
        """The folders that a bot asks for, where it will see them. Raises InputError where one is not to be had."""
        return tuple(self._runtime(Path(one)) for one in wanted) if self.is_boxed else ()

    def _runtime(self, wanted: Path) -> Path:
        shown = readable(str(wanted), 120)
        real = Path(os.path.realpath(wanted))
        if not any(real.is_relative_to(os.path.realpath(one)) for one in self.allowed):
            raise InputError(f"it asks for the folder {shown}: --allow-runtime {shown} lets bots read it")
        if not real.is_dir():
            raise InputError(f"it asks for the folder {shown}, which is not there")
        if is_closed(real):
            raise InputError(
                f"{shown} is closed to others, and root's sandboxes are another user's: open it by chmod o+x"
            )
        return wanted

    def sees(self, path: Path) -> bool:
        """True if a program at an absolute path is there for the bot."""
        if not self.is_boxed:
            return True
        places = (*map(Path, _IN_EVERY_BOX), *self.folders)
        return any(path.is_relative_to(place) for place in places)

    def with_runtime(self, folders: Sequence[Path]) -> HostView:
        """The view of a bot that sees these folders too: programs in them, or in their `bin`, come first."""
        if self.path is None or not folders:
            return self
        places = [place for folder in folders for place in (folder / "bin", folder) if place.is_dir()]
        return replace(self, path=":".join([*map(str, places), self.path]), folders=tuple(folders))


HOST = HostView()
"""All that the referee sees."""
BOXED = HostView(BOXED_PATH)
"""What is in every sandbox."""


def is_closed(folder: Path) -> bool:
    """True if a sandbox could not read a folder, because we are root and others may not enter it or one above it."""
    places = (folder, *folder.parents)
    return os.geteuid() == 0 and not all(place.stat().st_mode & stat.S_IXOTH for place in places if place.exists())


def is_in_folder(program: str) -> bool:
    """True if a command's first word names a file of the bot's folder: it has a slash. Others are found on PATH."""
    return "/" in program


PACKAGES = {
    "cc": "gcc",
    "gcc": "gcc",
    "c++": "g++",
    "g++": "g++",
    "make": "make",
    "go": "golang-go",
    "rustc": "rustc",
    "cargo": "cargo",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "npx": "npm",
    "python3": "python3",
    "ruby": "ruby",
    "lua": "lua5.4",
    "php": "php-cli",
    "perl": "perl",
    "jq": "jq",
}
"""By program: the package of Debian and Ubuntu that brings it."""


def _how_to_get(program: str) -> str:
    package = PACKAGES.get(program)
    if package is not None:
        return f"on Debian and Ubuntu the package {package} brings it"
    return "install it, or write ./ before the name of a file in the folder"


def homes_of(program: str) -> tuple[Path, ...]:
    """The folders to be allowed to a sandbox for a program on the referee's PATH; none where it is not there.

    rustup's programs are links to rustup, which finds the real ones in a folder of its own.
    """
    found = shutil.which(program)
    if found is None:
        return ()
    place, real = Path(found).absolute(), Path(os.path.realpath(found))
    if real.name == program:
        place = real
    home = place.parent.parent if place.parent.name == "bin" else place.parent
    if real.name == "rustup":
        return home, Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser())
    return (home,)


def resolve(program: str, view: HostView = HOST, *, builds: str = "") -> str:
    """What a command's first word stands for: `./bin/bot` in the folder, or a program on PATH, absolute.

    A file of the folder is meant only where there is a slash, as in a shell: `bot` is sought on PATH, `./bot` is
    not. `builds` is the bot whose build the command is of, as the user wrote it, empty where the command plays.
    Raises InputError where a program is not on PATH, or a path is absolute or leads out of the folder.
    """
    if not is_in_folder(program):
        found = shutil.which(program, path=view.path)
        if found is None and view.is_boxed and (outside := shutil.which(program)) is not None:
            raise InputError(_only_outside(program, outside, view, builds))
        if found is None:
            raise InputError(f"`{readable(program, 80)}`: not found on PATH; {_how_to_get(program)}")
        return str(Path(found).absolute())
    path = PurePosixPath(program)
    if path.is_absolute():
        raise InputError(
            f"`{readable(program, 80)}` is an absolute path: write a name found on PATH, or ./ and a file of the folder"
        )
    if ".." in path.parts:
        raise InputError(f"`{readable(program, 80)}` leads out of the folder: name a file in it, such as ./bot")
    return f"./{path}"


def _only_outside(program: str, outside: str, view: HostView, builds: str) -> str:
    what = f"`{readable(program, 80)}` is {readable(outside, 120)}, which is not in the sandbox"
    homes = homes_of(program)
    if any(map(is_closed, homes)):
        return f"{what}, and closed to others, whose sandboxes are: {_how_to_get(program)} for all; or use --sandbox D"
    names = [readable(str(home), 120) for home in homes]
    allowed = " ".join(f"--allow-runtime {name}" for name in names)
    asked = ", ".join(f'"{name}"' for name in names)
    if builds:
        bot = readable(builds, 120)
        return f"{what}: `referee build {bot} {allowed}` builds with it, with --fetch too if the build fetches packages"
    python = shutil.which("python3", path=view.path)
    if python is not None and homes and (homes[0] / "pyvenv.cfg").is_file():
        return f"{what}, as it is of a virtual environment: write python3, which is {python} there"
    return f"{what}: take one of /usr/bin, or have runtime = [{asked}] in bot.toml and play with {allowed}"
