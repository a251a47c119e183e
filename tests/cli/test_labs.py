"""`longfat labs` and `longfat show`: the list, and texts with their answers folded or not."""

from __future__ import annotations

import json
import os
import pty
from pathlib import Path

import pytest

from longfat.cli.show import fold_answers, unfold_answers
from longfat.common import resources
from tests.cli.test_run import STUDY
from tests.command import Command, longfat

TEXT = """\
# A small lab

Take `tc` & [look](x.md).

```html
<details><summary>code</summary>is left alone</details>
```

<details>
<summary>Why <code>40 ms</code>?</summary>

It waits for ARP.

Twice.
</details>

What must the buffer be?

<details><summary>Answer</summary>

- twice the BDP

</details>
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY)
    (folder / "text.md").write_text(TEXT)
    return folder


def on_a_terminal(*arguments: str, cwd: Path) -> str:
    """Return what the command writes to a terminal of 80 columns."""
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "80"}
    with Command(
        *("longfat", *arguments),
        cwd=cwd,
        env=environment,
        stdin=child,
        stdout=child,
        stderr=child,
    ) as running:
        os.close(child)
        chunks = []
        while True:
            try:
                chunk = os.read(parent, 65536)
            except OSError:  # Linux's way of telling that the other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        assert running.wait() == 0
    os.close(parent)
    return b"".join(chunks).decode()


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `longfat labs --json` prints."""
    done = longfat("labs", "--json", cwd=tmp_path_factory.mktemp("labs"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_labs(listed: str, tmp_path: Path) -> None:
    done = longfat("labs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split() == [
        *("lab", "title", "cases", "runs", "virtual", "s", "texts"),
    ]
    assert "\nlab08 " in done.stdout
    assert all(len(line) <= 80 and line == line.rstrip() for line in done.stdout.splitlines())
    data = {one["name"]: one for one in json.loads(listed)}
    folders = {path.parent.name for path in resources.folder("labs").glob("*/study.yaml")}
    assert data.keys() == folders
    lab08 = data["lab08"]
    assert set(lab08) == {
        *("name", "title", "course", "cases", "runs", "virtual_s", "texts", "folder"),
    }
    lines = done.stdout.splitlines()
    assert lab08["course"] == "buffers"
    assert lines.index("          Buffers on long, fat paths") < lines.index(
        next(line for line in lines if line.startswith("lab08 "))
    )
    assert lab08["texts"]["en"] == lab08["title"]
    assert lab08["cases"] >= 3
    assert lab08["virtual_s"] > 30


def test_titles_in_a_language_where_there_is_one(listed: str, tmp_path: Path) -> None:
    data = {one["name"]: one for one in json.loads(listed)}
    shown = longfat("labs", "--language", "ru", cwd=tmp_path).stdout
    titles = {line.split()[0]: line for line in shown.splitlines() if line}
    assert set(data["lab08"]["texts"]) >= {"en", "ru"}
    first = data["lab08"]["texts"]["ru"].split()[0]
    assert first in titles["lab08"]
    done = longfat("labs", "--language", "xx", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no text of any lab in 'xx' (there are: en, " in done.stderr


def test_a_report_in_a_language_that_is_not_there_is_refused_before_all_runs(
    lab: Path, tmp_path: Path
) -> None:
    done = longfat("run", "lab08", str(lab), "--language", "ru", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no text of small in 'ru' (there are: en)" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_show_in_a_language(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    russian = TEXT.replace("A small lab", "Малая работа").replace(">Answer<", ">Ответ<")
    (lab / "text.ru.md").write_text(russian)
    assert longfat("show", "small", cwd=lab.parent).stdout == TEXT
    assert longfat("show", "small", "--language", "ru", cwd=lab.parent).stdout == russian
    shown = on_a_terminal("show", "small", "--language", "ru", "--answers", cwd=lab.parent)
    assert shown.count("Ответ:") == 2
    assert "Answer" not in shown
    shown = on_a_terminal("show", "small", "--language", "ru", cwd=lab.parent)
    assert "longfat show small --language ru --answers" in shown
    done = longfat("show", "small", "--language", "de", cwd=lab.parent)
    assert done.returncode == 2
    assert "no text of the lab 'small' in 'de' (there are: en, ru)" in done.stderr
    monkeypatch.delenv("LC_ALL")
    monkeypatch.setenv("LANG", "ru_RU.UTF-8")
    assert longfat("show", "small", cwd=lab.parent).stdout == russian
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert longfat("show", "small", cwd=lab.parent).stdout == TEXT


def test_show_in_a_pipe_is_the_file(lab: Path) -> None:
    done = longfat("show", "small", cwd=lab.parent)
    assert (done.returncode, done.stdout) == (0, TEXT)
    assert longfat("show", "small", "--answers", cwd=lab.parent).stdout == TEXT
    assert longfat("show", "small", "--study", cwd=lab.parent).stdout == STUDY
    folded = longfat("show", "small", "--no-answers", cwd=lab.parent).stdout
    assert folded == fold_answers(TEXT)


def test_show_on_a_terminal(lab: Path) -> None:
    text = on_a_terminal("show", "small", cwd=lab.parent)
    assert "Why 40 ms?" in text
    assert "ARP" not in text
    assert "longfat show small --answers" in text
    text = on_a_terminal("show", "small", "--answers", cwd=lab.parent)
    assert text.index("Why 40 ms?") < text.index("Answer: It waits for ARP.") < text.index("Twice")
    assert text.index("What must the buffer be?") < text.index("twice the BDP")
    assert "summary>Why" not in text
    assert "<details><summary>code" in text  # in the code


def test_show_names_the_nodes_of_blocks_and_breaks_none_of_their_lines(lab: Path) -> None:
    red = "tc qdisc add dev s2-eth2 parent 1: handle 2: red limit 26214400 max 8738133 avpkt 1000"
    assert len(red) > 80
    text = f"# A\n\nFirst:\n\n```sh root\n{red}\n```\n\n```sh h1 h2\nping h3\nss -t\n```\n"
    (lab / "text.md").write_text(text)
    (lab / "text.ru.md").write_text(text)
    shown = on_a_terminal("show", "small", cwd=lab.parent).splitlines()
    at = shown.index("at root:")
    assert shown[at + 1].strip() == red
    at = shown.index("at h1, h2:")
    assert [line.strip() for line in shown[at + 1 : at + 3]] == ["ping h3", "ss -t"]
    assert "на h1, h2:" in on_a_terminal("show", "small", "--language", "ru", cwd=lab.parent)


def test_show_a_lab_by_name(tmp_path: Path) -> None:
    done = longfat("show", "lab08", "--study", cwd=tmp_path)
    assert done.stdout == (resources.folder("labs") / "lab08" / "study.yaml").read_text()
    done = longfat("show", "lab88", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no lab 'lab88'; did you mean 'lab" in done.stderr


def test_a_lab_without_text(lab: Path) -> None:
    (lab / "text.md").unlink()
    done = longfat("show", "small", cwd=lab.parent)
    assert done.returncode == 2
    assert "has no text; its study file: longfat show small --study" in done.stderr


def test_a_text_that_is_not_utf8(lab: Path) -> None:
    (lab / "text.md").write_bytes(b"\xff")
    done = longfat("show", "small", cwd=lab.parent)
    assert done.returncode == 2
    assert "text.md:1:1: the file is not UTF-8: byte 0xff" in done.stderr


def test_answers() -> None:
    unfolded = unfold_answers(TEXT, word="Answer")
    assert "Why `40 ms`?\n\n**Answer:** It waits for ARP.\n\nTwice.\n" in unfolded
    # A list stays at the beginning of its line, and a summary that asks nothing is left out.
    assert "What must the buffer be?\n\n**Answer:**\n\n- twice the BDP\n" in unfolded
    folded = fold_answers(TEXT)
    assert "Why `40 ms`?\n" in folded
    assert "Answer" not in folded
    assert "ARP" not in folded
    for text in (unfolded, folded):
        assert "<details><summary>code</summary>is left alone</details>" in text
    assert unfold_answers("plain *text*", word="Answer") == "plain *text*"
