"""The field `files`: what is read from where, and what a study must not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.case import Case, File
from longfat.model.network import Host, Link, Network
from longfat.model.traffic import Ping
from longfat.study import Study, read_study
from longfat.study.formats.convert import convert_text
from longfat.study.formats.open import open_network
from longfat.study.read import parse_study

HEAD = """\
title: x
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
"""
PLAIN = "8ea4f8ee4a55abee248f3c0a3255058e7673b71dedf37f0f7053ceaa32b75d60"


def read(text: str, folder: Path) -> Study:
    (folder / "study.yaml").write_text(HEAD + text, encoding="utf-8")
    return read_study(folder)


def files(text: str, folder: Path, case: str = "default") -> dict[str, File]:
    return {file.path: file for file in read(text, folder).cases[case].case.files}


def wrong(text: str, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(text, folder)
    return str(caught.value).removeprefix(f"{folder}/study.yaml:")


def test_a_case_without_files_keeps_its_digest() -> None:
    network = Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(),
        links=(Link(a="h1", b="h2"),),
    )
    case = Case(kernel="6.1", network=network, flows=(Ping(name="rtt", source="h1", target="h2"),))
    # As it was before there were files.
    assert case.digest == PLAIN
    assert "files" not in case.to_json()


def test_forms_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "daemons").write_bytes(b"zebra=yes\n")
    (tmp_path / "sub" / "server.py").write_bytes(b"\xff\x00")
    (tmp_path / "daemons").chmod(0o755)
    text = """\
