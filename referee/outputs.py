"""The one rule for files that this program writes: what it may replace, and how a file comes to its place.

Never replaced: a database, its log or lock, a file that the command reads, a folder, a disk device. Nothing is ever
written into a bot's folder. Any other file that exists is replaced with `--force` only, unless the command can tell
that it is its own earlier product. Pipes, terminals and `/dev/null` are written to.

A file is written beside its place and renamed when it is complete, so an error or a signal leaves what was there.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from referee.errors import InputError

PRIVATE = 0o600
"""The mode of a file that holds a secret."""
STAGED = ".tmp"
"""The end of the name of a file that is not complete yet."""

_BOT_FILE = "bot.toml"
_MAGIC = (b"SQLite format 3\0", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
"""How a database, its log (in either byte order) and its journal begin."""
_COMPANIONS = ("-wal", "-shm", "-journal", ".lock")
"""What a database's name is extended by in the names of the files beside it."""


def check_file(
    path: Path, *, reads: Collection[Path] = (), force: bool | None = None, remedy: str = "name another file"
) -> None:
    """Raise InputError if the rule forbids to write a file at `path`.

    `reads` are the files that the command reads. `force` is True if an ordinary file may be replaced, and None if the
    command has no `--force`.
    """
    check_never(path, reads=reads)
    found = _stat(path)
    if found is None or is_stream(found):
        return
    if is_database(path):
        raise InputError(f"{path} is a database, which is never replaced: {remedy}")
    if not force:
        also = "" if force is None else ", or replace it with --force"
        raise InputError(f"{path} already exists: {remedy}{also}")


def check_never(path: Path, *, reads: Collection[Path] = ()) -> None:
    """Raise InputError if nothing may be written at `path`, whatever its content is."""
    check_place(path)
    found = _stat(path)
    if found is not None:
        if stat.S_ISDIR(found.st_mode):
            raise InputError(f"{path} is a folder: name a file")
        if not stat.S_ISREG(found.st_mode) and not is_stream(found):
            raise InputError(f"{path} is a device or a socket: name a file")
        for read in reads:
            if any(os.path.samestat(found, other) for other in _files_of(read)):
                raise InputError(f"{path} is a file that this command reads or keeps ({read}): name another file")
    base = _base_of(path, reads)
    if base is not None:
        raise InputError(f"{path} belongs to the database {base}: name another file")
    if os.path.lexists(log := path.with_name(path.name + "-wal")):
        raise InputError(f"{path} is a database in use, or was one, for {log.name} is beside it: name another file")


def check_place(path: Path, *, remedy: str = "name a place outside it") -> None:
    """Raise InputError if `path` is a bot's folder or lies in one: its files are the bot's, and go where it goes."""
    place = _resolved(path)
    for folder in (place, *place.parents):
        if os.path.isfile(folder / _BOT_FILE):  # noqa: PTH113 - Path.is_file raises where a folder is closed to us
            raise InputError(f"{path} would lie in the folder of a bot, {folder}, and be part of the bot: {remedy}")


def check_folder(path: Path, *, remedy: str = "name a new folder") -> None:
    """Raise InputError unless `path` is outside of every bot's folder, and missing or an empty folder."""
    check_place(path)
    found = _stat(path)
    if found is None:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path} already exists and is not a folder: {remedy}")
    try:
        with os.scandir(path) as entries:
            is_empty = next(entries, None) is None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if not is_empty:
        raise InputError(f"{path} already has files in it: {remedy}")


def is_database(path: Path) -> bool:
    """True if the file is a database of SQLite, a log or a journal. Raises InputError if it cannot be read.

    A database that is open in this process must not be asked for: closing it here would drop SQLite's locks.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(descriptor, 16).startswith(_MAGIC)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InputError(f"{path} exists and cannot be read: {error.strerror}; name another file") from None


def is_stream(found: os.stat_result) -> bool:
    """True for pipes, terminals, /dev/null: data goes through, and nothing is replaced."""
    return stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode)


@contextmanager
def new_file(
    path: Path,
    *,
    reads: Collection[Path] = (),
    force: bool | None = None,
    private: bool = False,
    remedy: str = "name another file",
) -> Iterator[BinaryIO]:
    """Yield a file to write; it gets its name at the end, if nothing failed. `-` is standard output.

    A file that is replaced passes its mode on; a `private` one gets mode 0600. Raises InputError as `check_file` does,
    and where the file cannot be written.
    """
    if str(path) in ("-", "/dev/stdout"):
        yield sys.stdout.buffer
        return

    def check() -> None:
        check_file(path, reads=reads, force=force, remedy=remedy)

    check()
    with _errors_of(path):
        found = _stat(path)
        if found is not None and is_stream(found):
            with open(path, "wb") as stream:
                yield stream
            return
        with staged(_resolved(path), PRIVATE if private else _mode(found)) as (file, unfinished):
            yield file
            finish(file)
            check()  # again: the place may have been taken in the meantime
            unfinished.replace(_resolved(path))
        sync(_resolved(path).parent)


@contextmanager
def staged(target: Path, mode: int) -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a new file beside `target` and its path; leaving with an exception removes it. Raises OSError."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:60]}.", suffix=STAGED, dir=target.parent)
    unfinished = Path(name)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            yield file, unfinished
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def finish(file: BinaryIO) -> None:
    """Return when all that was written is on the disk. Raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def new_folder(path: Path, *, private: bool = False, remedy: str = "name a new folder") -> Iterator[Path]:
    """Yield a folder to fill; what is in it comes to be the new or empty folder `path` at the end, if nothing failed.

    A `private` folder gets mode 0700. Raises InputError as `check_folder` does, and where it cannot be written.
    """
    check_folder(path, remedy=remedy)
    place = _resolved(path)
    is_new = not place.exists()
    with _errors_of(path):
        base = place.parent if is_new else place
        base.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{place.name[:60]}.", suffix=STAGED, dir=base))
        try:
            yield unfinished
            if is_new:
                unfinished.chmod(0o700 if private else 0o777 & ~_umask())
                unfinished.rename(place)
            else:
                for made in sorted(unfinished.iterdir()):
                    made.rename(place / made.name)
                unfinished.rmdir()
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise


def free_name(path: Path) -> Path:
    """Return `path`, or where that exists the first of `path-2`, `path-3`, … that does not; the ending stays."""
    names = (path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not os.path.lexists(name))


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a loop of links
        raise InputError(f"{path} cannot be found: its links lead nowhere, or the current folder is gone") from None


def _files_of(read: Path) -> Iterator[os.stat_result]:
    """A file that the command reads, and what SQLite and the claim keep beside it if it is a database."""
    file = _resolved(read)
    for path in (file, *(file.with_name(file.name + companion) for companion in _COMPANIONS)):
        with suppress(OSError):
            yield path.stat()


def _base_of(path: Path, reads: Collection[Path]) -> Path | None:
    """The database to which `path` belongs by its name. Those that the command reads are not opened for this."""
    file = _resolved(path)
    for companion in _COMPANIONS:
        base = file.with_name(file.name.removesuffix(companion) or file.name)
        found = _stat(base)
        if base == file or found is None or not stat.S_ISREG(found.st_mode):
            continue
        is_read = any(os.path.samestat(found, other) for read in reads for other in _files_of(read))
        if is_read or is_database(base):
            return base
    return None


def _mode(found: os.stat_result | None) -> int:
    return 0o666 & ~_umask() if found is None else stat.S_IMODE(found.st_mode) & 0o777


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
