"""Trees that bots leave behind are removed, whatever they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from referee.bots.cache.removal import remove_tree

DEEP = 3000


def make_deep(folder: Path) -> None:
    """Folders nested deeper than Python's stack and longer than a path may be."""
    code = f"import os\nfor _ in range({DEEP}): os.mkdir('dddd'); os.chdir('dddd')\nopen('file', 'w').close()"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


def test_a_tree_deeper_than_the_stack_and_the_longest_path_is_removed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    make_deep(tree)
    assert remove_tree(tree)
    assert not tree.exists()


def test_folders_closed_to_their_owner_are_removed_whoever_that_is(tmp_path: Path) -> None:
    code = """
import os
from pathlib import Path
from referee.bots.cache.removal import remove_tree
if os.geteuid() == 0:  # to whom nothing is closed
    os.setgid(65534)
    os.setuid(65534)
os.makedirs("tree/closed/inner")
open("tree/closed/inner/file", "w").close()
for name in ("tree/closed/inner", "tree/closed", "tree"):
    os.chmod(name, 0)
assert remove_tree(Path("tree"))
"""
    tmp_path.chmod(0o777)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link").symlink_to(tmp_path / "kept")
    assert remove_tree(tree)
    assert (tmp_path / "kept" / "file").read_text() == "x"
    (tmp_path / "to_kept").symlink_to(tmp_path / "kept")
    assert not remove_tree(tmp_path / "to_kept")
    assert (tmp_path / "kept" / "file").exists()


def test_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    assert remove_tree(tmp_path / "nothing")
