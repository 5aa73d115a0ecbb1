"""From a bot as it was found to one that can be started: a read-only copy, built once, kept by its hash.

A copy lies in the cache as `KEY/bot` beside `KEY/tree`, the hash of what is in it. KEY is the hash of the bot's tree;
where something is built, also of what builds it, of the machine it is built for, and of whether it was built in a box:
what could read the organiser's files while it was built is never taken for what could not. What a build printed is in
`KEY.log`, also where it failed. A copy is made as `KEY.*.making` and renamed when it is whole, under the lock
`KEY.lock`, so that any number of referees can share a cache. It is compared with its hash each time, and made again
where it was changed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.bots.cache.build import Builder, BuildFailed, BuildTask
from referee.bots.cache.removal import remove_tree
from referee.bots.source.executables import check_program
from referee.bots.source.ignoring import IgnoringNothing
from referee.bots.source.kinds import recipe_for
from referee.bots.source.manifest import BotSpec
from referee.bots.source.programs import HOST, HostView, is_in_folder, resolve
from referee.bots.source.tree import TreeLimits, scan
from referee.bots.tiers import SetupFault
from referee.errors import BotsRefused, InputError, system_words

_ANY = TreeLimits(sys.maxsize, sys.maxsize)
"""For a copy, which was bounded when it was made."""

MAKING = ".making"
"""How the name of a folder in the cache ends that is not finished, and is swept where nobody holds its lock."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A bot that can be started: run `argv` with `folder`, a read-only copy, as the working directory.

    `argv[0]` is the absolute path of a program found on PATH, or a file of the folder, written from there as
    `./file`, so that it holds wherever the folder is mounted. `runtime` are folders beyond /usr that it may read.
    """

    manifest: BotSpec
    folder: Path
    argv: tuple[str, ...]
    runtime: tuple[Path, ...] = ()


def default_cache() -> Path:
    """Where copies lie: `$XDG_CACHE_HOME/referee/bots`, else `~/.cache/referee/bots`.

    For root `/var/cache/referee/bots`: a sandbox's user can read nothing under root's home. Raises SetupFault where
    the user has no home.
    """
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():
        return Path(given) / "referee" / "bots"
    if os.geteuid() == 0:
        return Path("/var/cache/referee/bots")
    try:
        return Path("~/.cache/referee/bots").expanduser()
    except RuntimeError:
        reason = f"user {os.geteuid()} has no home folder to keep copies of bots in"
        raise SetupFault(reason, "set XDG_CACHE_HOME, or HOME") from None


@contextlib.contextmanager
def open_modes() -> Iterator[None]:
    """What is made inside can be read by others, whatever the umask: root's boxes belong to another user."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


def make_cache(cache: Path) -> None:
    """Make the folder of copies, where root's boxes can reach it. Raises OSError."""
    with open_modes() if os.geteuid() == 0 else contextlib.nullcontext():
        cache.mkdir(parents=True, exist_ok=True)


def is_executable(cache: Path) -> bool:
    """False where nothing in a folder can be executed, since its file system is mounted so. Raises OSError."""
    return not os.statvfs(cache).f_flag & getattr(os, "ST_NOEXEC", 0)


NOEXEC = "{} is on a file system mounted noexec, where no program can be executed"
NOEXEC_REMEDY = "remount it with exec, or name a folder elsewhere with XDG_CACHE_HOME"


def prepare(
    bot: BotSpec,
    cache: Path | None = None,
    *,
    view: HostView = HOST,
    builder: Builder | None = None,
    rebuild: bool = False,
) -> Prepared:
    """Copy and build a bot, or use the copy that is there, unless it is to `rebuild`.

    `view` is what of this machine it will see; `builder` builds it where it has to be, and without one it is refused
    then. Raises BotsRefused where its files are no longer those that were hashed, its build fails (then the cause is
    a BuildFailed), or what it starts is not a program; also if the cache cannot be used.
    """
    cache = default_cache() if cache is None else cache
    try:
        runtime = view.runtime(bot.runtime)
        folder = _Copy(bot, cache, view).folder(builder, rebuild=rebuild)
        view = view.with_runtime(runtime)
        program = resolve(bot.command[0], view)
        if is_in_folder(program):
            if not is_executable(cache):
                raise SetupFault(NOEXEC.format(cache), NOEXEC_REMEDY)
            check_program(folder / program, view)
    except InputError as error:
        raise BotsRefused({str(bot.path): str(error)}) from (error if isinstance(error, BuildFailed) else None)
    except OSError as error:
        reason = f"it cannot be copied to {cache} (XDG_CACHE_HOME says where): {system_words(error)}"
        raise BotsRefused({str(bot.path): reason}) from None
    return Prepared(bot, folder, (program, *bot.command[1:]), runtime)


