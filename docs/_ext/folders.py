"""Links to folders of the repository: in the site they lead to a page that lists the folder, with copies of its files.

A forge shows a folder by itself; a folder outside of the repository, or one that is not there, stays a warning.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

COPIES = "files"
"""The site's folder of copies."""


def _linked(env: BuildEnvironment) -> set[str]:
    """The folders that pages link to; part of the environment, so that it is kept from build to build."""
    found: set[str] = env.__dict__.setdefault("linked_folders", set())
    return found


def _lead_on(app: Sphinx, document: nodes.document) -> None:
    root, page = Path(app.srcdir), app.env.docname
    for node in list(document.findall(pending_xref)):
        folder = (root / page).parent / node["reftarget"]
        if node["reftype"] != "myst" or not folder.is_dir() or not folder.resolve().is_relative_to(root):
            continue
        name = folder.resolve().relative_to(root).as_posix()
        _linked(app.env).add(name)
        uri = app.builder.get_relative_uri(page, f"{COPIES}/{name}/index")
        node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=uri))


def _files(folder: Path) -> list[Path]:
    """What is in a folder, but for what programs leave there."""
    kept = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in kept if not any(part[0] in "._" for part in path.relative_to(folder).parts)]


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    for name in sorted(_linked(app.env)):
        folder, copies = Path(app.srcdir) / name, Path(app.outdir) / COPIES / name
        items = []
        for path in _files(folder):
            inside = path.relative_to(folder).as_posix()
            (copies / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copies / f"{inside}.txt")
            items.append(f'<li><a href="{escape(inside)}.txt">{escape(inside)}</a></li>')
        body = f"<h1><code>{escape(name)}</code></h1><ul>{''.join(items)}</ul>"
        yield f"{COPIES}/{name}/index", {"title": name, "body": body}, "page.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_lexer("csv", TextLexer)  # a forge knows this name of a block, Pygments does not
    app.connect("doctree-read", _lead_on)
    app.connect("html-collect-pages", _pages)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
