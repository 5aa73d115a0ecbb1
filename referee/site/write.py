"""Files of one folder replaced together: all are written beside their places before the first is moved in."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from referee.errors import InputError
from referee.outputs import STAGED, check_file, finish, staged, sync


def write_folder(out: Path, texts: Mapping[str, str], *, remove: Callable[[], Collection[str]] = frozenset) -> None:
    """Write each text, as UTF-8, under its name in `out`, which is made where only it is missing.

    Every file is replaced whole (fsync, then a rename) and readable by all. Where one cannot be written, none is
    replaced. `remove` is called while no other publisher writes, and returns the names of files that are to go; it may
    raise InputError. Raises InputError where `out` cannot be written, or a file in it is one that is never replaced.
    """
    try:
        _make(out)
        with _alone(out):
            gone = remove()
            _sweep(out, texts)
            _replace(out, texts, gone)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(
            f"cannot publish into {out}: {why}; give a folder that can be written, in one that exists"
        ) from None


def _make(out: Path) -> None:
    if not out.is_dir():
        out.mkdir()
        out.chmod(0o755)


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Keep other publishers away, until this process's end at the latest."""
    descriptor = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sweep(out: Path, names: Iterable[str]) -> None:
    """Remove what publishers that were killed had written beside its place."""
    for name in names:
        for left in out.glob(f".{name}.*{STAGED}"):
            left.unlink(missing_ok=True)


def _replace(out: Path, texts: Mapping[str, str], gone: Collection[str]) -> None:
    with contextlib.ExitStack() as unfinished:
        places: dict[Path, Path] = {}
        for name, text in texts.items():
            if (out / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{name} in it is a folder")
            check_file(out / name, force=True)
            file, temporary = unfinished.enter_context(staged(out / name, 0o644))
            file.write(text.encode())
            finish(file)
            places[temporary] = out / name
        for name in gone:  # first: the list that names them is the last to be replaced
            (out / name).unlink(missing_ok=True)
        for temporary, target in places.items():
            temporary.replace(target)
    sync(out)
