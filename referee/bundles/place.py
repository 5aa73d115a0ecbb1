"""Where bundles are written: a folder, or one .zip file."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from referee.errors import InputError


class Place:
    """Where bundles are written: a folder, or a .zip file, its bytes those of its content alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = io.BytesIO()
        self._archive = zipfile.ZipFile(self._data, "w", zipfile.ZIP_DEFLATED) if path.suffix == ".zip" else None

    def check(self) -> None:
        """Raise InputError where something is there already."""
        is_free = not self.path.exists() or (
            self._archive is None and self.path.is_dir() and not any(self.path.iterdir())
        )
        if not is_free:
            raise InputError(f"{self.path} is there already: name a new file that ends in .zip, or a new folder")

    def write(self, files: dict[str, bytes], under: str = "") -> None:
        """Put files into it, in the folder `under` of it. Raises OSError."""
        for name, data in files.items():
            if self._archive is not None:
                self._archive.writestr(zipfile.ZipInfo(f"{under}{name}"), data, zipfile.ZIP_DEFLATED)
            else:
                target = self.path / under / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)

    def finish(self) -> None:
        """Write the .zip file. Raises OSError."""
        if self._archive is not None:
            self._archive.close()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(self._data.getvalue())
