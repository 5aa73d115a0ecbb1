"""A bot that misbehaves as its argument says, and plays the first legal action otherwise. Stands alone, like any bot."""

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import time

OUT = sys.stdout.buffer


def say(data):
    OUT.write(data if isinstance(data, bytes) else data.encode() + b"\n")
    OUT.flush()


def answer(question, **changes):
    return json.dumps({"id": question["id"], "action": question["legal"][0], **changes})


def messages():
    for line in sys.stdin.buffer:
        yield json.loads(line)


def ready():
    next(messages())
    say('{"type": "ready", "protocol": 1}')


def forever():
    while True:
        time.sleep(3600)


def daemon(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], start_new_session=True, **options)


# -- before it is ready


def exits_before_ready():
    print("no such model", file=sys.stderr)
    sys.exit(3)


def prints_a_banner():
    next(messages())
    say("My Bot v1.0")
    forever()


def never_ready():
    forever()


def ready_without_flush():
    next(messages())
    sys.stdout.write('{"type": "ready", "protocol": 1}\n')
    forever()


def chooses_another_version():
    next(messages())
    say('{"type": "ready", "protocol": 2}')
    forever()


def says_more_than_ready():
    next(messages())
    say(b'{"type": "ready", "protocol": 1}\n{"hello": 1}\n')
    forever()


def says_more_a_little_later():
    ready()
    time.sleep(0.02)
    say("here I am")
    forever()


# -- when it is asked: each gets the question


def never_answers(question):
    forever()


def half_a_line(question):
    say(answer(question).encode()[:10])
    forever()


def one_byte_at_a_time(question):
    for byte in answer(question, note="x" * 150).encode():
        say(bytes([byte]))
        time.sleep(0.05)


def stops_itself(question):
    os.kill(os.getpid(), signal.SIGSTOP)


def closes_stdin(question):
    say(answer(question))
    os.close(0)
    forever()


def closes_stdin_and_thinks(question):
    os.close(0)
    time.sleep(1.1)
    say(answer(question))
    os._exit(0)


def takes_back_what_it_wrote(question):
    back = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
    for _ in range(100):
        os.write(1, b" ")
        with contextlib.suppress(BlockingIOError):
            os.read(back, 1)
    os.close(back)
    say(answer(question))


def is_traced(question):
    seize = "import ctypes, time; print(ctypes.CDLL(None).ptrace(0x4206, %d, None, None), flush=True); time.sleep(3600)"
    helper = daemon(seize % os.getpid(), stdout=subprocess.PIPE)
    print("traced:", helper.stdout.readline(), file=sys.stderr, flush=True)
    forever()


def floods_stderr(question):
    while True:
        os.write(2, b"x" * 65536)


def answers_late(question):
    time.sleep(0.6)
    say(answer(question))


def does_not_flush(question):
    sys.stdout.write(answer(question) + "\n")
    forever()


def writes_without_end(question):
    while True:
        OUT.write(b"x" * 65536)


def writes_a_long_line(question):
    say(answer(question, padding="x" * 70000))


def writes_many_lines(question):
    while True:
        OUT.write(b"{}\n" * 1000)


def answers_twice(question):
    say(answer(question) + "\n" + answer(question))


def answers_an_old_id(question):
    say(answer(question, id=question["id"] % 1000 + 1))


def says(line):
    return lambda question: say(line.replace(b"ID", str(question["id"]).encode()) + b"\n")


def illegal_action(question):
    say(answer(question, action="lay 1X"))


def legal_elsewhere(question):
    say(
        answer(
            question, action="keep" if question["phase"] == "lay" else question["hand"] and "lay " + question["hand"][0]
        )
    )


def exits(question):
    print("Traceback: it broke here", file=sys.stderr)
    sys.exit(7)


def exits_with_zero(question):
    sys.exit(0)


def is_killed(question):
    os.kill(os.getpid(), signal.SIGSEGV)


def closes_stdout(question):
    os.close(1)
    forever()


def answers_and_exits(question):
    say(answer(question))
    os._exit(0)


def leaves_a_daemon_and_exits(question):
    child = daemon("import time; time.sleep(3600)")
    print("daemon", child.pid, file=sys.stderr, flush=True)
    os._exit(0)


def lets_a_daemon_answer(question):
    daemon(f"import time; time.sleep(0.05); print({answer(question)!r}, flush=True); time.sleep(3600)")
    os._exit(0)


def starts_a_daemon_and_plays_on(question):
    child = daemon(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    say(answer(question, note=f"daemon {child.pid}"))


def starts_an_orphan_and_plays_on(question):
    say(answer(question, note=orphan("start_new_session=False")))


def starts_an_orphan_with_a_session_and_plays_on(question):
    say(answer(question, note=orphan("start_new_session=True")))


@functools.cache
def orphan(how):
    code = f"""
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], stdin=0, stdout=2, {how}).pid)"""
    run = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return run.stdout.decode().strip()


def tells_its_surroundings(question):
    seen = {
        "cwd": os.listdir("."),
        "env": dict(os.environ),
        "tmp": os.listdir(os.environ["TMPDIR"]),
        "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
        "sid": os.getsid(0) == os.getpid(),
    }
    print(json.dumps(seen), file=sys.stderr, flush=True)
    sys.exit(1)


def uses_crlf(question):
    say(answer(question).encode() + b"\r\n")


def answers_in_pieces(question):
    for piece in answer(question), "\n":
        sys.stdout.write(piece)
        sys.stdout.flush()


def ignores_quit(question):
    say(answer(question))


def notes(question):
    say(answer(question, note="n" * 300))


SAYS = {
    "bad_utf8": b'{"id": ID, "action": "keep", "x": "\xff"}',
    "bom": b'\xef\xbb\xbf{"id": ID, "action": "keep"}',
    "nul": b'{"id": ID, "action": "keep"}\x00',
    "nan": b'{"id": ID, "action": "keep", "x": NaN}',
    "infinity": b'{"id": ID, "action": "keep", "x": -Infinity}',
    "too_large_a_float": b'{"id": ID, "action": "keep", "x": 1e999}',
    "duplicate_keys": b'{"id": ID, "id": ID, "action": "keep"}',
    "deep_nesting": b'{"id": ID, "action": "keep", "x": ' + b"[" * 30000 + b"]" * 30000 + b"}",
    "long_integer": b'{"id": ID, "action": "keep", "x": ' + b"9" * 5000 + b"}",
    "over_2_to_53": b'{"id": ID, "action": "keep", "x": 9007199254740993}',
    "lone_surrogate": b'{"id": ID, "action": "keep", "x": "\\ud800"}',
    "true_for_an_id": b'{"id": true, "action": "keep"}',
    "float_for_an_id": b'{"id": ID.0, "action": "keep"}',
    "trailing_data": b'{"id": ID, "action": "keep"} {}',
    "array": b'["ID", "keep"]',
    "null": b"null",
    "empty_line": b"",
    "blank": b" ",
    "no_action": b'{"id": ID}',
    "debug_print": b"thinking...",
}


def main(mode):
    misbehave = says(SAYS[mode]) if mode in SAYS else globals()[mode]
    if misbehave.__code__.co_argcount == 0:
        misbehave()
    ready()
    for message in messages():
        if "id" in message:
            misbehave(message)
        elif message["type"] == "quit" and mode == "ignores_quit":
            forever()
        elif message["type"] == "quit":
            return


main(sys.argv[1])
