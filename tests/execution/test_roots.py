"""Hosts with images for their roots, in real machines: what runs there, and what it sees."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from longfat.engine.images import store
from longfat.engine.kernel import Kernel
from longfat.engine.sandbox.sandbox import SANDBOXES, VARIABLE
from longfat.errors import HostError, InputError
from longfat.execution import run_case
from longfat.execution.hints import unexpected_end
from longfat.execution.runs import Run
from longfat.model.case import Case
from longfat.study import Planned, read_study
from longfat.study.file_reader import folder_reader
from longfat.study.formats.convert import convert_text
from longfat.study.formats.write import study_text
from longfat.study.read import parse_study
from tests.engine.images.made import Entry, docker, folder, layer, oci, programs, small

NETWORK = """\
title: Roots
memory: 256MB
network:
  hosts:
    h1: {address: 10.0.0.1/8, root: image.tar}
    h2: {address: 10.0.0.2/8, root: image.tar}
    h3: 10.0.0.3/8
  switches: [s1]
  links: [[h1, s1], [h2, s1], [h3, s1]]
"""
STUDY = (
    NETWORK
    + """\
files:
  /srv/note: {text: "a note\\n"}
  /app/only-there: {text: "x\\n"}
setup:
  - h1:
      - sysctl -w net.ipv4.tcp_sack=0
      - tc qdisc add dev h1-eth0 root netem delay 10ms
      - test "$(cat /proc/sys/net/ipv4/tcp_sack)" = 0
      - test "$PWD:$WHO:$PATH:$LONGFAT_SEED" = "/srv:image:/bin:1"
      - echo mine > /tmp/mine; echo mine > /etc/mine; echo mine > /bin/mine; echo changed > /given
      - test "$(cat /given)" = changed
      - test -e /sys/class/net/h1-eth0; test ! -e /sys/class/net/h2-eth0
      - test "$(cat /srv/note /app/only-there)" = "$(echo a note; echo x)"
      - read -r first _ < /etc/resolv.conf; test "$first" = "#"
      - test "$(stat -c '%a %u %g' /given /tmp)" = "$(echo 644 0 0; echo 1777 0 0)"
      - ls /dev/null /dev/shm /dev/pts /proc/self/exe /sys/class > /dev/null
  - h2:
      - test ! -e /tmp/mine; test ! -e /etc/mine; test ! -e /bin/mine
      - test "$(cat /given)" = given; test ! -e /usr/bin/python3; test ! -e /gone
  - h3: [test -e /usr/bin/python3, test ! -e /given, test -e /srv/note, test ! -e /tmp/mine]
flows:
  own:
    program: h1 -> h2
    run: iperf3 -c h2 -p 5300 -t 1 -b 8M -J
    serve: entrypoint -p 5300
    port: 5300
  seen:
    program: h2 -> h1
    run: cat /given
    serve: "echo > ready; sleep 100"
    ready: file /srv/ready
  tools: {iperf3: h1 -> h3, time: 1s}
  rtt: {ping: h1 -> h2, count: 2}
events:
  - {at: 500ms, h1: test -e /tmp/mine && echo > /event}
  - {at: 600ms, h2: test ! -e /event}
