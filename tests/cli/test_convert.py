from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from longfat.study import read_study
from tests.command import longfat
from tests.paths import REPOSITORY, TESTS

DATA = TESTS / "data" / "miniedit"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(DATA / "dumbbell.mn", tmp_path)
    return tmp_path


def test_there_and_back(folder: Path) -> None:
    done = longfat("convert", "dumbbell.mn", "study.yaml", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "longfat: c0: the controller is left out: switches here are learning bridges, which need "
        "none",
        "longfat: link s1 - s2: jitter: Mininet draws it evenly from both sides, longfat normally",
        "longfat: links with a delay and without bw: Mininet's netem drops beyond 1,000 packets on "
        "the line; here there is no limit",
    ]
    case = read_study(folder / "study.yaml").cases["default"].case
    assert case.network.links[0].a_to_b.rate_bps == 10**8
    assert longfat("convert", ".", "back.mn", cwd=folder).returncode == 0
    assert json.loads((folder / "back.mn").read_text())["links"][0] == {
        "src": "s1",
        "dest": "s2",
        "opts": {"bw": 100, "delay": "20ms", "jitter": "1ms", "loss": 1, "max_queue_size": 200},
    }


def test_a_lab_becomes_a_script(folder: Path) -> None:
    done = longfat("convert", "lab08", "lab.py", "--case", "tuned", cwd=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "lab.py").read_text()
    compile(text, "lab.py", "exec")
    assert "net.addLink('s1', 's2', intfName1='s1-eth2', intfName2='s2-eth1')" in text
    assert "run(root, 'tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms')" in text
    assert "flows and probes are left out" in done.stderr


