"""A study's files in real machines: where they are, who sees them, and what they decide."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import InputError
from longfat.execution import run_case, run_cases
from longfat.execution.cache import ResultCache
from longfat.execution.runs import Run, load_run
from longfat.model.case import Case, File
from longfat.model.network import Host, Link, Network
from longfat.model.traffic import Ping
from longfat.study import Planned, read_study

STUDY = """\
title: Files
memory: 256MB
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
files:
  /usr/local/bin/hello: {from: hello, executable: true}
  /opt/new/sub/hello: {from: hello, executable: true}
  /usr/lib/os-release: {text: "NAME=mine\\n"}
  /usr/newer/x: {text: "x\\n"}
  /etc/passwd: {text: "root:x:0:0:somebody:/root:/bin/sh\\n"}
  /var/newer/bytes: {base64: AAEC/w==}
  /run/new/x: {text: x}
  /tmp/notes: {text: "inline text\\n"}
setup:
  - [root, h1]:
      - hello there > /tmp/said && grep -q '^hello there$' /tmp/said
      - /opt/new/sub/hello | grep -q '^hello$'
      - grep -q NAME=mine /usr/lib/os-release
      - grep -q 'inline text' /tmp/notes
      - getent passwd 0 | grep -q somebody
      - getent hosts h2 | grep -q '^10[.]0[.]0[.]2'
      - test "$(od -An -tx1 /var/newer/bytes)" = " 00 01 02 ff"
      - test "$(stat -c '%a %u %g %Y' /usr/local/bin/hello)" = "755 0 0 946728000"
      - test "$(stat -c '%a %u %g %Y' /usr/newer/x /run/new/x | uniq)" = "644 0 0 946728000"
      - touch /var/tmp/mine /usr/newer/y && test -x /usr/bin/env
flows: {rtt: {ping: h1 -> h2, count: 1}}
"""


def planned(folder: Path, text: str = STUDY) -> Planned:
    folder.mkdir(exist_ok=True)
    (folder / "hello").write_text("#!/bin/sh\necho hello $*\n")
    (folder / "study.yaml").write_text(text)
    return read_study(folder).cases["default"]


def run(one: Planned, out: Path) -> Run:
    return run_case(one.case, name="default", out=out, places=one.places)


def test_files_are_at_all_nodes_before_the_setup(tmp_path: Path, each_kernel: Kernel) -> None:
    one = planned(tmp_path / "study", f"kernel: {each_kernel.series}\n{STUDY}")
    first, second = run(one, tmp_path / "first"), run(one, tmp_path / "second")
    assert first.digest == second.digest
    assert (first.folder / "commands.sh").read_bytes() == (
        second.folder / "commands.sh"
    ).read_bytes()
    assert load_run(first.folder).case == one.case
    script = (first.folder / "commands.sh").read_text()
    assert "cat > /tmp/notes << 'EOF'\ninline text\nEOF\nchmod 644 /tmp/notes\n" in script
    assert "base64 -d > /var/newer/bytes << 'EOF'\nAAEC/w==\nEOF\n" in script
    assert script.index("/tmp/notes") < script.index("# the network") < script.index("# set-up")


def test_a_changed_file_is_run_anew(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        (tmp_path / "study").mkdir(exist_ok=True)
        (tmp_path / "study" / "answer").write_text(text)
        study = "".join(
            line
            for line in STUDY.splitlines(keepends=True)
            if line.startswith(("title", "memory", "network", "flows"))
        )
        one = planned(tmp_path / "study", f"{study}files: {{/opt/a/answer: answer}}\n")
        run_cases({"default": one}, out=tmp_path / "out", cache=ResultCache())
        return one.case.digest

    first = digest("one")
    assert digest("one") == first
    assert len(list(ResultCache().entries())) == 1
    assert digest("two") != first
    assert len(list(ResultCache().entries())) == 2


@pytest.fixture
def bare() -> Case:
    network = Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(),
        links=(Link(a="h1", b="h2"),),
    )
    flow = Ping(name="rtt", source="h1", target="h2", count=1)
    return Case(kernel="6.1", network=network, flows=(flow,), memory_bytes=256 << 20)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/usr/bin", "Is a directory"),
        ("/usr/bin/env/x", "Not a directory (/usr/bin/env)"),
        ("/no-such-folder/x", "its top folder is not there, and the machine's / cannot be written"),
    ],
)
def test_what_cannot_be_there_is_told(bare: Case, tmp_path: Path, path: str, words: str) -> None:
    case = dataclasses.replace(bare, files=(File(path=path, content=b""),))
    with pytest.raises(InputError) as caught:
        run_case(case, name="x", out=tmp_path)
    assert str(caught.value).startswith(
        f"case 'x': files: {path} cannot be written in the machine: {words}"
    )


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("./hello now", "hello is beside the study, and the machine has only what `files` names, "),
        ("sh sub/deep.sh", "such as `files: {/opt/deep.sh: sub/deep.sh}`"),
        ("/opt/hello", "write `executable: true` at /opt/hello in `files`"),
        ("cat /no/such", ""),
        ("sh ../outside.sh", ""),
    ],
)
def test_a_file_beside_the_study_that_is_missed_is_hinted_at(
    tmp_path: Path, line: str, hint: str
) -> None:
    (tmp_path / "outside.sh").write_text("")
    folder = tmp_path / "study"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "deep.sh").write_text("")
    network = "\n".join(STUDY.splitlines()[1:3])
    text = f"title: x\n{network}\nfiles: {{/opt/hello: hello}}\nsetup: [{{h1: {line}}}]\n"
    with pytest.raises(InputError) as caught:
        run(planned(folder, text), tmp_path / "out")
    said = str(caught.value)
    assert f"`ip netns exec h1 {line}`" in said or f"sh -c '{line}'" in said
    assert ("\n  hint: " in said) == bool(hint)
    assert hint in said
