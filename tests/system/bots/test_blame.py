"""The words of a fault name its cause, and what is kept of it is to the byte; all with real programs."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64decode
from collections.abc import Callable

import pytest
from seats import Seat

from referee.bots.process.limits import Limits
from referee.bots.process.stderr_summary import last_words
from referee.bots.seat import diagnosis
from referee.bots.seat.diagnosis import ending
from referee.errors import Verdict
from referee.record import Fault

Make = Callable[..., Seat]

BOT = """
import json, os, signal, sys, time

def say(text):
    sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode() + b"\\n")
    sys.stdout.flush()

def answer(question, **changes):
    return json.dumps({"id": question["id"], "action": question["legal"][0], **changes})

def read():
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else {"type": "quit"}

read()
say('{"type": "ready", "protocol": 1}')
asked = []
while (message := read())["type"] != "quit":
    if "id" in message:
        asked.append(message)
        question = message
        if len(asked) == 2:
            BODY
        say(answer(message))
"""


def fault_of(seat: Make, body: str, *, limits: Limits | None = None) -> Fault:
    """The fault of a bot that runs `body` when it is asked the second time."""
    program = BOT.replace("BODY", body.replace("\n", "\n            "))
    played = seat(argv=(sys.executable, "-c", program), limits=limits or Limits(move_ms=300)).play()
    [fault] = played.faults
    return fault


def cause_of(seat: Make, body: str) -> str:
    """Why it was silent, without what it had to wait for a processor on a busy machine."""
    return re.sub(r" \(besides the \d+ ms that it waited for a processor\)", "", fault_of(seat, body).detail)


# -- silence


def test_a_bot_that_reads_on_after_its_question_is_told_to_flush(seat: Make) -> None:
    assert cause_of(seat, "sys.stdout.write(answer(question) + chr(10)); read()") == (
        "no answer within 300 ms: it has read the question and waits for more input: likely it printed an answer and "
        "stdout was not flushed; else it reads in blocks, or to the end of stdin"
    )


def test_a_shell_whose_child_reads_on_is_told_to_flush_too(seat: Make) -> None:
    program = BOT.replace("BODY", "read()")
    table = seat(argv=("/bin/sh", "-c", '"$0" -c "$1"; true', sys.executable, program))
    assert (
        "waits for more input: likely it printed an answer and stdout was not flushed" in table.play().faults[0].detail
    )


def test_a_bot_that_computes_is_told_that_it_is_slow(seat: Make) -> None:
    words = "no answer within 300 ms: it has read the question and is still computing: likely it is too slow"
    assert cause_of(seat, "while True: pass") == words


def test_a_bot_that_sleeps_is_told_all_that_it_may_be(seat: Make) -> None:
    assert cause_of(seat, "time.sleep(3600)") == (
        "no answer within 300 ms: if it did print an answer, stdout was not flushed; else it was too slow, or waits for "
        "something else than its stdin"
    )


def test_a_bot_that_is_stopped_is_told_so(seat: Make) -> None:
    words = "no answer within 300 ms: its process is stopped, as by SIGSTOP or a debugger"
    assert cause_of(seat, "os.kill(os.getpid(), signal.SIGSTOP)") == words


def test_a_bot_that_does_not_read_is_told_how_much_it_left(seat: Make) -> None:
    fault = fault_of(seat, "say(answer(question)); time.sleep(3600)")
    left = len(str(fault.evidence["sent"]))
    words = f"no answer within 300 ms: it has not read the question, of which {left} bytes are still in the pipe"
    assert fault.detail == words


def test_a_line_that_lacks_only_its_end_is_told_so(seat: Make) -> None:
    fault = fault_of(seat, "say(answer(question).encode()); read()")
    assert fault.detail == (
        f"no answer within 300 ms: its line has not ended with a newline: {fault.evidence['line']} "
        "(only the line end is missing after an answer)"
    )


def test_a_line_that_ends_with_cr_alone_is_told_so(seat: Make) -> None:
    words = cause_of(seat, "say(answer(question).encode() + bytes([13])); read()")
    assert words.endswith("(it ends with CR alone; lines end with LF)")


def test_a_limit_that_is_what_was_left_for_the_game_is_told_so(seat: Make) -> None:
    words = fault_of(seat, "time.sleep(3600)", limits=Limits(move_ms=1000, game_ms=200)).detail
    found = re.match(r"no answer within (\d+) ms, all that was left of its 200 ms for the game: if it did", words)
    assert found and int(found[1]) < 200
    alone = fault_of(seat, "time.sleep(3600)", limits=Limits(move_ms=100, game_ms=2000)).detail
    assert alone.startswith("no answer within 100 ms: if it did")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "sys.stdin.readline()",
            "it has read `hello` and waits for more input: likely it printed `ready` and stdout was not flushed",
        ),
        ("while True: pass", "it has read `hello` and is still computing: likely it is too slow"),
    ],
)
def test_silence_before_ready_has_a_cause_and_a_time(seat: Make, body: str, words: str) -> None:
    program = f"import sys\nsys.stdin.readline()\nsys.stdout.write('ready' + chr(10))\n{body}"
    [fault] = seat(argv=(sys.executable, "-c", program), limits=Limits(start_ms=400)).play().faults
    assert fault.verdict is Verdict.START_TIMEOUT
    assert fault.detail.startswith(f"no `ready` within 400 ms: {words}")
    assert 400_000 <= int(fault.evidence["us"] or 0) < 600_000


# -- lines


def test_an_old_id_is_named_as_that_of_the_question_before(seat: Make) -> None:
    fault = fault_of(seat, "question = asked[0]\nsay(answer(question))\ncontinue")
    before = json.loads(str(fault.evidence["answered"]))["id"]
    now = json.loads(str(fault.evidence["sent"]))["id"]
    assert fault.detail == (
        f"the reply echoed id {before}, the question was {now}: answer each question once, after it was asked; "
        f"{before} was the question before, which was answered already"
    )


def test_an_id_of_no_question_is_told_plainly() -> None:
    words = "the reply echoed id 7, the question was 9: answer each question once, after it was asked"
    assert diagnosis.old_id(7, 9, b'{"id": 8, "action": "keep"}') == words
    assert diagnosis.old_id(7, 9, b"") == words


@pytest.mark.parametrize(
    "printed", ["thinking...", "3", "[1, 2]", '{"depth": 3}', "{'depth': 3}", "null", "True", '"7C"']
)
def test_a_print_on_stdout_is_quoted_and_told_where_logs_go(seat: Make, printed: str) -> None:
    fault = fault_of(seat, f"print({printed!r}, flush=True)")
    assert fault.verdict is Verdict.PROTOCOL_ERROR
    assert printed in fault.detail
    assert "logs go to stderr" in fault.detail or printed == "{'depth': 3}"
    assert fault.evidence["line"] == printed


def test_a_print_after_an_answer_is_told_from_a_second_answer(seat: Make) -> None:
    printed = fault_of(seat, "say(answer(question) + chr(10) + 'best move found'); continue")
    assert printed.detail == (
        "it said more than one line to one question, or spoke before it was asked: best move found\\n "
        "(likely a print went to stdout: stdout is for messages only, one JSON object a line, and logs go to stderr)"
    )
    twice = fault_of(seat, "say(answer(question) + chr(10) + answer(question)); continue")
    number = json.loads(str(twice.evidence["answered"]))["id"]
    assert twice.detail.endswith(f" (it answered the question {number} twice)")
    blank = fault_of(seat, "say(answer(question) + chr(10)); continue")
    assert blank.detail.endswith(": \\n (a blank line: end each line only once)")


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("question['legal'][0].upper()", "(it differs from {first} in blanks or capitals alone)"),
        ("question['legal'][0].replace(' ', '  ')", "(it differs from {first} in blanks or capitals alone)"),
        ("'keep' if question['phase'] == 'lay' else 'lay 6C'", "phase `"),
    ],
)
def test_an_action_that_is_nearly_legal_is_told_what_it_lacks(seat: Make, action: str, words: str) -> None:
    fault = fault_of(seat, f"say(answer(question, action={action}))")
    assert fault.verdict is Verdict.ILLEGAL_ACTION
    assert words.format(first=json.loads(str(fault.evidence["sent"]))["legal"][0]) in fault.detail


def test_cards_in_another_order_are_told_so() -> None:
    legal = ["discard 7C 7S", "discard 7C", "discard 7S", "keep"]
    assert diagnosis.illegal("discard 7S 7C", legal, laying=False) == (
        "discard 7S 7C is not allowed here; to the letter one of: discard 7C 7S, discard 7C, discard 7S, keep "
        "(it differs from discard 7C 7S in the order of its cards alone)"
    )


# -- ends


def test_a_traceback_is_quoted_by_its_last_line_and_its_place(seat: Make, tmp_path: object) -> None:
    del tmp_path
    fault = fault_of(seat, "question['hands']")
    assert fault.verdict is Verdict.CRASH
    line = next(number for number, text in enumerate(BOT.splitlines(), 1) if text.strip() == "BODY")
    assert fault.detail == (
        "it exited with status 1 "
        f"(last on stderr: KeyError: 'hands', in line {line} of <string>) while it was being asked"
    )


ENDS = {
    "os.kill(os.getpid(), signal.SIGKILL)": ("killed by SIGKILL", "too much memory"),
    "os.kill(os.getpid(), signal.SIGSEGV)": ("killed by SIGSEGV", "memory that it does not have"),
    "os._exit(0)": ("exited with status 0", "`quit`", "stdin"),
    "os._exit(3)": ("exited with status 3 while",),
    "os._exit(127)": ("exited with status 127", "not found"),
    "os._exit(137)": ("exited with status 137", "128 + 9", "killed by SIGKILL", "too much memory"),
}


@pytest.mark.parametrize("body", ENDS)
def test_an_exit_is_explained(seat: Make, body: str) -> None:
    cause = cause_of(seat, body)
    assert [fact for fact in (*ENDS[body], "while it was being asked") if fact not in cause] == []


def test_a_signal_without_a_name_has_its_number() -> None:
    assert ending(-63) in ("it was killed by signal 63", "it was killed by SIGRTMAX-1")
    assert ending(129) == "it exited with status 129"


LOGS = {
    "rust": (
        "starting\nthread 'main' panicked at src/main.rs:12:5:\nindex out of bounds: the len is 3\n"
        "note: run with `RUST_BACKTRACE=1`\n",
        "thread 'main' panicked at src/main.rs:12:5: index out of bounds: the len is 3",
    ),
    "go": (
        "panic: runtime error: index out of range [3] with length 2\n\ngoroutine 1 [running]:\nmain.main()\n"
        "\t/bot/main.go:14 +0x1d\nexit status 2\n",
        "panic: runtime error: index out of range [3] with length 2, in line 14 of main.go",
    ),
    "java": (
        'Exception in thread "main" java.lang.NullPointerException: x\n\tat Bot.play(Bot.java:31)\n'
        "\tat Bot.main(Bot.java:12)\n",
        'Exception in thread "main" java.lang.NullPointerException: x, in line 31 of Bot.java',
    ),
    "an exception in Java's own code": (
        'Exception in thread "main" java.lang.IndexOutOfBoundsException: x\n'
        "\tat java.base/jdk.internal.util.Preconditions.outOfBounds(Preconditions.java:64)\n"
        "\tat java.base/java.util.ArrayList.get(ArrayList.java:427)\n"
        "\tat Bot.choose(Bot.java:22)\n\tat Bot.main(Bot.java:163)\n",
        'Exception in thread "main" java.lang.IndexOutOfBoundsException: x, in line 22 of Bot.java',
    ),
    "a Java that ended without a word": ("NOTE: Picked up JDK_JAVA_OPTIONS: -XX:MaxRAM=512m\n", ""),
    "syntax of a module of Node": (
        "file:///bot/bot.mjs:13\n  if (a { b; }\n        ^\n\nSyntaxError: Unexpected token '{'\n"
        "    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)\n\nNode.js v20.20.2\n",
        "SyntaxError: Unexpected token '{', in line 13 of bot.mjs",
    ),
    "node": (
        "/bot/bot.js:7\n  x.y.z\n      ^\n\nTypeError: Cannot read properties of undefined (reading 'z')\n"
        "    at play (/bot/bot.js:7:7)\n    at main (/bot/bot.js:20:3)\n\nNode.js v18.19.0\n",
        "TypeError: Cannot read properties of undefined (reading 'z'), in line 7 of bot.js",
    ),
    "c": (
        "bot: bot.c:42: main: Assertion `n > 0' failed.\n",
        "bot: bot.c:42: main: Assertion `n > 0' failed.",
    ),
    "a chain of tracebacks": (
        'Traceback (most recent call last):\n  File "/bot/a.py", line 1, in f\nKeyError: 1\n\nDuring handling:\n\n'
        'Traceback (most recent call last):\n  File "/bot/bot.py", line 9, in g\n    x\n'
        '  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads\n    y\nValueError: no\x1b[31m\nbye\n',
        "ValueError: no\\x1b[31m, in line 9 of bot.py",
    ),
    "python's syntax": (
        "  File \"/bot/bot.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n",
        "SyntaxError: '(' was never closed, in line 3 of bot.py",
    ),
    "a module of node": (
        "node:internal/modules/esm/resolve:873\n  throw new ERR_MODULE_NOT_FOUND(\n        ^\n\n"
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /bot/bot.mjs\n"
        "    at packageResolve (node:internal/modules/esm/resolve:873:9)\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n",
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /bot/bot.mjs",
    ),
    "anything": ("a\nno such model\n\n", "no such model"),
    "nothing": ("\n", ""),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_line_that_names_the_error_and_its_place_are_found(name: str) -> None:
    log, words = LOGS[name]
    assert last_words(log) == words


# -- evidence


def test_the_evidence_is_whole_and_to_the_byte(seat: Make) -> None:
    body = "sys.stderr.write('here\\\\n'); sys.stderr.flush(); say(b'\\\\xff\\\\\\\\xfe' * 2000 + b'\\\\n')"
    fault = fault_of(seat, body.replace("\\\\", "\\"))
    evidence = fault.evidence
    assert list(evidence) == ["line", "line_base64", "exit_status", "stderr", "sent", "answered", "us"]
    kept = b64decode(str(evidence["line_base64"]))
    assert kept == (b"\xff\\xfe" * 2000)[-2048:]
    assert evidence["line"] == kept.decode("utf-8", "backslashreplace")
    assert evidence["stderr"] == "here\n"
    assert json.loads(str(evidence["sent"]))["type"] == "act"
    assert set(json.loads(str(evidence["answered"]))) == {"id", "action"}
    assert 0 < int(evidence["us"] or 0) < 300_000


def test_a_line_that_is_text_is_kept_once(seat: Make) -> None:
    evidence = fault_of(seat, "say('naïve')").evidence
    assert (evidence["line"], evidence["line_base64"]) == ("naïve", None)


def test_before_its_first_answer_a_bot_has_answered_ready(seat: Make) -> None:
    program = BOT.replace("len(asked) == 2", "len(asked) == 1").replace("BODY", "os._exit(4)")
    [fault] = seat(argv=(sys.executable, "-c", program)).play().faults
    assert (fault.evidence["answered"], fault.evidence["exit_status"]) == ('{"type": "ready", "protocol": 1}', 4)
