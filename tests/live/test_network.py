"""The Python Network: nodes, routers, saving and opening, and what is wrong with either."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import longfat
from longfat.errors import InputError, MachineError
from longfat.live import CommandFailed, Network
from longfat.study import read_study
from tests.kernels import KERNELS
from tests.live.conftest import host, two_hosts

MakeNetwork = Callable[..., Network]

LINES = """\
title: Two cases
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 100mbit, delay: 10ms}]]
setup:
  - root: tc qdisc replace dev s1-eth1 root netem delay 5ms
cases:
  slow: {setup: [{h1: sysctl -w net.ipv4.tcp_congestion_control=reno}], seed: 5}
  quick: {}
"""


def test_the_example_of_the_package(make_network: MakeNetwork) -> None:
    assert longfat.Network is Network
    net = make_network(kernel="6.1", seed=1)
    h1, h2 = net.host("h1"), net.host("h2")
    s1 = net.switch("s1")
    net.link(h1, s1)
    net.link(s1, h2, rate="1gbit", delay="10ms")
    shown = h1.run("ping -c 4 10.0.0.2").stdout
    assert "4 received" in shown
    assert shown.count("time=20.0 ms") == 3  # the first one asks for the address before
    assert h1.ping(h2, count=3)["min_s"] == pytest.approx(0.020, rel=1e-3)
    assert 700e6 < h1.iperf3(h2, time=5)["receiver_bps"] < 1e9
    assert (h1.address, h2.address) == ("10.0.0.1", "10.0.0.2")
    assert (net.hosts, net.switches) == ([h1, h2], [s1])
    assert net["h1"] is h1
    assert repr(net.links[1]) == "<s1-eth2 -- h2-eth0>"


def test_hosts_call_each_other_by_name_and_see_only_their_own(net: Network) -> None:
    h1, h2 = host(net, "h1"), host(net, "h2")
    assert h1.run("ping -c 1 -W 1 h2").returncode == 0
    assert h1.run("cd /sys/class/net; ls -d */").stdout.split() == ["h1-eth0/", "lo/"]
    assert "s1-eth2" in net.run("ls /sys/class/net").stdout
    assert "s1-eth2" in net["s1"].run("ip -br link").stdout
    h1.sysctl("net.ipv4.tcp_congestion_control", "reno")
    assert h1.sysctl("net.ipv4.tcp_congestion_control") == "reno"
    assert h2.sysctl("net.ipv4.tcp_congestion_control") == "cubic"
    with pytest.raises(CommandFailed, match=r"sysctl.*porridge"):
        h1.sysctl("net.ipv4.porridge")
    with pytest.raises(CommandFailed, match="Invalid argument"):
        h1.sysctl("net.ipv4.ip_forward", "a lot")


@pytest.mark.parametrize("kernel", KERNELS)
def test_routers_pass_packets_on(kernel: str, make_network: MakeNetwork) -> None:
    net = make_network(kernel=kernel)
    h1 = net.host("h1", "10.1.0.2/24", gateway="10.1.0.1")
    h2 = net.host("h2", "10.2.0.2/24", routes={"10.1.0.0/16": "10.2.0.1"})
    r1 = net.router("r1", routes={"10.2.0.0/24": "10.3.0.2"})
    r2 = net.router("r2", gateway="10.3.0.1")
    net.link(h1, r1, addresses=(None, "10.1.0.1/24"), delay="5ms")
    net.link(r1, r2, addresses=("10.3.0.1/24", "10.3.0.2/24"))
    net.link(r2, h2, addresses=("10.2.0.1/24", None))
    shown = h1.run("ping -c 2 h2", check=True).stdout
    assert "ttl=62" in shown
    assert "time=10.0 ms" in shown
    assert h2.run("ping -c 1 h1").returncode == 0
    r1.run("ip route del 10.2.0.0/24", check=True)
    assert h1.run("ping -c 1 -W 1 10.2.0.2").returncode == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_hosts_have_timings(kernel: str, make_network: MakeNetwork, tmp_path: Path) -> None:
    net = make_network(kernel=kernel, seed=1, testbed={"timer_latency": "100us"})
    h1 = net.host("h1", timer_latency="51.2us")
    h2 = net.host("h2", profile="vm-2020", cpu={"copy": "50ps/B"}, timer_latency=0)
    net.link(h1, net.switch("s1"), delay="1ms")
    net.link(net["s1"], h2)
    # h1 delays what it sends, s1 what comes back; wake-ups and system calls of h2 are free.
    rtt_s = h1.ping(h2, count=3)["min_s"]
    assert rtt_s == pytest.approx(2e-3 + 51.2e-6 + 100e-6, abs=3e-6)
    assert h2.sysctl("net.host_cpu.copy_ps") == "50"
    assert h2.sysctl("net.host_cpu.timer_latency_ns") == "0"
    net.save(tmp_path / "study.yaml")
    with longfat.Network.open(tmp_path / "study.yaml") as again:
        assert again.model == net.model
    for wrong in ({"timer_latency": "50"}, {"cpu": {"copies": 1}}, {"profile": "none"}):
        with pytest.raises(InputError):
            net.host("h3", **wrong)
    with pytest.raises(InputError, match="has no 'latency'"):
        net.host("h3", latency="50us")


def test_a_network_grows_while_it_lives(net: Network) -> None:
    h1 = host(net, "h1")
    assert h1.run("ping -c 1 -W 1 h2").returncode == 0
    serving = host(net, "h2").spawn("python3 -m http.server 80")
    s2 = net.switch("s2")
    h3 = net.host("h3", "10.9.9.9/8")
    net.link("s1", s2)
    net.link(s2, h3, delay="20ms")
    assert h3.run("ping -c 2 h1", check=True).stdout.count("time=40.0 ms") == 1
    fetch = "import urllib.request as u; print(u.urlopen('http://h2/').status)"
    assert h3.run(["python3", "-c", fetch], check=True).stdout == "200\n"
    assert serving.returncode is None
    assert [one.name for one in net.hosts] == ["h1", "h2", "h3"]


def test_addresses_and_routes_are_assigned_automatically(make_network: MakeNetwork) -> None:
    net = make_network()
    hosts = [net.host("a", "10.0.0.2/8"), net.host("b"), net.host("c")]
    with pytest.raises(InputError, match="b has no address: link it first"):
        net.address_of("b")
    s1 = net.switch("s1")
    for each in hosts:
        net.link(each, s1)
    assert [net.address_of(name) for name in "abc"] == ["10.0.0.2", "10.0.0.3", "10.0.0.4"]
    assert hosts[0].ping("c", count=1)["received"] == 1
    # What is added to a network that was built is routed, too, and addresses stay.
    r1, r2 = net.router("r1"), net.router("r2")
    for a, b in ((s1, r1), (r1, r2), (r2, net.host("d"))):
        net.link(a, b)
    d = host(net, "d")
    assert [net.address_of(name) for name in "abcd"] == [
        *("10.0.0.2", "10.0.0.3", "10.0.0.4"),
        "172.16.3.1",
    ]
    for name in "abc":
        assert d.ping(name, count=1)["received"] == 1
    lost = hosts[0].run("ping -c 1 -W 1 192.0.2.1").stdout
    assert "Destination Net Unreachable" in lost


def test_addresses_are_of_the_family_that_was_asked_for(make_network: MakeNetwork) -> None:
    net = make_network(addresses="ipv6")
    a = net.host("a")
    net.link(a, net.host("b"))
    assert net.address_of("b") == "fd00::2"
    assert a.ping("b", count=1)["received"] == 1
    bare = make_network(addresses="none")
    bare.link(bare.host("a"), bare.host("b"))
    with pytest.raises(InputError, match="a has no address"):
        bare.address_of("a")
    with pytest.raises(InputError, match="'ipv5'"):
        make_network(addresses="ipv5")


def test_files_go_in_and_out(net: Network, tmp_path: Path) -> None:
    h1 = host(net, "h1")
    data = bytes(range(256)) * 4096
    h1.write_file("/tmp/data", data)
    assert net.read_file("/tmp/data") == data
    h1.write_file("/tmp/script", "#!/bin/sh\necho from a script\n", mode=0o755)
    assert h1.run("/tmp/script").stdout == "from a script\n"
    h1.run("echo made inside > /etc/made", check=True)
    assert h1.read_file("/etc/made") == b"made inside\n"
    assert not Path("/etc/made").exists()
    with pytest.raises(InputError, match=r"/nowhere/x: No such file"):
        h1.read_file("/nowhere/x")
    with pytest.raises(InputError, match=r"/proc/version: "):
        h1.write_file("/proc/version", "mine")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_hosts_can_be_written_to(tmp_path: Path, make_network: MakeNetwork) -> None:
    net = make_network(folders={"/mnt/read": tmp_path}, writable_folders={"/tmp/out": tmp_path})
    net.run("echo kept > /tmp/out/file", check=True)
    assert (tmp_path / "file").read_text() == "kept\n"
    assert net.run("cat /mnt/read/file").stdout == "kept\n"
    assert net.run("touch /mnt/read/new").returncode != 0
    with pytest.raises(InputError, match="there is no folder /usr/none to show it at"):
        make_network(folders={"/usr/none": tmp_path})
    with pytest.raises(InputError, match="there is no folder"):
        make_network(folders={"/tmp/out": tmp_path / "file"})
    with pytest.raises(InputError, match="cannot both be shown at /tmp/out"):
        make_network(folders={"/tmp/out": tmp_path}, writable_folders={"/tmp/out": tmp_path})


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (lambda net: net.host("h1"), "the name 'h1' is taken"),
        (lambda net: net.switch("h1"), "the name 'h1' is taken"),
        (lambda net: net.host("a host"), "'a host' cannot be a node's name"),
        (lambda net: net.host("root"), "no node can be called 'root'"),
        (
            lambda net: net.router("much-too-long-for-a-node-of-a-network"),
            "cannot be a node's name",
        ),
        (lambda net: net.host("h9", "10.0.0.1"), "no prefix length"),
        (lambda net: net.host("h9", "10.0.0.300/8"), "not an address"),
        (lambda net: net.host("h9", gateway="h1"), "not the address of a router"),
        (lambda net: net.host("h9", routes={"everywhere": "10.0.0.9"}), "not a network"),
        (lambda net: net.link("h1", "s7"), r"no node 's7' \(there are: h1, h2, s1\)"),
        (lambda net: net.link("h1", "s1", rate="fast"), "'fast' is not a rate"),
        (lambda net: net.link("h1", "s1", delay="10 parsecs"), "not a time"),
        (lambda net: net.link("h1", "s1", delay=-1), "cannot be less than 0"),
        (lambda net: net.link("h1", "s1", loss=1.5), "150% is outside of what is allowed"),
        (lambda net: net.link("h1", "s1", loss="1"), "not a percentage"),
        (lambda net: net.link("h1", "s1", reverse={"speed": 1}), "a link has no 'speed'"),
        (lambda net: net.link("h1", "h2", mtu=20), "outside of what is allowed: 68 to 65535"),
        (lambda net: net.link("h1", "s1", addresses=("10.0.0.9", None)), "no prefix length"),
        (lambda net: net["h1"].ping("h9"), "no host 'h9'"),
        (lambda net: net["h1"].ping("h2", start=1), "starts when it is called"),
        (lambda net: net["h1"].ping("h2", cuont=1), "ping has no 'cuont'; did you mean 'count'"),
        (lambda net: net["h1"].start("iperf", "h2"), "there is no tool 'iperf'"),
        (lambda net: net.address_of("h9"), "no host 'h9'"),
        (lambda net: net.tc("s9-eth1", "qdisc show"), "no interface 's9-eth1'"),
        (lambda net: net.sleep(-1), "cannot be less than 0"),
        (lambda net: net["h9"], r"no node 'h9' \(there are: h1, h2, s1\)"),
        (lambda net: net.clock.pace(0), "a pace is between"),
    ],
)
def test_what_is_wrong_is_reported_at_once(
    add: Callable[[Network], object], words: str, net: Network
) -> None:
    with pytest.raises(InputError, match=words):
        add(net)
    assert host(net, "h1").run("ping -c 1 -W 1 h2").returncode == 0  # and nothing is broken


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (
            lambda net: [
                (net.host(name, "10.0.0.9/8"), net.link(name, "s1")) for name in ("h8", "h9")
            ],
            "the address 10.0.0.9 is that of h8 already",
        ),
        (lambda net: net.switch("s2") and (net.link("s1", "s2"), net.link("s1", "s2")), "loop"),
        (lambda net: net.link("h1", "h2", jitter="1ms"), "jitter"),
        (lambda net: net.link("h1", "h2", queue="1MB"), "queue"),
    ],
)
def test_what_does_not_make_a_network_is_reported_when_it_is_built(
    add: Callable[[Network], object], words: str, net: Network
) -> None:
    add(net)
    with pytest.raises(InputError, match=words):
        net.build()


def test_a_tc_line_is_run_where_its_interface_is(net: Network) -> None:
    net.tc("s1-eth2", "qdisc add root netem delay 30ms")
    net.tc("h1-eth0", "qdisc add dev h1-eth0 root netem delay 5ms")
    assert "delay 30ms" in net.tc("s1-eth2", "qdisc show")
    assert host(net, "h1").ping("h2", count=3)["min_s"] == pytest.approx(0.035, rel=1e-3)
    with pytest.raises(CommandFailed, match="porridge"):
        net.tc("s1-eth2", "qdisc replace root porridge")


def test_the_record_is_a_script_of_all_that_was_done(net: Network) -> None:
    host(net, "h1").run("echo one; echo two")
    host(net, "h1").run(["echo", "a word"])
    net.sleep("1.5s")
    text = net.record.text
    assert text.startswith("#!/bin/sh\n")
    assert "ip link add s1-eth1 master s1 up type veth peer name h1-eth0 netns h1" in text
    assert "ip netns exec h1 sh -c 'echo one; echo two'" in text
    assert "ip netns exec h1 sh -c 'echo '\"'\"'a word'\"'\"''" in text or "'a word'" in text
    assert text.rstrip().endswith("sleep 1.5")


def test_a_network_is_saved_and_opened_again(tmp_path: Path, make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(seed=7), rate="50mbit", delay="10ms", reverse={"delay": "20ms"})
    r1 = net.router("r1")
    net.link("s1", r1, addresses=(None, "10.0.0.77/8"))
    host(net, "h1").sysctl("net.ipv4.tcp_rmem", "10240 87380 52428800")
    net.tc("s1-eth1", "qdisc add root netem delay 3ms")
    net.links[1].change(rate="20mbit")
    measured = host(net, "h1").iperf3("h2", time=2)["receiver_bps"]
    path = tmp_path / "saved.yaml"
    net.save(path, title="Saved")
    with Network.open(path) as again:
        assert again.case() == net.case()
        assert host(again, "h1").sysctl("net.ipv4.tcp_rmem") == "10240\t87380\t52428800"
        assert host(again, "h1").ping("h2", count=3)["min_s"] == pytest.approx(0.033, rel=5e-3)
        rate_bps = host(again, "h1").iperf3("h2", time=2)["receiver_bps"]
        assert rate_bps == pytest.approx(measured, rel=0.05)
        assert rate_bps == pytest.approx(19e6, rel=0.1)
    with pytest.raises(InputError, match="cannot be written"):
        net.save(tmp_path / "nowhere" / "saved.yaml")


def test_a_studys_network_is_opened_live(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(LINES)
    with Network.open(tmp_path, kernel="6.1") as net:  # to be worked in by hand: no set-up
        assert host(net, "h1").ping("h2", count=3)["min_s"] == pytest.approx(0.02, rel=1e-3)
        assert net.case().seed == 1
    with Network.open(tmp_path, case="quick", kernel="6.1") as net:
        assert host(net, "h1").ping("h2", count=3)["min_s"] == pytest.approx(0.025, rel=1e-3)
        assert host(net, "h1").sysctl("net.ipv4.tcp_congestion_control") == "cubic"
    with Network.open(path, case="slow", kernel="6.1") as net:
        assert net.case().seed == 5
        assert host(net, "h1").sysctl("net.ipv4.tcp_congestion_control") == "reno"
    with pytest.raises(InputError, match="no case 'fast'"):
        Network.open(path, case="fast")
    with pytest.raises(InputError, match="nowhere"):
        Network.open(tmp_path / "nowhere.yaml")


def test_a_set_up_line_of_the_file_that_fails_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(LINES.replace("netem delay 5ms", "porridge"))
    with pytest.raises(InputError, match="root: `tc qdisc replace dev s1-eth1 root porridge`"):
        Network.open(path, case="quick", kernel="6.1")


def test_after_the_end_nothing_can_be_done(net: Network) -> None:
    h1 = host(net, "h1")
    h1.run("true", check=True)
    net.close()
    net.close()
    with pytest.raises(MachineError, match="was closed"):
        h1.run("true")


def test_files_of_a_study_are_there_and_are_saved(tmp_path: Path) -> None:
    text = """\
