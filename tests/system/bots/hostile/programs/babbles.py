"""Says what is no answer; its argument says what."""

import sys

import talk


def bytes_without_end(question):
    while True:
        talk.say(b"x" * 65536)


def a_line_over_64_kib(question):
    talk.say(talk.answer(question, padding="x" * 66_000))


def many_short_lines(question):
    while True:
        talk.say(b"{}\n" * 1000)


def two_answers(question):
    talk.say(talk.answer(question) + "\n" + talk.answer(question))


def an_old_id(question):
    talk.say(talk.answer(question, id=question["id"] % 1000 + 1))


def unknown_fields(question):
    talk.say(talk.answer(question, mood="confident", nodes=10**12, tree={"best": [1, 2.5, None]}))


def crlf(question):
    talk.say(talk.answer(question).encode() + b"\r\n")


def an_answer_before_its_question():
    talk.hear()
    talk.say('{"type": "ready", "protocol": 1}\n{"id": 1, "action": "keep"}')
    talk.forever()


FIELD = b'{"id": ID, "action": "ACTION", "x": %b}'
LINES = {
    "bad_utf8": FIELD % b'"\xff"',
    "bom": b'\xef\xbb\xbf{"id": ID, "action": "ACTION"}',
    "nul": b'{"id": ID, "action": "ACTION"}\0',
    "nan": FIELD % b"NaN",
    "infinity": FIELD % b"Infinity",
    "minus_infinity": FIELD % b"-Infinity",
    "1e999": FIELD % b"1e999",
    "duplicate_keys": b'{"id": ID, "action": "ACTION", "action": "ACTION"}',
    "nesting_30_000_deep": FIELD % (b"[" * 30_000 + b"]" * 30_000),
    "nesting_100_000_deep": FIELD % (b"[" * 100_000 + b"]" * 100_000),
    "an_integer_of_5_000_digits": FIELD % (b"9" * 5_000),
    "an_integer_over_2_to_63": FIELD % b"9223372036854775809",
    "an_id_over_2_to_63": b'{"id": 9223372036854775809, "action": "ACTION"}',
    "a_lone_surrogate": FIELD % b'"\\ud800"',
    "true_for_an_id": b'{"id": true, "action": "ACTION"}',
    "a_float_for_an_id": b'{"id": ID.0, "action": "ACTION"}',
    "a_string_for_an_id": b'{"id": "ID", "action": "ACTION"}',
    "trailing_data": b'{"id": ID, "action": "ACTION"} {}',
    "an_array": b'[ID, "ACTION"]',
    "null": b"null",
    "an_empty_line": b"",
    "a_debug_print": b"thinking...",
}


def line(text):
    def misbehave(question):
        action = question["legal"][0].encode()
        talk.say(text.replace(b"ID", b"%d" % question["id"]).replace(b"ACTION", action) + b"\n")

    return misbehave


def main(mode):
    if mode == "an_answer_before_its_question":
        an_answer_before_its_question()
    talk.play(line(LINES[mode]) if mode in LINES else globals()[mode])


main(sys.argv[1])
