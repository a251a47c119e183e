"""Hosts with images for their roots, in live networks."""

from __future__ import annotations

from pathlib import Path

import pytest

import longfat
from longfat.engine.images import store
from longfat.errors import InputError
from tests.engine.images.made import Entry, docker, layer, small


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an image."""
    monkeypatch.setattr(store, "cache_root", lambda: tmp_path / "cache")
    path = tmp_path / "image.tar"
    entries = layer(Entry(path="given", content=b"given\n"))
    settings = {"Env": ["WHO=image"], "WorkingDir": "/srv", "Cmd": ["/bin/cat", "/given"]}
    path.write_bytes(docker([small(), entries], **settings))
    return path


def test_commands_files_and_flows_of_a_host_with_an_image(image: Path, tmp_path: Path) -> None:
    with longfat.Network(images=[image]) as net:
        h1, h2 = net.host("h1", root=str(image)), net.host("h2", root=image)
        h3 = net.host("h3")
        s1 = net.switch("s1")
        for host in (h1, h2, h3):
            net.link(host, s1)
        assert h1.run("echo $WHO $PWD").stdout == "image /srv\n"
        assert h1.run("echo $WHO", env={"WHO": "mine"}).stdout == "mine\n"
        assert h1.run("entrypoint").stdout == "given\n"
        assert h1.run("sudo -E sh -c 'echo $WHO'").stdout == "image\n"
        assert h1.run(["cat", "/given"], cwd="/bin").stdout == "given\n"
        assert h1.run("python3 -V").returncode == 127
        assert h1.sysctl("net.ipv4.tcp_sack", 0) == "0"
        net.tc("h1-eth0", "qdisc add root netem delay 5ms")
        h1.write_file("/tmp/mine", "mine")
        assert (h1.read_file("/tmp/mine"), h1.run("cat /tmp/mine").stdout) == (b"mine", "mine")
        assert h2.run("cat /tmp/mine").returncode != 0
        assert h3.run("test -e /tmp/mine").returncode != 0
        assert "10.0.0.3 h3" in h1.run("cat /etc/hosts").stdout
        assert h1.ping(h3, count=2)["min_s"] == pytest.approx(0.005, abs=0.001)
        assert h1.start("program", h3, run="echo $WHO > /out").result()["status"] == 0
        assert h1.read_file("/out") == b"image\n"
        h4 = net.host("h4", root=image)
        net.link(h4, s1)
        assert h4.run("cat /given").stdout == "given\n"
        assert "10.0.0.4 h4" in h1.run("cat /etc/hosts").stdout
        (tmp_path / "saved").mkdir()
        net.save(tmp_path / "saved" / "study.yaml")
        assert f"root: {image}" in (tmp_path / "saved/study.yaml").read_text()
        with pytest.raises(InputError, match=r"write longfat.Network\(images="):
            net.host("h5", root="other.tar")


def test_a_study_is_opened_with_its_images(image: Path) -> None:
    study = image.with_name("study.yaml")
    study.write_text(
        "title: x\nnetwork: {hosts: {h1: {address: 10.0.0.1/8, root: image.tar}, h2: 10.0.0.2/8},"
        " links: [[h1, h2]]}\nfiles: {/app/note: {text: hi}}\nsetup: [{h1: cat /given > /copy}]\n"
    )
    with longfat.Network.open(study) as net:
        assert net["h1"].run("cat /copy /app/note").stdout == "given\nhi"


def test_a_network_is_informed_of_an_image_that_is_none() -> None:
    with pytest.raises(InputError, match=r"there is no image 'nothing\.tar'"):
        longfat.Network(images=["nothing.tar"])
