"""Where bundles are written: a folder, or one .zip file."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from referee.outputs import PRIVATE, check_file, check_folder, new_file, new_folder

_REMEDY = "name a new file that ends in .zip, or a new folder"


class BundleOutput:
    """Where bundles are written: a folder, or a .zip file, its bytes those of its content alone.

    Used as a context: what was written is there after it, as a whole, unless it is left by an exception. `reads` are
    files that the command reads; in a `private` place only this user may read.
    """

    def __init__(self, path: Path, *, reads: Collection[Path] = (), private: bool = False) -> None:
        self.path = path
        self._reads = reads
        self._private = private
        self._data = io.BytesIO()
        self._archive = zipfile.ZipFile(self._data, "w", zipfile.ZIP_DEFLATED) if path.suffix == ".zip" else None
        self._folder = path
        self._undo = ExitStack()

    def __enter__(self) -> BundleOutput:
        """Raise InputError where something is there already."""
        if self._archive is None:
            check_folder(self.path, remedy=_REMEDY)
            self._folder = self._undo.enter_context(new_folder(self.path, private=self._private, remedy=_REMEDY))
        else:
            check_file(self.path, reads=self._reads, remedy=_REMEDY)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._archive is None:
            self._undo.__exit__(kind, error, trace)
        elif error is None:
            self._archive.close()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with new_file(self.path, reads=self._reads, private=self._private, remedy=_REMEDY) as file:
                file.write(self._data.getvalue())

    def write(self, files: dict[str, bytes], under: str = "") -> None:
        """Put files into it, in the folder `under` of it. Raises OSError."""
        for name, data in files.items():
            if self._archive is not None:
                self._archive.writestr(zipfile.ZipInfo(f"{under}{name}"), data, zipfile.ZIP_DEFLATED)
                continue
            target = self._folder / under / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb", opener=self._opener) as file:
                file.write(data)

    def _opener(self, name: str, flags: int) -> int:
        return os.open(name, flags, PRIVATE if self._private else 0o666)
