"""The form of a line: what is accepted, and one test by name for each thing that is refused."""

from __future__ import annotations

import json
import time

import pytest

from protocol.codec import MAX_DEPTH, MAX_LINE, ParsedAnswer, WireError, parse_answer, parse_object


def refusal(line: bytes) -> str:
    """Why a line is refused."""
    with pytest.raises(WireError) as caught:
        parse_answer(line)
    text = str(caught.value)
    assert "\n" not in text and text.isprintable()
    return text


def with_field(value: bytes) -> bytes:
    """A good answer with one more field, which is ignored."""
    return b'{"id":7,"action":"keep","x":' + value + b"}"


def nested(levels: int) -> bytes:
    """A good answer, nested so many levels deep, itself included."""
    return with_field(b"[" * (levels - 1) + b"]" * (levels - 1))


KEEP = ParsedAnswer(7, "keep", None)


# -- what is accepted


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 7, "action": "keep"}',
        b'{"id":7,"action":"keep"}',
        b'{"id":7,"action":"keep"}\r',
        b'{"action":"keep","id":7}',
        b' \t{ "id" : 7 ,\t"action" : "keep" } \r',
        b'{"id":7,"action":"k\\u0065ep"}',
        b'{"\\u0069d":7,"action":"keep"}',
        b'{"type":"act","id":7,"action":"keep","x":[1.5,-2e3,{"y":null}]}',
        b'{"id":7,"action":"keep","note":null}',
    ],
)
def test_an_answer_may_be_written_in_any_json(line: bytes) -> None:
    assert parse_answer(line) == KEEP


def test_an_action_is_any_string_since_the_rules_judge_it() -> None:
    assert parse_answer(b'{"id":1,"action":""}') == (1, "", None)
    assert parse_answer('{"id":1,"action":"lay 6♣"}'.encode()) == (1, "lay 6♣", None)


def test_a_note_is_kept_and_cut_after_200_characters() -> None:
    assert parse_answer(b'{"id":7,"action":"keep","note":"why"}').note == "why"
    longer = json.dumps({"id": 7, "action": "keep", "note": "é" * 201}).encode()
    assert parse_answer(longer).note == "é" * 200


@pytest.mark.parametrize("note", [b"7", b"true", b'["why"]', b'{"why":1}', b"null"])
def test_a_note_that_is_no_string_is_ignored(note: bytes) -> None:
    assert parse_answer(b'{"id":7,"action":"keep","note":' + note + b"}") == KEEP


def test_an_id_may_be_as_large_as_2_to_31_less_1() -> None:
    assert parse_answer(b'{"id":2147483647,"action":"keep"}').id == 2**31 - 1


def test_a_line_may_have_64_kib() -> None:
    room = MAX_LINE - len(with_field(b'""'))
    assert parse_answer(with_field(b'"' + b"x" * room + b'"')) == KEEP


def test_nesting_may_be_16_deep() -> None:
    assert parse_answer(nested(MAX_DEPTH)) == KEEP
    assert parse_answer(nested(MAX_DEPTH).replace(b"[]", b"[],[]")) == KEEP


def test_brackets_in_strings_are_no_nesting() -> None:
    assert parse_answer(with_field(b'"' + b"[{" * 50 + b'\\"' + b"[{" * 50 + b'\\\\"')) == KEEP


def test_many_brackets_side_by_side_are_no_nesting() -> None:
    assert parse_answer(with_field(b"[" + b",".join([b"[{}]"] * 50) + b"]")) == KEEP


def test_numbers_may_be_as_large_as_2_to_53_less_1() -> None:
    assert parse_object(b'{"x":[9007199254740991,-9007199254740991]}') == {"x": [2**53 - 1, 1 - 2**53]}


def test_surrogates_in_pairs_are_one_character() -> None:
    assert parse_object(rb'{"x":"\ud83d\ude00","\\ud83d":0}') == {"x": "😀", "\\ud83d": 0}


def test_a_byte_order_mark_inside_a_string_is_a_character() -> None:
    assert parse_object('{"x":"\ufeff"}'.encode()) == {"x": "\ufeff"}


# -- what is refused


