"""The site as a reader has it before him: a real browser finds no error, nothing wider than the screen, and what is sought."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, sync_playwright
from site_of_pages import Site

FLAGS = [
    "--no-sandbox",  # tests may be run by root, and load pages of ours alone
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = """() => [...document.querySelectorAll('article *')]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
    .filter(one => !one.closest('pre, .table-wrapper'))
    .map(one => one.outerHTML.slice(0, 200))"""
"""What is cut off at the right, but for what scrolls by itself: the theme hides it on small screens."""
WAITS = 60_000
"""Milliseconds that a busy machine may take for anything."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site.folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "the browser tests need chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=WAITS)
        yield browser
        browser.close()


@pytest.mark.parametrize("width", [375, 1280])
def test_no_page_has_an_error_or_is_wider_than_the_screen(
    site: Site, address: str, browser: Browser, width: int
) -> None:
    scheme = "dark" if width == 375 else "light"
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(WAITS)
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in sorted({*site.pages} - {"index.html"}):  # which leads on at once
        page.goto(f"{address}/{name}", wait_until="load")
        assert errors == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.evaluate(WIDE) == [], name
    context.close()


def test_pictures_are_loaded_and_their_words_stay_within(site: Site, address: str, browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(WAITS)
    page.goto(f"{address}/docs/rules.html", wait_until="load")
    sources = page.evaluate("[...document.querySelectorAll('article img')].map(one => [one.src, one.naturalWidth])")
    assert len(sources) > 5 and all(width > 0 for _, width in sources)
    for source, _ in sources:
        page.goto(source)
        outside = page.evaluate(
            """() => { const [x, y, width, height] = document.documentElement.getAttribute('viewBox').split(' ').map(Number);
            return [...document.querySelectorAll('text')].filter(one => {
                const box = one.getBBox();
                return !one.closest('g[transform]') && (box.x < x || box.x + box.width > width || box.y + box.height > height);
            }).map(one => one.textContent); }"""
        )
        assert outside == [], source
    page.close()


@pytest.mark.parametrize(
    ("words", "wanted"), [("withdrawn", "docs/tournaments.html"), ("--until-settled", "commands.html")]
)
def test_the_search_finds_pages(address: str, browser: Browser, words: str, wanted: str) -> None:
    page = browser.new_page()
    page.set_default_timeout(WAITS)
    page.goto(f"{address}/docs/index.html")
    page.fill("input[name=q]", words)
    page.press("input[name=q]", "Enter")
    page.wait_for_selector(f"#search-results a[href*='{wanted}']")
    page.close()


def test_the_front_of_the_site_leads_to_the_first_page(address: str, browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(WAITS)
    page.goto(f"{address}/")
    page.wait_for_url("**/docs/index.html")
    assert page.text_content("h1") is not None
    page.close()
