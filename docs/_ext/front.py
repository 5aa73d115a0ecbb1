"""The site's table of contents: each list of links on the front page and on the page of decisions, under its heading.

So the front page is plain Markdown that reads well on a forge too, and a page is added in one place.
"""

from __future__ import annotations

import posixpath
import re

from sphinx.application import Sphinx

LINK = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<path>[^)#:]+)\.md\)", re.MULTILINE)


def contents(text: str, folder: str) -> str:
    """The hidden tables of contents that the lists of a page stand for; `folder` is the page's own."""
    _, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    lines: list[str] = []
    for heading, body in zip(parts[::2], parts[1::2], strict=True):
        lines += ["", "```{toctree}", ":hidden:", f":caption: {heading}", ""]
        for link in LINK.finditer(body):
            page = posixpath.normpath(posixpath.join("/", folder, link["path"]))
            lines.append(f"{link['title']} <{page}>")
        lines.append("```")
    return "\n".join(lines)


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    if page in (app.config.root_doc, "docs/decisions"):
        source[0] += contents(source[0], posixpath.dirname(page))


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