files:
  /tmp/notes: {text: "inline text\\n"}
  /tmp/empty: {text: ""}
  /tmp/bytes: {base64: "/wA\\n ="}
  /opt/lab/server.py: {from: ./sub//server.py, executable: true}
  /etc/frr/daemons: daemons
"""
    # In the order of the paths, whatever the study's: it makes no difference.
    found = files(text, tmp_path)
    assert list(found.values()) == [
        File(path="/etc/frr/daemons", content=b"zebra=yes\n"),
        File(path="/opt/lab/server.py", content=b"\xff\x00", executable=True),
        File(path="/tmp/bytes", content=b"\xff\x00"),
        File(path="/tmp/empty", content=b""),
        File(path="/tmp/notes", content=b"inline text\n"),
    ]
    assert [file.to_json() for file in list(found.values())[:2]] == [
        {"path": "/etc/frr/daemons", "executable": False, "text": "zebra=yes\n"},
        {"path": "/opt/lab/server.py", "executable": True, "base64": "/wA="},
    ]


def test_a_file_decides_the_digest(tmp_path: Path) -> None:
    def digest() -> str:
        return read("files: {/opt/a: a}", tmp_path).cases["default"].case.digest

    (tmp_path / "a").write_text("1")
    first = digest()
    assert digest() == first
    (tmp_path / "a").write_text("2")
    assert digest() != first


def test_a_case_replaces_adds_and_leaves_out(tmp_path: Path) -> None:
    text = """\
files: {/opt/a: {text: a}, /opt/b: {text: b}}
cases:
  same:
  other: {files: {/opt/a: {text: c, executable: yes}, /opt/b: , /opt/d: {text: d}}}
"""
    assert list(files(text, tmp_path, "same")) == ["/opt/a", "/opt/b"]
    other = files(text, tmp_path, "other")
    assert list(other) == ["/opt/a", "/opt/d"]
    assert other["/opt/a"] == File(path="/opt/a", content=b"c", executable=True)
    assert wrong("cases: {a: {files: {/opt/a: }}}", tmp_path) == (
        "3:21: cases.a.files./opt/a: the file '/opt/a' has no value, which leaves out a common "
        "file, and there is none of that name"
    )


def test_a_grid_fills_in_files(tmp_path: Path) -> None:
    (tmp_path / "red.conf").write_text("red")
    (tmp_path / "pie.conf").write_text("pie")
    text = """\
grid: {aqm: [red, pie]}
files: {/etc/aqm: $<aqm>.conf, /etc/name: {text: "name=$<aqm>"}}
"""
    study = read(text, tmp_path)
    contents = [[file.content for file in one.case.files] for one in study.cases.values()]
    assert contents == [[b"red", b"name=red"], [b"pie", b"name=pie"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study's folder, in a folder with a secret."""
    (tmp_path / "secret").write_text("secret")
    inside = tmp_path / "study"
    (inside / "sub").mkdir(parents=True)
    (inside / ".ssh").mkdir()
    (inside / ".ssh" / "key").write_text("secret")
    (inside / "link").symlink_to("../secret")
    (inside / "inward").symlink_to("sub")
    (inside / "up").symlink_to("..")
    os.mkfifo(inside / "pipe")
    (inside / "large").write_bytes(bytes(8 * 1024**2 + 1))
    (inside / "file").write_text("x")
    return inside


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret", "'../secret' is outside of the study's folder: put the file beside the "),
        ("sub/../../secret", "'sub/../../secret' is outside of the study's folder"),
        ("/etc/passwd", "'/etc/passwd' is outside of the study's folder"),
        (".", "'.' is outside of the study's folder"),
        ("link", "'link' cannot be read: it is, or goes through, a symbolic link"),
        ("up/secret", "'up/secret' cannot be read: it is, or goes through, a symbolic link"),
        ("inward/x", "'inward/x' cannot be read: it is, or goes through, a symbolic link"),
        (".ssh/key", "'.ssh/key' is hidden"),
        ("pipe", "'pipe' cannot be read: it is not a regular file"),
        ("sub", "'sub' cannot be read: it is a directory; name each file of it"),
        ("large", "the file is larger than 8 MB"),
        ("nothing", "'nothing' cannot be read: there is no such file beside the study"),
        ("file/x", "'file/x' cannot be read: there is no such file beside the study"),
        ("x" * 300, f"'{'x' * 300}' cannot be read: File name too long"),
    ],
)
def test_a_study_reads_nothing_but_files_of_its_folder(
    folder: Path, path: str, reason: str
) -> None:
    said = wrong(f"files:\n  /opt/a: {{from: {path}}}\n", folder)
    assert said.startswith(f"4:18: files./opt/a.from: {reason}")
    said = wrong(f"files:\n  /opt/a: {path}\n", folder)
    assert said.startswith(f"4:11: files./opt/a: {reason}")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("opt/a: {text: x}", "4:3: files.opt/a: 'opt/a' is not an absolute, normalised path"),
        (
            "/opt/../etc/a: {text: x}",
            "4:3: files./opt/../etc/a: '/opt/../etc/a' is not an absolute",
        ),
        ("/opt//a: {text: x}", "4:3: files./opt//a: '/opt//a' is not an absolute"),
        ("//opt/a: {text: x}", "4:3: files.//opt/a: '//opt/a' is not an absolute"),
        ("/opt/a/: {text: x}", "4:3: files./opt/a/: '/opt/a/' is not an absolute"),
        ("/a: {text: x}", "4:3: files./a: '/a' is in /, which cannot be written"),
        ("/proc/sys/a: {text: x}", "4:3: files./proc/sys/a: '/proc/sys/a' belongs to the machine"),
        ("/run/longfat/a: {text: x}", "4:3: files./run/longfat/a: '/run/longfat/a' belongs"),
        ("/etc/hosts: {text: x}", "4:3: files./etc/hosts: '/etc/hosts' belongs to the machine"),
        ('"/opt/a,b": {text: x}', "4:3: files./opt/a,b: '/opt/a,b' holds a comma"),
        ('"/opt/a\\nb": {text: x}', "4:3: files./opt/a\nb: '/opt/a\\nb' holds a comma, a colon"),
        (f"/opt/{'x' * 256}: {{text: x}}", "4:3: "),
        ("/opt/a: {}", "4:11: files./opt/a: a file has one of from, text, base64, and here are 0"),
        ("/opt/a: {text: x, from: x}", "4:11: files./opt/a: a file has one of"),
        ("/opt/a: {txt: x}", "4:12: files./opt/a.txt: unknown field 'txt'; did you mean 'text'?"),
        ("/opt/a: {text: [x]}", "4:18: files./opt/a.text: found a sequence, expected a text"),
        ("/opt/a: {text: }", "4:12: files./opt/a.text: found nothing, expected a text"),
        ("/opt/a: {base64: é}", "4:20: files./opt/a.base64: found 'é', expected base64 (RFC"),
        ("/opt/a: {text: x, executable: 7}", "4:33: files./opt/a.executable: found '7'"),
        ("/opt/a: [x]", "4:11: files./opt/a: found a sequence, expected a file beside the"),
        ("[/opt/a, /opt/b]: {text: x}", "4:3: files.[/opt/a, /opt/b]: '[/opt/a, /opt/b]' is not"),
        ("/opt/a: {text: x}\n  /opt/a: {text: y}", "5:3: '/opt/a' is written twice here"),
        (
            "/opt/a: {text: x}\n  /opt/a/b/c: {text: y}",
            "5:3: files./opt/a/b/c: /opt/a is a file of this case, not a folder",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(tmp_path: Path, entry: str, said: str) -> None:
    assert wrong(f"files:\n  {entry}\n", tmp_path).startswith(said)


def test_all_files_of_a_case_have_a_limit(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / name).write_bytes(bytes(4 * 1024**2))
    four = "".join(f"  /opt/{name}: {name}\n" for name in "abcd")
    assert len(files(f"files:\n{four}", tmp_path)) == 4
    assert wrong(f"files:\n{four}  /opt/e: e\n", tmp_path) == (
        "8:3: files./opt/e: with this one, a case's files are larger than 16 MB"
    )
    one_case = f"files:\n{four}cases:\n  a:\n  b: {{files: {{/opt/e: e}}}}\n"
    assert wrong(one_case, tmp_path).startswith("10:15: cases.b.files./opt/e: with this one")


def test_a_study_in_no_folder_reads_nothing() -> None:
    with pytest.raises(InputError, match="this study is not in a folder") as caught:
        parse_study(f"{HEAD}files: {{/opt/a: a}}\n", name="new")
    assert caught.value.place is not None
    assert caught.value.place.field == "files./opt/a"


def test_a_network_is_opened_and_converted_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\n")
    study = read("files: {/opt/a: {from: a, executable: yes}}\n", tmp_path)
    (file,) = study.cases["default"].case.files
    assert open_network(tmp_path).files == (file,)
    assert open_network(tmp_path, case="default").files == (file,)
    written = convert_text(tmp_path, suffix=".yaml").text
    assert parse_study(written, name="x").cases["default"].case.files == (file,)
    for suffix in (".py", ".mn"):
        warning = f"{tmp_path}: files are left out, which set-up lines may need: /opt/a"
        assert warning in convert_text(tmp_path, suffix=suffix).warnings
