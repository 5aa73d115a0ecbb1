"""Writes `schema/v1/` from the models: `python -m protocol.make_schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from protocol.messages import Act, Answer, BotMessage, End, Fault, Hello, Quit, Ready, RefereeMessage, Start

FOLDER = Path(__file__).parent / "schema" / "v1"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MESSAGES: dict[str, Any] = {
    message.__name__.lower(): message for message in (Hello, Start, Act, End, Fault, Quit, Ready, Answer)
}
_UNIONS: dict[str, tuple[str, str, Any]] = {
    "referee-to-bot": (
        "Message from the referee to a bot",
        "Any line that a bot reads. More types may come; a bot ignores those that it does not know.",
        RefereeMessage,
    ),
    "bot-to-referee": ("Message from a bot to the referee", "Any line that a bot writes.", BotMessage),
}


class _Plain(GenerateJsonSchema):
    """Leaves out the titles that would only repeat the names of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def schemas() -> dict[str, str]:
    """By file name: the JSON Schema (2020-12) of each message and of both unions, as text."""
    made = {name: _schema(name, model) for name, model in _MESSAGES.items()}
    for name, (title, description, union) in _UNIONS.items():
        made[name] = _schema(name, union, title=title, description=description)
    return {f"{name}.json": json.dumps(schema, indent=2) + "\n" for name, schema in made.items()}


def _schema(name: str, model: Any, **words: str) -> dict[str, Any]:
    body = TypeAdapter(model).json_schema(schema_generator=_Plain)
    head = {"$schema": _DIALECT, "$id": f"urn:four-widows:protocol:v1:{name}"}
    for key in ("title", "description"):
        head[key] = words.get(key) or body.pop(key)
    return {**head, **body}


def main() -> None:
    """Write every schema into its file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
