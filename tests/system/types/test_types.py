"""The types that others' tools make of the schemas: generated as docs/types.md says, compiled, and every line kept."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT
from generators import HERE, alone, run_in
from messages import ACT
from pages import PAGES, PARSER

PAGE = "types.md"
OPTIONAL = {"name", "version", "author", "language", "note"}
"""Fields that may be null or absent, which is the same."""
Workplace = Callable[[str], Path]


def fences(language: str) -> list[tuple[str, str]]:
    """The blocks of a language's section: what stands behind the fence, and the block."""
    section = re.split("^## ", PAGES[PAGE].partition(f"\n## {language}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return [(token.info, token.content) for token in PARSER.parse(section) if token.type == "fence"]


def commands(language: str) -> str:
    """What an author types, but for what fetches."""
    return "".join(code for info, code in fences(language) if info.startswith("sh ") and "it fetches" not in info)


def normal(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None or key not in OPTIONAL}


def assert_kept(printed: str, lines: Iterable[str]) -> None:
    """Each line that was printed is the same JSON value as the message that was read."""
    told = [normal(json.loads(line)["line"]) for line in lines]
    refused = [line for line in printed.splitlines() if line.startswith("refused")]
    assert not refused, refused[0]
    assert [normal(json.loads(line)) for line in printed.splitlines()] == told


def bad(field: str, value: Any) -> str:
    return json.dumps({"to": "bot", "seat": 0, "line": {**ACT, field: value}})


def squeezed(text: str) -> str:
    """Generators align with blanks, and quotes are a formatter's; what counts is the words."""
    return " ".join(text.replace("'", '"').split())


def assert_looks_as_shown(folder: Path, language: str) -> None:
    """What the page shows of a generated file stands in it."""
    shown = [(info.split(" ")[-1], code) for info, code in fences(language) if " generated " in info]
    assert shown
    for name, code in shown:
        assert squeezed(code) in squeezed((folder / name).read_text("utf-8"))


def test_typescript_types_hold_all_transcripts(workplace: Workplace, lines: list[str]) -> None:
    folder = workplace("typescript")
    head = 'import { said, told } from "./roundtrip";\n'
    calls = [
        f"{'told' if line['to'] == 'bot' else 'said'}({json.dumps(line['line'])});\n" for line in map(json.loads, lines)
    ]  # written into the program, so that the compiler itself looks at each line
    (folder / "lines.ts").write_text(head + "".join(calls))
    run_in(folder, commands("TypeScript"))
    assert_looks_as_shown(folder, "TypeScript")
    assert_kept(run_in(folder, ["node", "built/lines.js"]), lines)
    (folder / "wrong.ts").write_text(head + f"told({json.dumps({**ACT, 'phase': 'draw'})});\n")
    with pytest.raises(AssertionError, match=r"wrong\.ts.*error TS2345"):
        run_in(folder, ["npx", "tsc", "--strict", "--noEmit", "wrong.ts"])


def test_python_types_hold_all_transcripts(workplace: Workplace, lines: list[str]) -> None:
    folder = workplace("python")
    ours = [Path(sys.executable).parent]
    run_in(folder, commands("Python"), path=ours)
    assert_looks_as_shown(folder, "Python")
    assert_kept(run_in(folder, [sys.executable, "-W", "error", "roundtrip.py"], stdin="\n".join(lines) + "\n"), lines)
    wrong = [bad("phase", "draw"), bad("hand", ["7c"]), bad("id", 0)]
    printed = run_in(folder, [sys.executable, "roundtrip.py"], stdin="\n".join(wrong) + "\n")
    assert [line.partition(":")[0] for line in printed.splitlines()] == ["refused"] * 3


def test_go_types_hold_all_transcripts(workplace: Workplace, lines: list[str]) -> None:
    folder = workplace("go")
    run_in(folder, commands("Go"))
    assert_looks_as_shown(folder, "Go")
    assert_kept(run_in(folder, ["./roundtrip"], stdin="\n".join(lines) + "\n"), lines)
    printed = run_in(folder, ["./roundtrip"], stdin=bad("hand", "7C") + "\n")
    assert printed.startswith("refused: json: cannot unmarshal")


def test_rust_types_hold_all_transcripts(workplace: Workplace, kept: Path, lines: list[str]) -> None:
    folder = workplace("rust")
    with alone(kept / "rust"):
        run_in(folder, commands("Rust"), CARGO_TARGET_DIR=str(kept / "rust"))
        printed = run_in(folder, [str(kept / "rust" / "debug" / "roundtrip")], stdin="\n".join(lines) + "\n")
    assert_kept(printed, lines)


def test_the_versions_on_the_page_are_those_that_are_tested() -> None:
    named = dict(re.findall(r"([@\w/-]+)(?:@=?|==)(\d[\w.]*)", PAGES[PAGE]))
    npm = json.loads((HERE / "package.json").read_text())["devDependencies"]
    rust = tomllib.loads((HERE / "rust" / "Cargo.toml").read_text())["dependencies"]
    wanted = {name: pin.lstrip("=") for name, pin in npm.items() if name != "ajv"}
    wanted |= {name: (pin if isinstance(pin, str) else pin["version"]).lstrip("=") for name, pin in rust.items()}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["test"]
    wanted |= dict(pin.split("==") for pin in extras if "==" in pin)
    assert named == wanted


@pytest.mark.parametrize(
    ("language", "folder"), [("TypeScript", "typescript"), ("Python", "python"), ("Go", "go"), ("Rust", "rust")]
)
def test_the_code_on_the_page_is_the_code_that_is_compiled(language: str, folder: str) -> None:
    shown = [(info.split(" ")[-1], code) for info, code in fences(language) if " in" in info and "sh " not in info]
    assert shown
    for name, code in shown:
        assert code in (HERE / folder / name).read_text("utf-8")
