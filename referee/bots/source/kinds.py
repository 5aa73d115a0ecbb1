"""The kinds of source files that are a bot by themselves: how each is built and started."""

from __future__ import annotations

from typing import NamedTuple

PROGRAM = "bot"
"""What a compiled source file becomes."""


class Recipe(NamedTuple):
    """How one file becomes a process: commands run once in a copy of its folder, and the command of a game."""

    language: str
    build: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]


_INTERPRETED = {
    ".py": ("Python", "python3"),
    ".js": ("JavaScript", "node"),
    ".mjs": ("JavaScript", "node"),
    ".cjs": ("JavaScript", "node"),
    ".rb": ("Ruby", "ruby"),
    ".pl": ("Perl", "perl"),
    ".lua": ("Lua", "lua"),
    ".php": ("PHP", "php"),
    ".sh": ("Shell", "sh"),
    ".java": ("Java", "java"),
}
_COMPILED = {
    ".c": ("C", ("cc", "-O2", "-o", PROGRAM), ("-lm",)),
    ".cpp": ("C++", ("c++", "-O2", "-o", PROGRAM), ()),
    ".cc": ("C++", ("c++", "-O2", "-o", PROGRAM), ()),
    ".go": ("Go", ("go", "build", "-o", PROGRAM), ()),
    ".rs": ("Rust", ("rustc", "-O", "-o", PROGRAM), ()),
}
SUFFIXES: tuple[str, ...] = (*_INTERPRETED, *_COMPILED)


def recipe_for(file: str) -> Recipe | None:
    """How a source file of this name is built and started; None where its ending is none of `SUFFIXES`."""
    suffix = "." + file.rpartition(".")[2]
    if suffix in _INTERPRETED:
        language, interpreter = _INTERPRETED[suffix]
        return Recipe(language, (), (interpreter, f"./{file}"))
    if suffix in _COMPILED:
        language, compiler, libraries = _COMPILED[suffix]
        return Recipe(language, ((*compiler, f"./{file}", *libraries),), (f"./{PROGRAM}",))
    return None