"""
)
SETTINGS = {"Env": ["PATH=/bin", "WHO=image"], "WorkingDir": "/srv"}
COMMAND = {"Entrypoint": ["/bin/iperf3"], "Cmd": ["-s", "-1"]}


def layers() -> list[bytes]:
    return [
        small("sh", "ls", "cat", "stat", "sleep", "iperf3"),
        layer(Entry(path="given", content=b"before"), Entry(path="gone"), folder("srv")),
        layer(Entry(path="given", content=b"given\n"), Entry(path=".wh.gone")),
    ]


@pytest.fixture(autouse=True)
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a cache of images of its own."""
    monkeypatch.setattr(store, "cache_root", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def planned(place: Path, text: str = STUDY, image: bytes | None = None) -> Planned:
    place.mkdir(exist_ok=True)
    content = docker(layers(), **SETTINGS, **COMMAND) if image is None else image
    (place / "image.tar").write_bytes(content)
    (place / "study.yaml").write_text(text)
    return read_study(place).cases["default"]


def run(one: Planned, out: Path, name: str = "default") -> Run:
    """Run a case; raise what is wrong with a flow of it."""
    run = run_case(one.case, name=name, out=out, places=one.places)
    if unexpected := unexpected_end(run, one.places):
        raise unexpected
    return run


HOSTILE = """\
  - h1:
      - echo forged > /given; cp /bin/cat /bin/iperf3; rm /bin/sh; true
"""


def test_lines_of_strangers_have_roots_of_their_own(tmp_path: Path) -> None:
    # The study's own lines see in them what they see elsewhere; its programs do not see them.
    lines = "  - h2:\n      - test ! -e /tmp/mine"
    hostile = STUDY.replace(lines, HOSTILE + lines, 1).replace("test -e /tmp/mine && ", "")
    hostile = hostile.replace("  - {at: 500ms, h1: echo > /event}\n", "")
    measured = []
    for name, text in (("plain", STUDY), ("hostile", hostile)):
        one = planned(tmp_path / name, text)
        one = dataclasses.replace(one, case=dataclasses.replace(one.case, untrusted=True))
        measured.append(run(one, tmp_path, name))
    assert (measured[1].folder / "raw/seen.client.txt").read_bytes() == b"given\n"
    assert measured[1].metrics["own.status"] == 0
    assert measured[1].metrics.keys() == measured[0].metrics.keys()


@pytest.mark.parametrize(
    "line",
    [
        "test ! -e /run/output; test ! -e /proc/1/root/run/output; test ! -w /proc/sys/kernel",
        "cat /proc/kcore > /dev/null && exit 1; echo o > /proc/sysrq-trigger && exit 1; true",
        "test -e /proc/sys/net/ipv4/tcp_sack; echo 1 > /sys/kernel/x && exit 1; true",
    ],
)
def test_a_root_is_no_way_out_for_strangers(tmp_path: Path, line: str) -> None:
    text = STUDY.replace("setup:\n", f"setup:\n  - h1: {json.dumps(line)}\n", 1)
    one = planned(tmp_path / "a", text)
    one = dataclasses.replace(one, case=dataclasses.replace(one.case, untrusted=True))
    run(one, tmp_path)


def test_programs_of_an_image_run_and_hosts_do_not_see_each_other(
    tmp_path: Path, each_kernel: Kernel
) -> None:
    one = planned(tmp_path / "a")
    one = dataclasses.replace(one, case=dataclasses.replace(one.case, kernel=each_kernel.release))
    first = run(one, tmp_path, "first")
    seen = (first.folder / "raw/seen.client.txt").read_bytes()
    report = json.loads((first.folder / "raw/own.client.txt").read_bytes())
    assert seen == b"given\n"
    assert report["end"]["sum_sent"]["bytes"] >= 1 << 20
    again = run(one, tmp_path, "again")
    for path in sorted((first.folder / "raw").iterdir()):
        assert path.read_bytes() == (again.folder / "raw" / path.name).read_bytes(), path.name


@pytest.mark.parametrize("sandbox", [one.name for one in SANDBOXES])
def test_every_sandbox_shows_the_image(
    sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, sandbox)
    text = NETWORK + (
        "setup: [{h1: test -e /given && echo x > /given && test ! -e /usr/bin/python3}]\n"
        "flows: {f: {program: h1 -> h2, run: cat /given}}\n"
    )
    kept = run(planned(tmp_path / "a", text), tmp_path)
    assert (kept.folder / "raw/f.client.txt").read_bytes() == b"x\n"


def test_the_image_decides_the_case_and_its_place_does_not(tmp_path: Path) -> None:
    text = NETWORK + "flows: {rtt: {ping: h1 -> h2, count: 1}}\n"
    as_docker = planned(tmp_path / "a", text).case
    as_oci = planned(tmp_path / "b", text, oci(layers(), **SETTINGS, **COMMAND)).case
    assert as_docker.digest == as_oci.digest
    other = planned(tmp_path / "c", text, docker(layers()[:1], **SETTINGS)).case
    assert other.digest != as_docker.digest
    assert Case.from_json(json.loads(json.dumps(as_docker.to_json()))) == as_docker
    written = study_text(title="Roots", case=as_docker)
    assert "root: image.tar" in written
    read = parse_study(written, name="x", beside=folder_reader(tmp_path / "a"))
    assert read.cases["default"].case == as_docker
    for suffix in (".mn", ".py"):
        converted = convert_text(tmp_path / "a", suffix=suffix)
        words = f"{tmp_path}/a: the images of h1, h2 are left out: Mininet has none"
        assert words in converted.warnings


def test_an_image_without_a_shell_runs_lines_that_need_none(tmp_path: Path) -> None:
    bare = docker([layer(*programs("cat"), Entry(path="note", content=b"a note"))])
    text = NETWORK + "setup: [{h1: cat '/note'}]\nflows: {f: {program: h1 -> h2, run: cat /note}}\n"
    kept = run(planned(tmp_path / "a", text, bare), tmp_path)
    assert (kept.folder / "raw/f.client.txt").read_bytes() == b"a note"
    for line, words in (("cat /note | cat", "/bin/sh"), ("dog /note", "dog")):
        text = NETWORK + f"flows: {{f: {{program: h1 -> h2, run: {line}}}}}\n"
        with pytest.raises(InputError, match=f"{words}: command not found") as caught:
            run(planned(tmp_path / "b", text, bare), tmp_path)
        assert "h1 has only the programs of image.tar" in str(caught.value)
        assert "study.yaml:10:" in str(caught.value)


@pytest.mark.parametrize(
    "part",
    [
        "setup: [{h1: python3 -c pass}]\nflows: {rtt: {ping: h1 -> h2, count: 1}}\n",
        "flows: {rtt: {ping: h1 -> h2}}\nevents: [{at: 10ms, h1: python3 -c pass}]\n",
        "flows: {f: {program: h1 -> h2, run: python3 -c pass}}\n",
    ],
    ids=["setup", "event", "flow"],
)
def test_a_program_that_is_not_in_the_image_is_told_at_its_line(part: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        run(planned(tmp_path / "a", NETWORK + part), tmp_path)
    message = str(caught.value)
    line = 10 if "events" not in part else 11
    assert message.startswith(f"{tmp_path}/a/study.yaml:{line}:")
    assert "python3" in message
    assert "exited with status 127" in message
    assert "hint: h1 has only the programs of image.tar" in message


def test_mistakes_are_told_where_they_are_written(tmp_path: Path) -> None:
    plain = docker(layers(), **SETTINGS)

    def wrong(text: str, image: bytes = plain) -> str:
        with pytest.raises(InputError) as caught:
            planned(tmp_path / "a", text, image)
        return str(caught.value).removeprefix(f"{tmp_path}/a/study.yaml:")

    message = wrong(NETWORK.replace("image.tar", "nothing.tar", 1))
    assert message == (
        "5:37: network.hosts.h1.root: 'nothing.tar' cannot be read: there is no such file beside "
        "the study"
    )
    assert "is outside of the study's folder" in wrong(NETWORK.replace("image.tar", "../x.tar", 1))
    assert "is hidden" in wrong(NETWORK.replace("image.tar", ".x.tar", 1))
    assert "an image's file or folder (such as server.tar)" in wrong(
        NETWORK.replace("image.tar", "[x]", 1)
    )
    (tmp_path / "a/link").symlink_to("image.tar")
    assert "symbolic link" in wrong(NETWORK.replace("image.tar", "link", 1))
    found = wrong(NETWORK, docker(layers(), architecture="arm64"))
    assert "image.tar: a machine runs linux/amd64, but the image is for linux/arm64" in found
    for part in (
        "setup: [{h1: entrypoint}]\n",
        "flows: {f: {program: h1 -> h3, run: entrypoint -v}}\n",
        "flows: {rtt: {ping: h1 -> h2}}\nevents: [{at: 1s, h1: entrypoint}]\n",
    ):
        assert "image.tar has neither an Entrypoint nor a Cmd" in wrong(NETWORK + part)


def test_an_image_that_left_the_cache_is_told(tmp_path: Path, images: Path) -> None:
    one = planned(tmp_path / "a", NETWORK + "flows: {rtt: {ping: h1 -> h2, count: 1}}\n")
    images.rename(images.with_name("elsewhere"))
    with pytest.raises(HostError, match="is not unpacked in the cache"):
        run(one, tmp_path)


def test_a_plain_folder_is_a_root_and_is_not_written_to(tmp_path: Path) -> None:
    place = tmp_path / "a/made"
    for entry in programs("sh", "cat"):
        (place / entry.path).parent.mkdir(parents=True, exist_ok=True)
        (place / entry.path).write_bytes(entry.content)
        (place / entry.path).chmod(entry.mode)
    (place / "given").write_text("given")
    text = NETWORK.replace("image.tar", "made") + (
        "setup: [{h1: echo changed > /given}]\n"
        "flows: {f: {program: h1 -> h2, run: cat /given, serve: cat /given}}\n"
    )
    kept = run(planned(tmp_path / "a", text), tmp_path)
    assert (kept.folder / "raw/f.client.txt").read_bytes() == b"changed\n"
    assert (kept.folder / "raw/f.server.txt").read_bytes() == b"given"
    assert (place / "given").read_text() == "given"