def test_an_empty_line_is_refused() -> None:
    expected = "the line is empty, and must be one JSON object; end each line only once"
    assert refusal(b"") == refusal(b"\r") == expected


def test_a_line_of_blanks_is_refused() -> None:
    assert refusal(b" \t ") == (
        "the line holds nothing but blanks, and must be one JSON object; end each line only once"
    )


def test_a_banner_is_refused_with_a_word_on_stdout_and_stderr() -> None:
    assert refusal(b"Hello, I am ready!") == (
        "the line 'Hello, I am ready!' is no JSON; stdout is for messages only, one JSON object a line, "
        "and logs go to stderr"
    )


def test_a_bare_action_is_refused_as_no_json() -> None:
    assert "logs go to stderr" in refusal(b"7C")


def test_what_is_quoted_is_cut_and_escaped() -> None:
    text = refusal("\x1b[31m\u202e\u200bhi".encode() + b"!" * 1000)
    assert r"'\x1b[31m\u202e\u200bhi!!!" in text
    assert "…'" in text and len(text) < 250


def test_a_line_over_64_kib_is_refused() -> None:
    room = MAX_LINE - len(with_field(b'""'))
    assert refusal(with_field(b'"' + b"x" * (room + 1) + b'"')).startswith("the line has more than 65536 bytes")


@pytest.mark.parametrize(
    ("line", "where"),
    [
        (b'{"id":7,"action":"keep\xff"}', "byte 23 is 0xff"),
        (with_field(b'"\xc3"'), "byte 30 is 0xc3"),
        (with_field(b'"\xed\xa0\x80"'), "byte 30 is 0xed"),
        (with_field(b'"\xc0\xaf"'), "byte 30 is 0xc0"),
        (b'{"id":7,"action":"keep","\xff":1}', "byte 26 is 0xff"),
    ],
    ids=["in the action", "in an ignored field", "a surrogate as UTF-8", "overlong", "in an ignored key"],
)
def test_bytes_that_are_not_utf8_are_refused_anywhere(line: bytes, where: str) -> None:
    assert refusal(line).startswith(f"the line is not UTF-8: {where}")


def test_a_byte_order_mark_is_refused() -> None:
    assert "byte order mark" in refusal(b'\xef\xbb\xbf{"id":7,"action":"keep"}')


def test_utf16_is_refused() -> None:
    assert "not UTF-8" in refusal('{"id":7,"action":"keep"}'.encode("utf-16"))
    assert "NUL byte at byte 2" in refusal('{"id":7,"action":"keep"}'.encode("utf-16-le"))


@pytest.mark.parametrize("line", [b'{"id":7,"action":"keep"}\0', b'{"id":7,"action":"ke\0p"}'])
def test_a_nul_is_refused(line: bytes) -> None:
    assert "NUL byte" in refusal(line)


@pytest.mark.parametrize("blank", [b"\x0b", b"\x0c", b"\xc2\xa0", b"\xe2\x80\xa8"])
def test_blanks_that_are_not_json_blanks_are_refused(blank: bytes) -> None:
    refusal(b'{"id":7,"action":"keep"}' + blank)
    refusal(blank + b'{"id":7,"action":"keep"}')


@pytest.mark.parametrize("control", [b"\x01", b"\t", b"\x1b", b"\x1f"])
def test_control_characters_in_strings_are_refused(control: bytes) -> None:
    assert "invalid control character" in refusal(with_field(b'"' + control + b'"'))


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":7,"action":"keep","action":"keep"}',
        b'{"id":7,"id":7,"action":"keep"}',
        with_field(b'{"y":1,"y":2}'),
        with_field(b'[[{"y":1,"z":0,"\\u0079":2}]]'),
        b'{"id":7,"action":"keep","note":"a","note":"b"}',
    ],
)
def test_a_key_twice_in_one_object_is_refused_at_any_depth(line: bytes) -> None:
    assert "stands twice in one object" in refusal(line)


def test_the_same_key_in_different_objects_is_allowed() -> None:
    assert parse_answer(with_field(b'[{"id":1},{"id":1}]')) == KEEP


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_nan_and_infinity_are_refused(number: bytes) -> None:
    assert refusal(with_field(number)) == f"{number.decode()} is no JSON; write a number or null"


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"1" * 400 + b".5"])
def test_numbers_that_would_become_infinite_are_refused(number: bytes) -> None:
    assert refusal(with_field(number)).endswith("is too large: numbers stay under 2^53")


