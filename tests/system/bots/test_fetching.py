"""Builds with the network: what they are told of proxies, mirrors and certificates, and that they get through by it."""

from __future__ import annotations

import datetime
import json
import os
import select
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from bots.hostile.arena import as_a_user
from bots.webs import Answer, serving
from bots.workshops import BOXES, SANDBOXES, TIERS, Make, failure, tiers
from command_line import ROOT
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from seats import PROGRAMS, prepared

from referee.bots.building.fetching import NAMES
from referee.bots.cache.prepare import Prepared
from referee.bots.process.process import BotProcess
from referee.bots.sandbox.probing import launcher_for
from referee.bots.tiers import Tier
from referee.play import SystemClock

Build = Callable[..., Prepared]
HOST = "packages.invalid"
"""A name that nobody can resolve (RFC 2606): who gets there does so by the proxy."""


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


# -- who gets it


@tiers(TIERS)
def test_certificates_can_be_read_and_not_written_by_builds_that_may_fetch(
    tier: Tier, bot: Make, build: Build, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.write_text("a certificate")
    beside = authority.with_name("key.pem")
    beside.write_text("a secret")
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(authority))
    monkeypatch.setenv("GOSUMDB", "off")
    passed = ("NODE_EXTRA_CA_CERTS", "GOSUMDB")
    made = build(bot("told", str(authority), str(beside)), tier, fetch=True, passed=passed)
    told = json.loads((made.folder / "told").read_text())
    assert (told["variables"]["NODE_EXTRA_CA_CERTS"], told["variables"]["GOSUMDB"]) == (str(authority), "off")
    if tier.is_boxed:
        assert told["files"][str(authority)] in (["done", "EROFS"], ["done", "EACCES"])
        assert told["files"][str(beside)][0] in ("ENOENT", "EACCES")


@tiers(SANDBOXES)
def test_what_packages_are_for_can_be_read_wherever_it_is_there(tier: Tier, bot: Make, build: Build) -> None:
    """pip asks for them, and gives up where one is there that may not be read."""
    files = ("/etc/os-release", "/etc/lsb-release", "/etc/debian_version")
    told = json.loads((build(bot("told", *files), tier, fetch=True).folder / "told").read_text())
    assert {file: told["files"][file][0] for file in files} == {
        file: "done" if Path(file).exists() else "ENOENT" for file in files
    }


@tiers(TIERS)
def test_no_other_build_and_no_bot_that_plays_is_told_of_any(
    tier: Tier, bot: Make, build: Build, authority: Path, public_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.write_text("a certificate")
    for name in NAMES:
        monkeypatch.setenv(name, str(authority))
    found = json.loads((build(bot("told", str(authority)), tier).folder / "told").read_text())
    assert not set(found["variables"]) & set(NAMES)
    if tier.is_boxed:
        assert found["files"][str(authority)][0] in ("ENOENT", "EACCES")
    assert not set(played(tier, public_path)) & set(NAMES)


def played(tier: Tier, folder: Path) -> dict[str, str]:
    """The environment of a bot's process at a tier."""
    (folder / "playing").mkdir()
    (folder / "scratch").mkdir()
    (folder / "playing" / "escape.py").write_bytes((PROGRAMS / "escape.py").read_bytes())
    seen = prepared("/usr/bin/python3", "-S", "escape.py", "environment", folder=folder / "playing")
    child = launcher_for(tier, scratch=folder / "scratch").launch(seen)
    try:
        clock = SystemClock()
        said = json.loads(BotProcess(child, clock).exchange(b"", clock.now() + 60_000_000_000))
    finally:
        child.end()
    variables: dict[str, str] = said["environment"]
    return variables


# -- the way out of a company


@tiers(SANDBOXES)
def test_a_build_gets_through_a_proxy_to_a_host_with_a_certificate_of_the_companys_own(
    tier: Tier, bot: Make, build: Build, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with company(authority) as (port, asked):
        manifest = bot("fetch", f"https://{HOST}:{port}/")
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        assert "it was shown a certificate that it does not know" in failure(build, manifest, tier, fetch=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        made = build(manifest, tier, fetch=True).folder / "fetched"
        assert made.read_bytes() == b"fetched"
    assert set(asked) == {f"{HOST}:{port}"}


@contextmanager
def company(authority: Path) -> Iterator[tuple[int, list[str]]]:
    """The port of a proxy behind which everybody is `HOST` with a certificate of `authority`, and who was asked for."""
    asked: list[str] = []
    with packages(authority) as inside:

        class Proxy(BaseHTTPRequestHandler):
            def do_CONNECT(self) -> None:
                asked.append(self.path)
                with socket.create_connection(("127.0.0.1", inside)) as behind:
                    self.send_response(200)
                    self.end_headers()
                    pass_on(self.connection, behind)
                self.close_connection = True

            def log_message(self, *_: Any) -> None: ...

        with serving(ThreadingHTTPServer(("127.0.0.1", 0), Proxy)) as port:
            yield port, asked


def pass_on(one: socket.socket, other: socket.socket) -> None:
    """Carry bytes both ways until a side ends."""
    to = {one: other, other: one}
    with suppress(OSError):
        while True:
            for ready in select.select([one, other], [], [])[0]:
                piece = ready.recv(65536)
                if not piece:
                    return
                to[ready].sendall(piece)


@contextmanager
def packages(authority: Path) -> Iterator[int]:
    """The port of a server that answers `fetched` by TLS, with a certificate for `HOST` by an authority made for it."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Who does not trust it hangs up."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certified(authority))
    server = Server(("127.0.0.1", 0), Answer)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with serving(server) as port:
        yield port


def certified(authority: Path) -> Path:
    """A key and a certificate for `HOST`, in one file; that of who certifies it is written to `authority`."""
    ours, theirs = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    top = certificate("The company", ours, "The company", ours, x509.BasicConstraints(ca=True, path_length=None))
    authority.write_bytes(top.public_bytes(serialization.Encoding.PEM))
    own = certificate(HOST, theirs, "The company", ours, x509.SubjectAlternativeName([x509.DNSName(HOST)]))
    place = authority.with_name("host.pem")
    key = theirs.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    place.write_bytes(key + own.public_bytes(serialization.Encoding.PEM))
    return place


def certificate(
    who: str,
    key: ec.EllipticCurvePrivateKey,
    by: str,
    with_key: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, who)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, by)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(extension, critical=True)
        .sign(with_key, hashes.SHA256())
    )


# -- as somebody else


def test_all_of_that_holds_for_who_is_not_root_too() -> None:
    if os.geteuid() != 0 or not BOXES:
        return  # all of the above was done by such a one, or there is nothing to do it in
    only = ("-k", "tier_A or not tier", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@tiers(SANDBOXES)
def test_a_certificate_that_the_box_could_not_read_is_refused_by_its_name(
    tier: Tier, bot: Make, build: Build, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.touch()
    authority.chmod(0)
    monkeypatch.setenv("CARGO_HTTP_CAINFO", str(authority))
    with pytest.raises(
        Exception, match=f"CARGO_HTTP_CAINFO names {authority}, which the user that makes sandboxes may not"
    ):
        build(bot("told"), tier, fetch=True, passed=("CARGO_HTTP_CAINFO",))