def build_log(bot: BotSpec, cache: Path | None = None, *, view: HostView = HOST) -> str | None:
    """What the last build of a bot printed, so far as it was kept; None where there was none."""
    try:
        return _Copy(bot, default_cache() if cache is None else cache, view).log.read_text()
    except FileNotFoundError:
        return None


def hash_of(bot: Prepared) -> str:
    """The hash of all that is in a copy, what its build made included."""
    return (bot.folder.parent / "tree").read_text()


class _Copy:
    """One bot's copy in a cache."""

    def __init__(self, bot: BotSpec, cache: Path, view: HostView) -> None:
        self.bot = bot
        self.view = view
        self.key = _key(bot, view)
        self.cache = cache
        self.home = cache / self.key
        self.log = cache / f"{self.key}.log"

    def folder(self, builder: Builder | None, *, rebuild: bool) -> Path:
        make_cache(self.cache)
        _sweep(self.cache)
        with open_modes(), locked(self.cache, self.key):
            if rebuild or not self._is_whole():
                self._make(builder)
        return self.home / "bot"

    def _is_whole(self) -> bool:
        try:
            return (self.home / "tree").read_text() == _hash_of_copy(self.home / "bot")
        except (InputError, OSError, ValueError):
            return False

    def _make(self, builder: Builder | None) -> None:
        making = self._unfinished()
        try:
            folder = making / ("source" if self.bot.build else "bot")
            scan(self.bot.path).copy_to(folder)
            if scan(folder).hash() != self.bot.identity.hash:
                raise InputError("its files were changed while they were read: try again")
            making.chmod(0o755)
            if self.bot.build:
                folder = self._built(making, builder)
            (making / "tree").write_text(_hash_of_copy(folder))
            _make_read_only(folder)
            self._put_into_place(making)
        finally:
            remove_tree(making)

    def _unfinished(self) -> Path:
        return Path(tempfile.mkdtemp(prefix=f"{self.key}.", suffix=MAKING, dir=self.cache))

    def _built(self, making: Path, builder: Builder | None) -> Path:
        if builder is None:
            raise InputError("it has not been built here")
        runtime = self._toolchains()
        view = self.view.with_runtime(runtime)
        steps = tuple((resolve(step[0], view, builds=str(self.bot.path)), *step[1:]) for step in self.bot.build)
        task = BuildTask(self.bot, steps, making / "source", making / "bot", making / "scratch", self.log, runtime)
        task.scratch.mkdir()
        builder.build(task)
        for folder in (task.source, task.scratch):
            remove_tree(folder)
        return task.target

    def _toolchains(self) -> tuple[Path, ...]:
        """The folders beyond /usr that the build reads: those the bot asks for.

        For a single file, which cannot ask, all that are allowed, and so where a program that builds is not there else.
        """
        asked = self.view.runtime(self.bot.runtime)
        recipe = recipe_for(self.bot.path.name)
        is_file = recipe is not None and recipe.build == self.bot.build
        if self.view.is_boxed and (is_file or not _has_all(self.bot, self.view.with_runtime(asked))):
            return self.view.runtime(tuple(dict.fromkeys(map(str, (*asked, *self.view.allowed)))))
        return asked

    def _put_into_place(self, making: Path) -> None:
        aside = self._unfinished()
        with contextlib.suppress(FileNotFoundError):  # there is one only where it was found changed
            self.home.rename(aside / "changed")
        making.rename(self.home)
        remove_tree(aside)


def _has_all(bot: BotSpec, view: HostView) -> bool:
    """True if the programs that build a bot are there."""
    try:
        for step in bot.build:
            resolve(step[0], view)
    except InputError:
        return False
    return True


def _key(bot: BotSpec, view: HostView) -> str:
    if not bot.build:
        return bot.identity.hash
    made_by = json.dumps([bot.build, platform.system(), platform.machine(), view.is_boxed])
    return f"{bot.identity.hash}-{hashlib.sha256(made_by.encode()).hexdigest()[:16]}"


def _hash_of_copy(folder: Path) -> str:
    """The hash of all files of a copy, whatever `.botignore` says: what a build makes counts, bytecode does not."""
    return scan(folder, ignoring=IgnoringNothing(), limits=_ANY).hash()


def _make_read_only(folder: Path) -> None:
    for path in (*_all_in(folder), folder):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444)


def _all_in(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder, topdown=False):
        yield from (Path(where) / name for name in (*files, *folders))


@contextlib.contextmanager
def locked(cache: Path, key: str, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold the lock of one copy, which ends with this process and is not inherited by what it starts."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(cache / f"{key}.lock", flags, 0o644)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)


def _sweep(cache: Path) -> None:
    """Remove unfinished copies of referees that have ended: a referee that works on one holds its lock."""
    for left in cache.glob(f"*{MAKING}"):
        key = left.name.partition(".")[0]
        with (
            contextlib.suppress(BlockingIOError, FileNotFoundError),
            locked(cache, key, fcntl.LOCK_EX | fcntl.LOCK_NB),
        ):
            remove_tree(left)