def test_a_case_becomes_a_study_of_its_own(folder: Path) -> None:
    done = longfat("convert", "lab08", "tuned.yaml", "--case", "tuned", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lab = read_study(REPOSITORY / "labs" / "lab08")
    assert read_study(folder / "tuned.yaml").cases["default"].case == lab.cases["tuned"].case


def test_a_file_is_not_written_over(folder: Path) -> None:
    (folder / "net.py").write_text("mine")
    done = longfat("convert", "dumbbell.mn", "net.py", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "longfat: net.py: the file is there already; --force writes over it\n"
    assert (folder / "net.py").read_text() == "mine"
    assert longfat("convert", "dumbbell.mn", "net.py", "--force", cwd=folder).returncode == 0
    assert "mininet" in (folder / "net.py").read_text()


def test_a_link_stays_and_its_file_is_written_over(folder: Path) -> None:
    (folder / "real.py").write_text("mine")
    (folder / "net.py").symlink_to("real.py")
    assert longfat("convert", "dumbbell.mn", "net.py", "--force", cwd=folder).returncode == 0
    assert (folder / "net.py").is_symlink()
    assert "mininet" in (folder / "real.py").read_text()


SCRIPT = """
import sys
from mininet.net import Mininet
net = Mininet()
switch = net.addSwitch("s1")
for number in range(int(sys.argv[1])):
    net.addLink(net.addHost(f"h{number}"), switch, bw=10)
net.start()
net.pingAll()
"""


def test_a_script_is_run_with_arguments(folder: Path) -> None:
    (folder / "net.py").write_text(SCRIPT)
    done = longfat("convert", "net.py", "net.yaml", "--", "3", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    notes = done.stderr.splitlines()
    assert notes[0] == (
        "longfat: s1: it forwards nothing in Mininet: it has no controller; here it is a learning "
        "bridge"
    )
    assert "longfat: line 9: h0: `ping -c1 10.0.0.2`: the flow ping_h0_h1" in notes
    assert len(read_study(folder / "net.yaml").cases["default"].case.network.hosts) == 3
    done = longfat("convert", "net.py", "other.yaml", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "longfat: net.py:6:25: IndexError: list index out of range\n"
    done = longfat("convert", "net.yaml", "net.mn", "--", "3", cwd=folder)
    assert "net.yaml: only a Mininet script (.py) takes arguments: '3'" in done.stderr
    done = longfat("convert", "net.py", "x.yaml", "--", "1", cwd=folder, LONGFAT_CACHE="none")
    assert done.returncode == 3
    assert "no kernel is built\n  hint: longfat kernel build" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dumbbell.mn", "net.txt"), "net.txt: '.txt' is no format to convert to"),
        (("lab08", "x.svg", "--case", "tune"), "there is no case 'tune'; did you mean 'tuned'?"),
        (("dumbbell.mn", "no/net.png"), "no/net.png: cannot be written: No such file or directory"),
        (("nothing.mn", "net.py"), "nothing.mn"),
        (("lab08", "x.yaml"), "name the case that the study is to have (there are: unshaped,"),
        (("lab08", "x.yaml", "--case", "tune"), "there is no case 'tune'; did you mean 'tuned'?"),
        (("dumbbell.mn", "no/net.py"), "no/net.py: cannot be written: No such file or directory"),
        (("net.py", "net.mn"), "net.py"),
    ],
)
def test_what_cannot_be_converted(arguments: tuple[str, ...], message: str, folder: Path) -> None:
    (folder / "net.py").write_text("")
    done = longfat("convert", *arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / arguments[1]).exists() or arguments[1] == "net.py"


def test_names_too_long_for_mininet_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(
        "title: long\nnetwork:\n  hosts: {frankfurt-core: 10.0.0.1/8, h2: 10.0.0.2/8}\n"
        "  links: [[frankfurt-core, h2]]\n"
    )
    drawn = longfat("convert", "long.yaml", "long.mn", cwd=tmp_path)
    assert "Mininet cannot make frankfurt-core: interface names become too long" in drawn.stderr
    script = longfat("convert", "long.yaml", "long.py", cwd=tmp_path)
    assert (script.returncode, script.stderr) == (0, "")
    assert "intfName1='fra_0wp0g-eth0'" in (tmp_path / "long.py").read_text()


def test_a_drawings_notes_are_kept_or_said_to_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(
        "title: notes\nnetwork:\n  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}\n  links: [[h1, h2]]\n"
        "drawing:\n  notes: [{text: here, at: [1, 2]}]\n  groups: [{nodes: [h1]}]\n"
    )
    for suffix in (".mn", ".py"):
        done = longfat("convert", "net.yaml", f"out{suffix}", cwd=tmp_path)
        left = f"a note and a group of the drawing are left out: {suffix} files have none"
        assert left in done.stderr
    done = longfat("convert", "net.yaml", "again.yaml", "--case", "default", cwd=tmp_path)
    assert done.returncode == 0
    again, first = (read_study(tmp_path / name) for name in ("again.yaml", "net.yaml"))
    assert again.drawing == first.drawing


def test_a_picture(folder: Path) -> None:
    done = longfat("convert", "lab08", "lab.svg", "--case", "tuned", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    root = ElementTree.parse(folder / "lab.svg").getroot()
    spaced = "{http://www.w3.org/2000/svg}text"
    words = {text.text: text.get("class") for text in root.iter(spaced)}
    assert {"h1", "h2", "s1", "s2", "10.0.0.1/8"} <= words.keys()
    assert words["s1-eth2"] == "interface shaped"
    assert words["s2-eth1"] == "interface"
    drawn = longfat("convert", "dumbbell.mn", "net.png", "--json", cwd=folder)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    said = json.loads(drawn.stdout)
    assert said["file"] == "net.png"
    assert said["warnings"][0].startswith("c0: the controller is left out")
    assert (folder / "net.png").read_bytes().startswith(b"\x89PNG")
    again = longfat("convert", "lab08", "net.png", cwd=folder)
    assert again.returncode == 2
    assert "net.png: the file is there already; --force writes over it" in again.stderr


def test_a_picture_stands_where_the_study_says(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(
        "title: net\nnetwork:\n  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}\n  links: [[h1, h2]]\n"
        "layout: {h1: [10, 500], h2: [10, 20]}\n"
        "drawing: {notes: [{text: by hand, at: [1, 2]}]}\n"
    )
    assert longfat("convert", "net.yaml", "net.svg", cwd=tmp_path).returncode == 0
    root = ElementTree.parse(tmp_path / "net.svg").getroot()
    places = {text.text: text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert float(places["h1"].get("y", 0)) > float(places["h2"].get("y", 0))
    assert places["h1"].get("x") == places["h2"].get("x")
    assert "by hand" in places
