"""`referee build`: what it says, how it ends, and that a tournament has what it made."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.bots.cache.build import last_lines, remedy, script
from referee.errors import InputError

# -- scripts and words


def test_a_step_is_a_program_and_no_word_of_the_shell() -> None:
    made = script([("/usr/bin/printf", "%s", "a b; $HOME `x` 'y'"), ("./a=b",)], source=None)
    assert "/usr/bin/printf %s 'a b; $HOME `x` '\"'\"'y'\"'\"'' </dev/null 2>&1 || failed $?" in made.splitlines()
    assert "./a=b </dev/null 2>&1 || failed $?" in made.splitlines()


def test_a_script_that_the_system_would_not_take_is_refused() -> None:
    with pytest.raises(InputError, match="too long: put it into a script of the folder"):
        script([("/bin/true", "x" * 130_000)], source=None)


@pytest.mark.parametrize(
    "said",
    [
        "curl: (6) Could not resolve host: example.org",
        "npm error code ENOTFOUND",
        'go: github.com/a/b@v1: Get "https://x": dial tcp: lookup x: no such host',
        "error: failed to get `rand`: failed to resolve address for index.crates.io: Temporary failure in name resolution",
        "ERROR: Failed to establish a new connection: [Errno 101] Network is unreachable",
        "java.net.UnknownHostException: repo1.maven.org",
    ],
)
def test_words_of_no_network_are_known_and_not_told_to_who_has_it(said: str) -> None:
    assert "`referee build x --fetch`" in remedy(said, "x", fetch=False)
    assert "`referee build x --allow-runtime /opt/a --fetch`" in remedy(
        said, "x", fetch=False, allowed=[Path("/opt/a")]
    )
    assert remedy(said, "x", fetch=True) == ""
    assert remedy("syntax error", "x", fetch=False) == ""


@pytest.mark.parametrize(
    "said",
    [
        "curl: (60) SSL certificate problem: unable to get local issuer certificate",
        "npm error code SELF_SIGNED_CERT_IN_CHAIN",
        "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        "[60] SSL peer certificate or SSH remote key was not OK (SSL certificate problem: self-signed certificate)",
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        "PKIX path building failed: unable to find valid certification path to requested target",
    ],
)
def test_words_of_a_strange_certificate_are_known_where_there_is_a_network(said: str) -> None:
    assert "name the file of your own by SSL_CERT_FILE, and for Node by NODE_EXTRA_CA_CERTS" in remedy(
        said, "x", fetch=True
    )
    assert remedy(said, "x", fetch=False) == ""


def test_of_a_log_the_last_lines_are_shown_escaped() -> None:
    assert last_lines("$ make\n") == ""
    assert last_lines("\n".join(map(str, range(20)))).splitlines()[1:] == [f"    {number}" for number in range(8, 20)]
    assert last_lines("\x1b[31m") == "\n    \\x1b[31m"
