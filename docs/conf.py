"""How Sphinx makes the site of the repository's Markdown pages; `scripts/docs` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]

import referee  # noqa: E402

project = "referee"
author = "the authors of referee"
copyright = author  # noqa: A001
release = version = referee.__version__

# The source is the whole repository, so that one link serves a forge's page and the site alike.
root_doc = "docs/index"
source_suffix = {".md": "markdown"}
include_patterns = [
    "docs/*.md",
    "docs/decisions/*.md",
    "protocol/README.md",
    "benchmarks/README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
exclude_patterns = ["docs/_*", ".*", "referee", "tests", "scripts", "example_bots", "leaderboards", "*-league", "logs"]
extensions = ["myst_parser", "sphinx_click", "sphinx_copybutton", "front", "folders", "commands"]

myst_enable_extensions = ["tasklist"]
myst_heading_anchors = 4
smartquotes = False  # two hyphens before an option stay two
default_role = "literal"  # of the help of commands, which quotes with single backticks

copybutton_prompt_text = r"\w*\$ +"
copybutton_prompt_is_regexp = True
highlight_language = "text"  # of a block that names none

html_theme = "furo"
html_favicon = "images/icon.svg"
html_title = f"referee {release}"
html_additional_pages = {"index": "moved.html"}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_copy_source = False