@pytest.mark.parametrize(
    "number", [b"9007199254740992", b"-9007199254740992", b"9223372036854775808", b"9" * 5000, b"-" + b"9" * 60000]
)
def test_integers_from_2_to_53_on_are_refused(number: bytes) -> None:
    assert refusal(with_field(number)).endswith("is too large: numbers stay under 2^53")


@pytest.mark.parametrize("number", [b"07", b"+7", b"0x7", b".5", b"5.", b"1e", b"- 7", "٧".encode(), b"1_000"])
def test_numbers_that_json_does_not_know_are_refused(number: bytes) -> None:
    refusal(b'{"id":' + number + b',"action":"keep"}')
    refusal(with_field(number))


@pytest.mark.parametrize(
    "line",
    [
        with_field(rb'"\ud800"'),
        with_field(rb'"\udc00\ud800"'),
        with_field(rb'["x",{"y":"\uDBFFz"}]'),
        with_field(rb'{"\udfff":1}'),
        rb'{"id":7,"action":"\ud800"}',
        rb'{"id":7,"action":"keep","\ud800":1}',
    ],
)
def test_lone_surrogates_are_refused_in_values_and_keys(line: bytes) -> None:
    assert "is half of a surrogate pair" in refusal(line)


@pytest.mark.parametrize("escape", [rb"\u00_1", rb"\u 041", rb"\u+041", rb"\x41", rb"\'", rb"\u004"])
def test_escapes_that_json_does_not_know_are_refused(escape: bytes) -> None:
    assert "escape" in refusal(with_field(b'"' + escape + b'"'))


def test_nesting_17_deep_is_refused() -> None:
    assert refusal(nested(MAX_DEPTH + 1)).startswith("the JSON is nested deeper than 16 levels")


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 60000,
        b'{"a":' * 10000,
        b"[{" * 30000,
        b'"' + b'\\"' * 20000 + b"[" * 20000,
        b'{"x":"' + b'\\"' * 32000,
        b'"[' * 32000,
        b'{"x":' + b'{"y":0},' * 8000,
        b"{" + b",".join(b'"%d":0' % n for n in range(6000)) + b',"0":0}',
        b'{"x":0.' + b"1" * 60000 + b"}x",
        b'{"x":[' + b"1," * 30000 + b'"\\ud800"]}',
    ],
    ids=lambda line: repr(line[:12]),
)
def test_a_line_made_to_be_slow_is_refused_quickly(line: bytes) -> None:
    began = time.process_time()
    refusal(line)
    assert time.process_time() - began < 1


def test_100_000_brackets_are_refused() -> None:
    assert "65536 bytes" in refusal(b"[" * 100_000)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"null", "null"),
        (b"[]", "an array"),
        (b'[{"id":7,"action":"keep"}]', "an array"),
        (b'"keep"', "a string"),
        (b"7", "a number"),
        (b"1.5", "a number"),
        (b"true", "a truth value"),
    ],
)
def test_json_that_is_no_object_is_refused(line: bytes, kind: str) -> None:
    assert refusal(line) == f"the line is {kind}, '{line.decode()}', and must be one JSON object"


@pytest.mark.parametrize(
    "after", [b"x", b'{"id":7,"action":"keep"}', b",", b"}", b"\r\rx", b" //", b'\n{"id":7,"action":"keep"}']
)
def test_trailing_data_is_refused(after: bytes) -> None:
    assert refusal(b'{"id":7,"action":"keep"}' + after).startswith("after the JSON object stands '")


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":7,"action":"keep"',
        b'{"id":7,"action":"keep',
        b'{"id":7,"action":"keep",}',
        b"{'id':7,'action':'keep'}",
        b"{id:7}",
        b'{"id":7 "action":"keep"}',
        b'{"id":7,/**/"action":"keep"}',
        b'{"id":True,"action":"keep"}',
    ],
)
def test_broken_json_is_refused_with_its_place(line: bytes) -> None:
    assert refusal(line).startswith("the JSON breaks off at character ")
