"""What the tests of the pages share: the built site."""

from __future__ import annotations

import pytest
from site_of_pages import Site, build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site, built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert (done.returncode, done.stderr) == (0, ""), f"the site is not built: {done.stderr}"
    return Site(folder / "html")
