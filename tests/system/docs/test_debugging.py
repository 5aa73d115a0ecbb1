"""The debugger of docs/why-did-i-lose.md, with somebody at the terminal."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pexpect
from command_line import environment
from pages import fences

PAGE = "why-did-i-lose.md"
SECONDS = 90


def files_of_the_page(folder: Path) -> None:
    """The bot and the debugger, as the page writes them; the bot as it is at first."""
    for fence in fences(PAGE):
        if fence.info == "sh" and "<< 'END'" in fence.content:
            subprocess.run(["sh", "-ec", fence.content], cwd=folder, check=True)


def test_the_debugger_opens_where_the_bot_died_and_shows_what_the_page_says(tmp_path: Path) -> None:
    files_of_the_page(tmp_path)
    [session] = [fence.content for fence in fences(PAGE) if fence.info.startswith("console not run: it waits")]
    hello = '{"type":"hello","protocol":[1]}\n'
    hand = ["6D", "6H", "TC", "TD", "TH"]
    question = f'{{"type":"act","id":7,"hand":{hand},"drawn":null,"legal":["lay 6D"],"widows":[]}}\n'.replace("'", '"')
    (tmp_path / "why").mkdir()
    (tmp_path / "why" / "stdin.jsonl").write_text(hello + question)
    command, *rest = re.findall(r"^(?:\$|\(Pdb\)) (.*)", session, re.MULTILINE)
    child = pexpect.spawn("sh", ["-c", command], cwd=tmp_path, env=environment(), timeout=SECONDS, encoding="utf-8")
    try:
        told = ""
        for typed in rest:
            child.expect_exact("(Pdb) ")
            told += child.before or ""
            child.sendline(typed)
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    for line in session.splitlines()[1:]:
        if not line.startswith("(Pdb)"):
            assert line in told
    assert (tmp_path / "answers.txt").read_text() == '{"type": "ready", "protocol": 1}\n'
