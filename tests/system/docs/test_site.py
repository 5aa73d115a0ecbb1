"""The site: built without a warning, every page in its contents, every command in its reference, every link leads on."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from command_line import ROOT, environment
from pages import EVERYWHERE, FRONT, PAGES, options, subcommand, tokens
from site_of_pages import FLAGS, Site, is_inner

LISTED = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", PAGES["index.md"], re.MULTILINE)


def test_every_page_is_listed_on_the_front_page() -> None:
    ours = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    for name in sorted(ours - set(LISTED)):
        pytest.fail(f"docs/{name} is in no list of {FRONT}: add a line for it there, under its readers")
    assert len(LISTED) == len(set(LISTED))


def test_the_script_builds_what_is_tested_here() -> None:
    """From the root, to a folder that git does not see."""
    script = (ROOT / "scripts" / "docs").read_text("utf-8")
    assert f'sphinx-build {" ".join(FLAGS)} "$@" . docs/_build/html\n' in script
    assert "/docs/_build/\n" in (ROOT / ".gitignore").read_text("utf-8")


def test_every_page_is_reachable_from_the_front_page(site: Site) -> None:
    made_by_sphinx = {"genindex.html", "search.html", "index.html"}
    assert site.reachable("docs/index.html") >= set(site.pages) - made_by_sphinx
    assert "docs/index.html" in site.reachable("index.html") or "docs/index.html" in Path(
        site.folder / "index.html"
    ).read_text("utf-8")
    assert len(site.pages) > len(LISTED)


def test_every_command_has_an_entry_with_all_its_options(site: Site) -> None:
    anchors = site.pages["docs/commands.html"].anchors
    for command in EVERYWHERE:
        words = " ".join(["referee", command]).strip().replace(" ", "-")
        assert words in anchors, f"the reference has no referee {command}"
        for name, option in options(command).items():
            wanted = f"cmdoption-{words}-{name.lstrip('-')}"
            if not option.hidden and name != "--help" and name != "-h":
                assert wanted in anchors, f"the reference of referee {command} lacks {name}"


def test_the_reference_says_defaults_and_variables_as_one_types_them(site: Site) -> None:
    page = (site.folder / "docs" / "commands.html").read_text("utf-8")
    text = " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())
    assert (
        "How long one decision may take; none: no limit. Default: 1s Environment: REFEREE_TOURNAMENT_MOVE_TIME" in text
    )
    assert "Show this message and exit" not in text  # which is true of all of them, and said above
    assert "mailto:" not in page and "NAME@HASH" in text
    assert "REFEREE_TOURNAMENT_CLOSE_ROUND" not in text  # an act, which no variable does
    for command in filter(None, EVERYWHERE):
        for line in re.findall(r"^  (referee .*)", subcommand(command).epilog or "", re.MULTILINE):
            assert " ".join(line.split()) in text, f"the reference of referee {command} lacks its example {line}"


def test_all_links_and_files_of_the_site_lead_somewhere(site: Site) -> None:
    nowhere = [
        (name, link)
        for name, page in site.pages.items()
        for link in [*page.links, *page.loaded]
        if is_inner(link) and site.lacks(page, link)
    ]
    assert nowhere == []


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    loaded = {link for page in site.pages.values() for link in page.loaded}
    assert loaded and {link for link in loaded if not is_inner(link) and not link.startswith("data:")} == set()


def test_links_to_the_world_are_https() -> None:
    links = [
        str(token.attrs["href"])
        for text in PAGES.values()
        for token in tokens(text)
        if re.match("[a-z]+:", str(token.attrs.get("href") or ""))
    ]
    assert links
    for link in links:
        parts = urlsplit(link)
        assert parts.scheme == "https" and re.fullmatch(r"([\w-]+\.)+[a-z]{2,}", parts.netloc), link


def test_pictures_of_cards_are_as_their_program_draws_them(tmp_path: Path) -> None:
    images = ROOT / "docs" / "images"
    program = (
        f"import sys; sys.path.insert(0, {str(images.parent)!r}); import make_cards as made\n"
        f"made.IMAGES = __import__('pathlib').Path({str(tmp_path)!r}); made.main()"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True, timeout=600)
    drawn = sorted(tmp_path.iterdir())
    assert len(drawn) > 5
    for path in drawn:
        assert (images / path.name).read_text("utf-8") == path.read_text("utf-8"), (
            f"docs/images/{path.name} is old: python docs/make_cards.py draws it anew"
        )


@pytest.mark.parametrize("page", PAGES)
def test_a_picture_has_words_for_those_who_do_not_see_it(page: str) -> None:
    for token in tokens(PAGES[page]):
        if token.type == "image":
            assert len(token.content.split()) > 5, token.attrs["src"]
