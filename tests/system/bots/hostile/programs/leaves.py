"""Leaves processes behind, or has one speak for it; its first argument says how, its second is a program to leave."""

import os
import signal
import subprocess
import sys
import time

import talk

SLEEP = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def sleeper(**options):
    return subprocess.Popen([sys.executable, "-S", "-c", SLEEP], **options)


def a_child(question):
    sleeper(**QUIET)
    os._exit(0)


def a_daemon_with_its_pipes(question):
    sleeper(start_new_session=True)
    os._exit(0)


def a_daemon_while_it_plays_on(question):
    sleeper(start_new_session=True, **QUIET)
    talk.say(talk.answer(question))


def a_double_fork(question):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    os.wait()
    talk.say(talk.answer(question))


def a_stopped_daemon(question):
    os.kill(sleeper(start_new_session=True, **QUIET).pid, signal.SIGSTOP)
    os._exit(0)


def a_chain_of_forks(question):
    """Each lives for a moment, forks the next in a session of its own and dies: 60 s at most."""
    if not hasattr(talk, "left") and os.fork() == 0:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            time.sleep(0.005)
            if os.fork() != 0:
                os._exit(0)
            os.setsid()
        os._exit(0)
    talk.left = True
    talk.say(talk.answer(question))


def answers_of_a_daemon(question):
    text = talk.answer(question)
    code = f"import time; time.sleep(0.05); print({text!r}, flush=True); time.sleep(300)"
    subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=True)
    os._exit(0)


def a_hidden_one(question):
    """One that has left its session and its environment, or its parent; see daemon.c."""
    if not hasattr(talk, "left"):
        talk.left = subprocess.run([sys.argv[2], sys.argv[3]], **QUIET)
    talk.say(talk.answer(question))


talk.play(globals()[sys.argv[1]])
