"""The site, built once for all tests, and what its pages link to."""

from __future__ import annotations

import subprocess
import sys
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from command_line import ROOT, environment


class Page(HTMLParser):
    """What a page of the site has: its anchors, its links and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("img", "script", "link") and found.get("rel") not in ("next", "prev", "index", "search"):
            self.loaded += [found[name] for name in ("src", "href") if name in found]


class Site:
    """The pages of a built site."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[str, Page]:
        """All pages by their path."""
        found = {path.relative_to(self.folder).as_posix(): Page(path) for path in sorted(self.folder.rglob("*.html"))}
        return {name: page for name, page in found.items() if not name.startswith("_static/")}

    def target(self, page: Page, link: str) -> Path:
        """The file that a link of a page leads to."""
        path = unquote(urlsplit(link).path)
        return (page.path.parent / path).resolve() if path else page.path

    def lacks(self, page: Page, link: str) -> bool:
        """Whether a link within the site leads nowhere."""
        target, anchor = self.target(page, link), unquote(urlsplit(link).fragment)
        if not target.is_file() or not target.is_relative_to(self.folder.resolve()):
            return True
        name = target.relative_to(self.folder.resolve()).as_posix()
        return bool(anchor) and name in self.pages and anchor not in self.pages[name].anchors

    def reachable(self, start: str) -> set[str]:
        """The pages to which links lead from one of them."""
        seen, owed = {start}, [start]
        while owed:
            page = self.pages[owed.pop()]
            for link in page.links:
                target = self.target(page, link)
                name = target.relative_to(self.folder.resolve()).as_posix() if is_inner(link) else start
                if name in self.pages and name not in seen:
                    seen.add(name)
                    owed.append(name)
        return seen


def is_inner(link: str) -> bool:
    """Whether a link stays within the site."""
    return not urlsplit(link).scheme and not link.startswith("//")


FLAGS = ["--quiet", "--fail-on-warning", "--keep-going", "--builder", "html", "--conf-dir", "docs"]
"""What `scripts/docs` tells Sphinx."""


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `scripts/docs` does; that every page is listed has a test with words of its own."""
    words = [*FLAGS, "-D", "suppress_warnings=toc.not_included"]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words, "--doctree-dir", str(folder / "doctrees"), ".", str(folder / "html")],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
