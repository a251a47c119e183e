"""What a study, a run or a guest wrote does not control the terminal that a command prints to."""

from __future__ import annotations

import ast
import os
import re
import select
from pathlib import Path

import pytest

from tests.command import longfat
from tests.paths import REPOSITORY
from tests.terminal import Terminal

# A study file holds no C0, but C1 and controls of the direction of writing.
TITLE = r"\x9b2J\u202etitle\u2069"
STUDY = rf"""
title: "Study {TITLE}"
memory: 256MB
network:
  hosts: {{h1: 10.0.0.1/8, h2: 10.0.0.2/8}}
  links: [[h1, h2]]
flows:
  rtt: {{ping: h1 -> h2, count: 2, interval: 100ms}}
cases:
  good:
    title: "Case {TITLE}"
  line:
    setup: [{{h1: "sh -c 'printf \"\\033]52;c;aGk=\\007\\033[2J\\302\\233\" >&2; exit 1'"}}]
  tail:
    setup:
      - h1: "sh -c 'printf \"\\033]52;c;aGk=\\007\\302\\233\\n\" > /dev/console'"
      - h1: perl -e 'syscall(169, 0xfee1dead, 672274793, 0x4321fedc, 0)'
claims:
  - "Claim {TITLE}": good.rtt.min > 1s
published:
  source: "Source {TITLE}"
  good: {{rtt.min: 10ms}}
"""
LAB = """\
# A lab \x1b]52;c;aGk=\x07 \x9b2J \u202e

[link](https://x.example/\x1b]52;c;aGk=\x07) `code \x1b[2J`

```h1
echo \x1b[2J
```
"""
OBEYED = "\x1b]52;c;aGk=\x07\x1b[2J\x9b2J\u202e\udc80"

# SGR; cursor up, down, forward, backward, to a column, to a place; erase in line and display,
# which rich does at home only; the cursor's visibility; the other screen.
OF_RICH = re.compile(r"\x1b\[(?:[0-9;]*m|[0-9]*[ABCDGK]|[0-9;]*H|\?25[lh]|\?1049[lh])")
CONTROLS = re.compile(
    "[^\n\r\t\x20-\x7e\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u2070-\ud7ff"
    "\ue000-\U000dffff]"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "h.yaml").write_text(STUDY, encoding="utf-8")
    (folder / "bad.yaml").write_text(f'"title{TITLE}": x\n"x\x7f": y\n', encoding="utf-8")
    (folder / "lab").mkdir()
    (folder / "lab/study.yaml").write_text(f"# raw \u202e\n{STUDY}", encoding="utf-8")
    (folder / "lab/text.md").write_text(LAB, encoding="utf-8")
    (folder / "net.py").write_text('raise SystemExit("\\x1b]52;c;aGk=\\x07")\n')
    done = longfat("run", "h.yaml", "--case", "good", "--out", "out", cwd=folder)
    assert done.returncode == 1, done.stderr
    return folder


def shown(*arguments: str, cwd: Path) -> str:
    """Return all that a command writes to its terminal."""
    terminal = Terminal(*arguments, cwd=cwd, columns=120)
    data = b""
    try:
        while terminal.process.poll() is None or select.select([terminal.near], [], [], 0.05)[0]:
            if select.select([terminal.near], [], [], 0.05)[0]:
                data += os.read(terminal.near, 65536)
    finally:
        terminal.close()
    return data.decode(errors="surrogateescape")


COMMANDS = {
    "check": (("check", "h.yaml"), ""),
    "check, a mistake": (("check", "bad.yaml"), "title"),
    "plan": (("plan", "h.yaml"), r"Study \x9b2J\u202etitle\u2069"),
    "show": (("show", "lab"), r"A lab \x1b]52"),
    "show --study": (("show", "lab", "--study"), r"# raw \u202e"),
    "run, judged": (
        ("run", "h.yaml", "--case", "good", "--out", "out"),
        r"Claim \x9b2J\u202etitle\u2069",
    ),
    "run, a line fails": (("run", "h.yaml", "--case", "line"), r"\x1b]52;c;aGk="),
    "run, the machine ends": (("run", "h.yaml", "--case", "tail"), r"\x1b]52;c;aGk="),
    "watch": (("watch", "h.yaml", "--case", "good"), r"Claim \x9b2J\u202e"),
    "watch, a line fails": (("watch", "h.yaml", "--case", "line"), r"\x1b]52;c;aGk="),
    "exec": (("exec", "--bind", OBEYED, "true"), r"\x1b]52;c;aGk="),
    "shell, a line fails": (("shell", "h.yaml", "--case", "line"), r"\x1b]52;c;aGk="),
    "runs": (("runs", "list"), ""),
    "query": (("query", "select chr(27) || ']52;c;aGk=' as x", "--runs", "out"), r"\x1b]52;c;aGk="),
    "query --all": (
        ("query", "select chr(27) || ']52;c;aGk=' as x", "--all", "--runs", "out"),
        r"\x1b]52;c;aGk=",
    ),
    "query, titles": (
        ("query", "select case_title from runs", "--json", "--runs", "out"),
        "",
    ),
    "query, a mistake": (
        ("query", "select error(chr(27) || ']52;c;aGk=')", "--runs", "out"),
        r"\x1b]52;c;aGk=",
    ),
    "compare": (("compare", "out/good-seed1", "out/good-seed1"), ""),
    "diagnose": (("diagnose", "out/good-seed1"), ""),
    "convert": (("convert", "net.py", "net.yaml"), ""),
    "a bad option": (("run", f"--{OBEYED}"), r"\x1b]52;c;aGk"),
    "a bad argument": (("run", OBEYED), r"\x1b]52;c;aGk=\x07\x1b[2J\x9b2J\u202e"),
    "a bad command": ((OBEYED,), r"\x1b]52;c;aGk="),
}


@pytest.mark.parametrize(("arguments", "text"), COMMANDS.values(), ids=COMMANDS)
def test_no_escape_sequence_but_those_of_rich_arrives(
    arguments: tuple[str, ...], text: str, folder: Path
) -> None:
    got = shown(*arguments, cwd=folder)
    assert text in OF_RICH.sub("", got)
    assert "Traceback" not in got
    assert CONTROLS.findall(OF_RICH.sub("", got)) == []


def test_a_pipe_gets_a_file_as_it_is(folder: Path) -> None:
    assert longfat("show", "lab", cwd=folder).stdout == LAB
    assert longfat("show", "lab", "--study", cwd=folder).stdout.startswith("# raw \u202e\n")


def test_every_console_escapes() -> None:
    made = [
        str(path.relative_to(REPOSITORY))
        for path in (REPOSITORY / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Console"
    ]
    assert made == []
