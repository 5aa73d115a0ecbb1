"""Validators that others made: they accept every schema and every line, and refuse what our own models refuse."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from command_line import ROOT
from generators import HERE, run_in
from messages import ACT, OUT_OF_CONTRACT, WRONG

SCHEMAS = ROOT / "protocol" / "schema" / "v1"
Case = tuple[str, Any]


def good(lines: list[str]) -> list[Case]:
    """Every message of the transcripts, with the schema of its direction and its own."""
    cases = []
    for line in map(json.loads, lines):
        name = "referee-to-bot" if line["to"] == "bot" else "bot-to-referee"
        cases += [(name, line["line"]), (line["line"].get("type", "answer"), line["line"])]
    return cases


def has_point(value: Any) -> bool:
    """Whether there is a number such as 7.0, which a JSON Schema takes for an integer."""
    if isinstance(value, dict | list):
        return any(map(has_point, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()


def bad() -> list[Case]:
    """Every message that the models' tests know to be wrong, as far as a schema can tell, in both directions."""
    questions = [("act", {**ACT, field: value}) for field, values in WRONG.items() for value in values]
    others = [(name, {**message, field: value}) for name, message, field, value in OUT_OF_CONTRACT]
    said: list[Case] = [("answer", {"id": value, "action": "keep"}) for value in WRONG["id"]]
    said += [("answer", {"id": 7, "action": value}) for value in (None, 7, ["keep"])]
    said += [("answer", {"id": 7}), ("answer", {"action": "keep"}), ("answer", "keep"), ("answer", [])]
    said += [("ready", {"type": "ready", "protocol": value}) for value in (True, "1", None, -1, 0.5, 2**53)]
    said += [("ready", {"type": "ready"}), ("ready", {"protocol": 1})]
    own = [(name, message) for name, message in [*questions, *others, *said] if not has_point(message)]
    unions = {"answer": "bot-to-referee", "ready": "bot-to-referee"}
    return [*own, *((unions.get(name, "referee-to-bot"), message) for name, message in own)]


def test_the_wrong_messages_are_many_and_of_all_kinds() -> None:
    assert len(bad()) > 200
    assert {name for name, _ in bad()} > {"act", "start", "end", "hello", "fault", "answer", "ready", "bot-to-referee"}


def ajv(cases: list[Case], node_modules: Path, folder: Path) -> list[str]:
    """What ajv says of each case, in its order."""
    (folder / "node_modules").symlink_to(node_modules)
    (folder / "validate.mjs").write_bytes((HERE / "validate.mjs").read_bytes())
    asked = "".join(json.dumps({"schema": f"{name}.json", "message": message}) + "\n" for name, message in cases)
    return run_in(folder, ["node", "validate.mjs", str(SCHEMAS)], stdin=asked).splitlines()


def test_ajv_compiles_every_schema_strictly_and_judges_as_we_do(
    lines: list[str], node_modules: Path, tmp_path: Path
) -> None:
    accepted, refused = good(lines), bad()
    assert {name for name, _ in accepted} == {path.stem for path in SCHEMAS.iterdir()}
    said = ajv([*accepted, *refused], node_modules, tmp_path)
    assert said == ["accepted"] * len(accepted) + ["refused"] * len(refused)


def check(*words: str | Path, folder: Path, status: int = 0) -> dict[str, Any]:
    """What check-jsonschema finds, as JSON."""
    program = Path(sys.executable).with_name("check-jsonschema")
    found = run_in(folder, [str(program), "-o", "json", *map(str, words)], status=status)
    return dict(json.loads(found))


def test_check_jsonschema_takes_every_schema_for_a_good_one(tmp_path: Path) -> None:
    schemas = sorted(SCHEMAS.iterdir())
    assert check("--check-metaschema", *schemas, folder=tmp_path)["status"] == "ok"
    (tmp_path / "broken.json").write_text(schemas[0].read_text("ascii").replace('"object"', '"thing"'))
    assert check("--check-metaschema", "broken.json", folder=tmp_path, status=1)["status"] == "fail"


def test_check_jsonschema_judges_as_we_do(lines: list[str], tmp_path: Path) -> None:
    for union in "referee-to-bot", "bot-to-referee":
        folder = tmp_path / union
        folder.mkdir()
        for kind, cases in ("good", good(lines)), ("bad", bad()):
            for number, message in enumerate(message for name, message in cases if name == union):
                (folder / f"{kind}-{number}.json").write_text(json.dumps(message))
        schema = SCHEMAS / f"{union}.json"
        accepted, refused = (sorted(folder.glob(f"{kind}-*")) for kind in ("good", "bad"))
        assert check("--schemafile", schema, *accepted, folder=folder)["status"] == "ok"
        found = check("--schemafile", schema, *refused, folder=folder, status=1)
        assert {Path(error["filename"]) for error in found["errors"]} == set(refused)
        assert not found["parse_errors"]
