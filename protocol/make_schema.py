"""Writes `schema/v1/` from the models: `python -m protocol.make_schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from protocol.messages import Act, Answer, BotMessage, End, Fault, Hello, Quit, Ready, RefereeMessage, Start

FOLDER = Path(__file__).parent / "schema" / "v1"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MESSAGES: dict[str, Any] = {
    message.__name__.lower(): message for message in (Hello, Start, Act, End, Fault, Quit, Ready, Answer)
}
_UNIONS: dict[str, tuple[str, str, Any]] = {
    "referee-to-bot": (
        "RefereeMessage",
        "Any line that a bot reads. More types may come; a bot ignores those that it does not know.",
        RefereeMessage,
    ),
    "bot-to-referee": ("BotMessage", "Any line that a bot writes.", BotMessage),
}


class _Plain(GenerateJsonSchema):
    """Says the same in the words from which the generators of other languages make good types (docs/types.md)."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False  # it would only repeat the field's name

    def literal_schema(self, schema: Any) -> JsonSchemaValue:
        """One value is an `enum` too: typify makes any string of a `const`."""
        made = super().literal_schema(schema)
        return {"enum": [made.pop("const")], **made} if "const" in made else made

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        """A number or null is one type with two names; of `anyOf` a wrapper would be made for each field."""
        made = super().nullable_schema(schema)
        inner = made.get("anyOf", [{}])[0]
        plain = isinstance(inner.get("type"), str) and "enum" not in inner
        return {**inner, "type": [inner["type"], "null"]} if plain else made

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """No `default`: what is absent stays so when it is written again."""
        made = super().default_schema(schema)
        made.pop("default", None)
        return made


def schemas() -> dict[str, str]:
    """By file name: the JSON Schema (2020-12) of each message and of both unions, as text."""
    made = {name: _schema(name, model) for name, model in _MESSAGES.items()}
    for name, (title, description, union) in _UNIONS.items():
        made[name] = _schema(name, union, title=title, description=description)
    return {f"{name}.json": json.dumps(schema, indent=2) + "\n" for name, schema in made.items()}


def _schema(name: str, model: Any, **words: str) -> dict[str, Any]:
    body = TypeAdapter(model).json_schema(schema_generator=_Plain)
    body.pop("discriminator", None)  # a word of OpenAPI, which a strict JSON Schema validator does not know
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