files:
  /usr/local/bin/hello: {from: hello, executable: yes}
  /opt/new/bytes: {base64: /wA=}
setup:
  - [root, h1]: test "$(hello)" = hello
"""
    (tmp_path / "hello").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "study.yaml").write_text(LINES.partition("setup:")[0] + text)
    with Network.open(tmp_path) as net:
        assert net.read_file("/opt/new/bytes") == b"\xff\0"
        assert net["h2"].run("hello").stdout == "hello\n"
        net.save(tmp_path / "saved.yaml")
        case = net.case()
    assert [file.path for file in case.files] == ["/opt/new/bytes", "/usr/local/bin/hello"]
    (tmp_path / "hello").unlink()
    assert read_study(tmp_path / "saved.yaml").cases["default"].case.files == case.files
    (tmp_path / "study.yaml").write_text(
        LINES.partition("setup:")[0] + "files: {/no-such/x: {text: x}}"
    )
    with pytest.raises(InputError, match="files: /no-such/x: its top folder is not there"):
        Network.open(tmp_path)


def test_a_partition_cuts_groups_off_until_it_is_healed(net: Network) -> None:
    h1, h2 = host(net, "h1"), host(net, "h2")
    quiet = "ping -c 1 -W 1 10.0.0.2"
    net.partition([h1, "s1"], [h2])
    assert h1.run(quiet).returncode == 1
    assert h2.run("ping -c 1 -W 1 10.0.0.1").returncode == 2  # its interface is down
    with pytest.raises(InputError, match="there is a partition already"):
        net.partition(["h1"], ["h2", "s1"])
    net.heal()
    assert h1.run(quiet).returncode == 0
    with pytest.raises(InputError, match="there is no partition"):
        net.heal()
    with pytest.raises(InputError, match="two groups"):
        net.partition(["h1"])
    with pytest.raises(InputError, match="s1 is linked with nodes of several groups"):
        net.partition(["h1"], ["h2"])


def test_a_paused_host_does_nothing_and_its_kernel_continues(net: Network) -> None:
    h1, h2 = host(net, "h1"), host(net, "h2")
    counting = h1.spawn("(while sleep 1; do echo x; done) & wait")
    other = h2.spawn("while sleep 1; do echo x; done")
    net.sleep(3.5)
    h1.pause()
    net.sleep(60)
    assert (counting.stdout, other.stdout) == ("x\n" * 3, "x\n" * 63)
    assert h2.run("ping -c 1 -W 1 h1").returncode == 0
    h1.resume()
    net.sleep(2.5)
    assert len(counting.stdout.splitlines()) in {5, 6}


def test_a_killed_host_is_started_again(net: Network) -> None:
    h1, h2 = host(net, "h1"), host(net, "h2")
    done = h1.spawn("echo done")
    serving = h1.spawn(
        ["sh", "-c", "echo $A in $PWD; sleep 1000 & wait"], env={"A": "b"}, cwd="/usr"
    )
    other = h2.spawn("sleep 1000")
    net.sleep(1)
    h1.kill()
    assert (serving.returncode, done.returncode, other.returncode) == (-9, 0, None)
    assert h1.run("ss -p; pgrep -x sleep | wc -l").stdout.splitlines()[-1] == "1"  # that of h2
    net.sleep(5)
    (again,) = h1.restart()
    net.sleep(1)
    assert (again.stdout, again.returncode) == ("b in /usr\n", None)
    (once_more,) = h1.restart()
    assert (again.returncode, once_more.returncode, other.returncode) == (-9, None, None)


def test_a_section_of_a_study_is_added(net: Network) -> None:
    net.add({"hosts": {"h3": "10.0.0.3/8"}, "switches": ["s2"], "links": [["h3", "s2"]]})
    net.link("s1", "s2", delay="5ms")
    assert host(net, "h1").ping("h3", count=2)["min_s"] == pytest.approx(0.01, rel=0.01)
    for section, field, words in (
        ({"hosts": {"h4": "10.0.0"}}, "network.hosts.h4", "10.0.0"),
        ({"hosts": {"h4": None}, "links": [["h4", "h9"]]}, "network.links[0][1]", "h9"),
        ({"hosts": {"h1": "10.0.0.9/8"}}, None, "taken"),
        ({"hosts": {"h4": "10.0.0.9/8"}, "frames": True}, None, "whole network"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            net.add(section)
        assert (caught.value.place and caught.value.place.field) == field


def test_commands_import_the_packages_that_are_named(make_network: MakeNetwork) -> None:
    net = make_network(packages=["pysyncobj"])
    found = net.run("/usr/bin/python3 -c 'import pysyncobj; print(pysyncobj.__file__)'", check=True)
    assert found.stdout == "/opt/python/pysyncobj/__init__.py\n"
    for name, words in (
        ("porridge", "no Python package"),
        ("os.path", "no Python"),
        ("abc", "module"),
    ):
        with pytest.raises(InputError, match=words):
            make_network(packages=[name])


def test_hosts_find_loopback_cgroups_and_an_environment(net: Network) -> None:
    h1 = net["h1"]
    assert "UP,LOWER_UP" in h1.run("ip link show lo").stdout
    assert "UP,LOWER_UP" in net.run("ip link show lo").stdout
    assert h1.run("cat /sys/fs/cgroup/cpu/cpu.cfs_period_us").stdout == "100000\n"
    assert (
        h1.run("ls -d /sys/class/net/h1-eth0 /sys/class/net/s1").stdout
        == "/sys/class/net/h1-eth0\n"
    )
    assert h1.run("ls /sys/kernel/debug/tracing/events/tcp/tcp_probe").returncode == 0
    assert h1.run("echo $SHELL $USER").stdout == "/longfat/bin/bash root\n"
