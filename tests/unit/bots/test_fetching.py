"""Builds with the network: what they are told of proxies, mirrors and certificates, and that they get through by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from referee.bots.building.fetching import NAMES, fetch_environment, redacted
from referee.bots.cache.prepare import Prepared
from referee.bots.sandbox.bubblewrap import shown_with_network
from referee.errors import InputError

Build = Callable[..., Prepared]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the environment in which the tests run is handed on."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def authority(public_path: Path) -> Path:
    """The certificate of a company's own authority, in a folder that no box shows by itself."""
    place = public_path / "trusted" / "authority.pem"
    place.parent.mkdir()
    return place


# -- what is handed on


def test_what_is_handed_on_says_where_to_fetch_from_and_is_no_password_of_its_own() -> None:
    told = {
        "HTTPS_PROXY": "http://p:1",
        "no_proxy": "localhost",
        "GOPROXY": "https://m",
        "npm_config_registry": "https://n",
    }
    kept = {"NPM_TOKEN": "x", "CARGO_REGISTRY_TOKEN": "x", "TWINE_PASSWORD": "x", "LD_PRELOAD": "x", "GOFLAGS": "x"}
    passed = ("GOPROXY", "npm_config_registry", "PIP_INDEX_URL")
    assert fetch_environment(told | kept | {"PIP_INDEX_URL": ""}, passed).variables == told
    assert set(fetch_environment(told | kept).variables) == {"HTTPS_PROXY", "no_proxy"}


def test_files_that_are_named_are_shown_and_what_does_not_exist_is_only_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ca.pem").touch()
    (tmp_path / "more").mkdir()
    environment = {
        "SSL_CERT_FILE": "ca.pem",
        "SSL_CERT_DIR": f"{tmp_path}/more::{tmp_path}/gone",
        "CURL_CA_BUNDLE": "/proc/self/stat",
        "PIP_CERT": f"{tmp_path}/ca.pem",
    }
    found = fetch_environment(environment, ("SSL_CERT_DIR", "CURL_CA_BUNDLE"))
    assert found.variables == {
        "SSL_CERT_FILE": f"{tmp_path}/ca.pem",
        "SSL_CERT_DIR": f"{tmp_path}/more::{tmp_path}/gone",
        "CURL_CA_BUNDLE": "/proc/self/stat",
    }
    assert found.files == {tmp_path / "ca.pem": "SSL_CERT_FILE", tmp_path / "more": "SSL_CERT_DIR"}


def test_a_path_that_no_system_takes_is_only_told() -> None:
    found = fetch_environment({"SSL_CERT_FILE": "/" + 5000 * "x"})
    assert (len(found.variables["SSL_CERT_FILE"]), found.files) == (5001, {})


def test_users_passwords_and_tokens_are_left_out_of_what_is_printed() -> None:
    told = {
        "HTTPS_PROXY": "http://me:p%40ss@host:1",
        "UV_INDEX": "https://tokentoken@a/simple https://x:longer@b",
        "no_proxy": "me",
    }
    said = "http://me:p%40ss@host:1 p@ss tokentoken@a longer me x host"
    assert redacted(said, told) == "http://***@host:1 *** ***@a *** me x host"
    assert redacted("nothing to hide", {"HTTP_PROXY": "http://a@b"}) == "nothing to hide"


def test_with_a_link_comes_what_it_leads_to_and_nothing_twice(public_path: Path) -> None:
    (public_path / "real.pem").touch()
    (public_path / "link.pem").symlink_to("real.pem")
    places = {public_path / "link.pem", public_path / "real.pem"}
    found = fetch_environment(
        {"PIP_CERT": str(public_path / "link.pem"), "SSL_CERT_FILE": str(public_path / "link.pem")}, ("PIP_CERT",)
    )
    assert set(found.beyond([Path("/usr")])) == places and len(found.beyond([])) == 2
    assert found.beyond([public_path]) == ()
    assert fetch_environment({"SSL_CERT_DIR": "/usr/share"}, ("SSL_CERT_DIR",)).beyond(shown_with_network()) == ()


@pytest.mark.parametrize("place", ["/", "/etc", "/var", str(Path.home()), str(Path.home().parent)])
def test_a_folder_with_far_more_in_it_is_refused(place: str) -> None:
    with pytest.raises(InputError, match=f"SSL_CERT_DIR names {place}, which holds far more"):
        fetch_environment({"SSL_CERT_DIR": place}, ("SSL_CERT_DIR",)).beyond(shown_with_network())
