"""Which starter kits there are, and where they lie."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import NamedTuple

from protocol.text import readable
from referee.errors import InputError

_INSTALLED = Path(__file__).with_name("bots")
"""Where an installed package has them."""
_CHECKOUT = Path(__file__).parents[2] / "example_bots"


class Kit(NamedTuple):
    """A bot in one language: its folder, and the file in it whose `choose` an author changes.

    `other_names` are what people may write for the language. `fetches` tells that its build wants the network,
    `uses` names programs that it needs and its `bot.toml` does not name.
    """

    language: str
    folder: str
    source: str
    other_names: tuple[str, ...] = ()
    fetches: bool = False
    uses: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Its folder: of the installed package, or in a checkout that of the example bots."""
        return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / self.folder


KITS = {
    "python": Kit("Python", "greedy", "bot.py", ("py", "python3")),
    "javascript": Kit("JavaScript", "greedy-js", "bot.mjs", ("js", "node", "nodejs")),
    "typescript": Kit("TypeScript", "greedy-ts", "bot.ts", ("ts",), fetches=True),
    "go": Kit("Go", "greedy-go", "main.go", ("golang",)),
    "rust": Kit("Rust", "greedy-rust", "src/main.rs", ("rs",), fetches=True),
    "c": Kit("C", "greedy-c", "bot.c"),
    "cpp": Kit("C++", "greedy-cpp", "bot.cpp", ("c++", "cxx")),
    "java": Kit("Java", "greedy-java", "Bot.java", ("jdk",)),
    "ruby": Kit("Ruby", "greedy-ruby", "bot.rb", ("rb",)),
    "lua": Kit("Lua", "greedy-lua", "bot.lua"),
    "perl": Kit("Perl", "greedy-perl", "bot.pl", ("pl",)),
    "php": Kit("PHP", "greedy-php", "bot.php"),
    "shell": Kit("shell with jq", "greedy-sh", "bot.sh", ("sh", "bash", "jq"), uses=("jq",)),
}
"""By what `referee new` calls them."""


def find_kit(language: str) -> tuple[str, Kit]:
    """The kit of a language by any of its names, capitals aside, and how it is called.

    Raises InputError where there is none, with the names that come near, or all.
    """
    names = {other: name for name, kit in KITS.items() for other in (name, *kit.other_names)}
    wanted = language.casefold()
    if wanted in names:
        return names[wanted], KITS[names[wanted]]
    near = dict.fromkeys(names[found] for found in difflib.get_close_matches(wanted, names, n=3))
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(KITS)}"
    raise InputError(f"there is no kit for {readable(language, 40)!r}: {hint}")
