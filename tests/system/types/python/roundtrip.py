"""Reads lines into the generated types and writes them again; each line says who reads it, as a transcript does."""

import json
import sys

from bot import Answer, BotMessage
from pydantic import TypeAdapter, ValidationError

from referee import Act, RefereeMessage

TOLD = TypeAdapter(RefereeMessage)
SAID = TypeAdapter(BotMessage)


def answer(question: Act) -> Answer:
    return Answer(id=question.id, action=question.legal[0], note="the first that is allowed")


def again(line: str) -> str:
    told = json.loads(line)
    types = TOLD if told["to"] == "bot" else SAID
    message = types.validate_json(json.dumps(told["line"]))
    if isinstance(message, Act):
        assert answer(message).id == message.id
    return types.dump_json(message, exclude_unset=True).decode()


for line in sys.stdin:
    try:
        print(again(line))
    except ValidationError as error:
        print(f"refused: {error.error_count()}")
