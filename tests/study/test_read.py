"""Each kind of error in a study file: its message, line, column and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import ExitCode, InputError
from longfat.study import Study, read_study

BASE = """\
title: A study
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
flows:
  ping: {ping: h1 -> h2}
  bulk: {iperf3: h1 -> h2}
"""
"""Eight lines: what a test adds starts in line 9."""


def read(text: str, folder: Path) -> Study:
    file = folder / "study.yaml"
    file.write_text(text, encoding="utf-8")
    return read_study(file)


def error(text: str, folder: Path) -> tuple[str, str]:
    """Return the place as `line:column: field`, and the message."""
    with pytest.raises(InputError) as caught:
        read(text, folder)
    place = caught.value.place
    assert place is not None
    return str(place).removeprefix(f"{folder / 'study.yaml'}:"), caught.value.message


TOP = [
    ("", "1:1", "the file is empty: a study needs at least a title"),
    ("[a]", "1:1", "here stands a sequence, where a study (a mapping of fields) is needed"),
    ("kernel: '6.1'", "1:1", "the study has no title: write the field title"),
    ("title:\n", "1:1: title", "here stands nothing, where a title is needed"),
    ("title: ''", "1:8: title", "here stands an empty text, where a title is needed"),
    ("title: |\n  a\n  b\n", "1:8: title", "here stand several lines, where a title is needed"),
    ("title: x", "1:1", "there is no network: write the field network, with hosts and links"),
    (
        "titel: x",
        "1:1: titel",
        "unknown field 'titel'; did you mean 'title'? (there are: title, kernel, seed, seeds, "
        "memory, network, setup, flows, probes, cases, claims, published)",
    ),
]

YAML = [
    ("a: 1\nb: 2\na: 3\n", "3:1", "'a' is written twice here, first in line 1"),
    (
        "a: !!python/name:os.system x",
        "1:4",
        "tags, such as !!python/object, have no use in a study",
    ),
    ("a: *b", "1:4", "the alias *b stands for nothing: there is no &b"),
    ("a: &a [*a]", "1:8", "the alias *a stands inside of what it stands for"),
    ("a: 1\n---\nb: 1", "2:1", "a study file holds one document, and here a second starts"),
    (
        "a: b: c",
        "1:5",
        "not YAML: mapping values are not allowed here; a text that holds a colon and a space, "
        "such as a tc line with 'handle 1: netem', must stand in quotes",
    ),
    (
        "a: [b",
        "1:6",
        "not YAML: while parsing a flow sequence, expected ',' or ']', but got '<stream end>'",
    ),
    ("a: " + "[" * 16, "1:19", "nested more than 16 deep"),
    ('a: "\\0"', "1:4", "a text holds the control character U+0000"),
    ("a: b\nc: \x01", "2:4", "the file holds a character that YAML does not allow"),
    ('"\\U99999999"', "1:1", "the file is not YAML"),
    (f"%YAML {'9' * 5000}.1\n--- a", "1:1", "the file is not YAML"),
    ("{a: b}: c", "1:1", "a mapping cannot be a key; keys are names"),
    (
        "<<: {a: b}",
        "1:1",
        "merge keys (<<) are not used here; cases extend the common fields",
    ),
]


@pytest.mark.parametrize(("text", "place", "message"), TOP + YAML)
def test_the_document(text: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(text, tmp_path) == (place, message)


NETWORK = [
    ("{}", "2:10: network", "the network has no hosts: write hosts: {h1: 10.0.0.1/8}"),
    (
        "{hosts: [h1]}",
        "2:18: network.hosts",
        "here stands a sequence, where a mapping of hosts to addresses (such as {h1: 10.0.0.1/8}) "
        "is needed",
    ),
    (
        "{hosts: {h1: 10.0.0.1}}",
        "2:23: network.hosts.h1",
        "'10.0.0.1' has no prefix length: write it as 10.0.0.1/8 or the like",
    ),
    (
        "{hosts: {h1: 10.0.0.256/8}}",
        "2:23: network.hosts.h1",
        "'10.0.0.256/8' is not an address: '10.0.0.256/8' does not appear to be an IPv4 or IPv6 "
        "interface",
    ),
    (
        "{hosts: {h1: 127.0.0.1/8}}",
        "2:23: network.hosts.h1",
        "'127.0.0.1/8' cannot be a host's own address",
    ),
    (
        "{hosts: {h1: 10.0.0.0/8}}",
        "2:23: network.hosts.h1",
        "'10.0.0.0/8' is the address of the network itself, not of a host",
    ),
    (
        "{hosts: {h1: 10.255.255.255/8}}",
        "2:23: network.hosts.h1",
        "'10.255.255.255/8' is the network's broadcast address, not a host's",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8, h2: 10.0.0.1/24}}",
        "2:39: network.hosts.h2",
        "the address 10.0.0.1 is that of h1 already",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8, h1: 10.0.0.2/8}}",
        "2:35",
        "'h1' is written twice here, first in line 2",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, switches: [h1]}",
        "2:47: network.switches[0]",
        "the name 'h1' is taken already, in line 2",
    ),
    (
        "{hosts: {root: 10.0.0.1/8}}",
        "2:19: network.hosts.root",
        "no node can be called 'root': it is the shell where the switches' interfaces are visible",
    ),
    (
        "{hosts: {h234567890: 10.0.0.1/8}}",
        "2:19: network.hosts.h234567890",
        "'h234567890' cannot be a node's name: write a letter, then up to 8 letters, digits, - or "
        "_ (interfaces are named after it, in at most 15 characters)",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, links: [[h1, s1]]}",
        "2:49: network.links[0][1]",
        "there is no node 's1' (there are: h1)",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, links: [[h1, h1]]}",
        "2:44: network.links[0]",
        "the link leads from h1 to itself",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, links: [[h1]]}",
        "2:44: network.links[0]",
        "a link has two ends, and here are 1: write [NODE, NODE]",
    ),
    (
        "{hosts: {s1-eth1: 10.0.0.1/8}, switches: [s1], links: [[s1, s1-eth1]]}",
        "2:28: network.hosts.s1-eth1",
        "the node 's1-eth1' has the name of an interface of a link",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, switches: [a, b, c], links: [[a, b], [b, c], [c, a]]}",
        "2:81: network.links[2]",
        "the link closes a loop of switches: c and a are connected already, and a frame would "
        "circle for ever",
    ),
    (
        "{hosts: {h2345678: 10.0.0.1/8}, hots: 1}",
        "2:42: network.hots",
        "unknown field 'hots'; did you mean 'hosts'? (there are: hosts, switches, links)",
    ),
]


@pytest.mark.parametrize(("value", "place", "message"), NETWORK)
def test_the_network(value: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"title: x\nnetwork: {value}\n", tmp_path) == (place, message)


def test_an_interface_with_too_long_a_name(tmp_path: Path) -> None:
    hosts = ", ".join(f"h{i}: 10.0.0.{i + 1}/8" for i in range(100))
    links = ", ".join(f"[h{i}, s23456789]" for i in range(100))
    text = f"title: x\nnetwork:\n hosts: {{{hosts}}}\n switches: [s23456789]\n links: [{links}]\n"
    place, message = error(text, tmp_path)
    assert place.endswith("network.links[99]")
    assert message == (
        "the interface s23456789-eth100 has more than 15 characters: "
        "give its node a shorter name or fewer links"
    )


SETTINGS = [
    (
        "kernel: '6'",
        "9:9: kernel",
        'here stands \'6\', where a kernel version (such as "6.1" or "6.12.3") is needed',
    ),
    ("seed: -1", "9:7: seed", "-1 is outside of what is allowed: 0 to 9223372036854775807"),
    ("seed: 1.5", "9:7: seed", "here stands '1.5', where a whole number is needed"),
    ("seeds: 0", "9:8: seeds", "0 is outside of what is allowed: 1 to 1000"),
    ("seeds: 1001", "9:8: seeds", "1001 is outside of what is allowed: 1 to 1000"),
    ("seeds: [1, 2]", "9:8: seeds", "here stands a sequence, where a whole number is needed"),
    (
        "cases: {a: {seeds: many}}",
        "9:20: cases.a.seeds",
        "here stands 'many', where a whole number is needed",
    ),
    (
        "cases: {a: {seeds: 2, seed: 9223372036854775807}}",
        "9:12: cases.a",
        "2 seeds from 9223372036854775807 on pass the largest seed, 9223372036854775807",
    ),
    ("memory: 64MB", "9:9: memory", "'64MB' is outside of what is allowed: 128MB to 1TB"),
    (
        "unheard: {}",
        "9:1: unheard",
        "unknown field 'unheard' (there are: title, kernel, seed, seeds, memory, network, setup, "
        "flows, probes, cases, claims, published)",
    ),
    (
        "setup: {h1: ls}",
        "9:8: setup",
        "here stands a mapping, where a list of NODE: LINE (such as h1: sysctl -w "
        "net.ipv4.tcp_sack=0) is needed",
    ),
    (
        "setup: [{h1: ls, h2: ls}]",
        "9:9: setup[0]",
        "an entry is one NODE: LINE (such as h1: sysctl -w net.ipv4.tcp_sack=0), and here are 2: "
        "start each with a hyphen",
    ),
    (
        "setup: [{s1: ls}]",
        "9:10: setup[0].s1",
        "'s1' is a switch: switches live in the root namespace, so type it at root",
    ),
    (
        "setup: [{[h1, h4]: ls}]",
        "9:10: setup[0].[h1, h4]",
        "there is no host 'h4' (there are: root, h1, h2, h3)",
    ),
    (
        "setup: [{h1: [ls, ]}, {h2: }]",
        "9:24: setup[1].h2",
        "here stands nothing, where a line to type is needed",
    ),
    ("setup: [{h1: []}]", "9:14: setup[0].h1", "here stands no line"),
    ("cases: {}", "9:8: cases", "there are no cases: leave the field out to have one case"),
    (
        "cases: {a b: }",
        "9:9: cases.a b",
        "'a b' cannot be a name: write a letter, then up to 63 letters, digits, - or _",
    ),
    (
        "cases: {source: }",
        "9:9: cases.source",
        "no case can be called 'source': published has a field of that name",
    ),
    (
        "cases: {explained: }",
        "9:9: cases.explained",
        "no case can be called 'explained': published has a field of that name",
    ),
    (
        "cases: {a: {claims: []}}",
        "9:13: cases.a.claims",
        "unknown field 'claims' (there are: title, kernel, seed, seeds, memory, network, setup, "
        "flows, probes)",
    ),
    (
        "cases: {a: {flows: {rtt: }}}",
        "9:21: cases.a.flows.rtt",
        "the flow 'rtt' has no value, which leaves out a common flow, and there is none of that "
        "name",
    ),
    (
        "cases: {a: {flows: {ping: {time: 5}}}}",
        "9:28: cases.a.flows.ping.time",
        "unknown field 'time' (there are: count, interval, size, start, start_spread, after, args)",
    ),
    (
        "cases: {a: {flows: {rtt: {count: 5}}}}",
        "9:26: cases.a.flows.rtt",
        "the flow 'rtt' names no tool: write one of iperf3, ping",
    ),
    (
        "cases: {a: , b: {network: {hosts: {h1: 10.0.0.1/8}}}}",
        "7:22: flows.ping.ping",
        "in the case 'b': there is no host 'h2' (there are: h1)",
    ),
]


@pytest.mark.parametrize(("line", "place", "message"), SETTINGS)
def test_settings_and_cases(line: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}{line}\n", tmp_path) == (place, message)


FLOWS = [
    ("{count: 4}", "9:6: flows.x", "the flow 'x' names no tool: write one of iperf3, ping"),
    (
        "{ping: h1 -> h2, iperf3: h1 -> h2}",
        "9:23: flows.x.iperf3",
        "the flow has two tools, ping and iperf3: write two flows",
    ),
    (
        "",
        "9:3: flows.x",
        "the flow 'x' has no value, which leaves out a common flow, and there is none of that name",
    ),
    (
        "{ping: h1}",
        "9:13: flows.x.ping",
        "here stands 'h1', where SOURCE -> TARGET (such as h1 -> h2) is needed",
    ),
    ("{ping: h1 -> h1}", "9:13: flows.x.ping", "the flow goes from h1 to itself"),
    (
        "{ping: h1 -> h9}",
        "9:19: flows.x.ping",
        "there is no host 'h9' (there are: h1, h2, h3)",
    ),
    ("{ping: s1 -> h1}", "9:13: flows.x.ping", "'s1' is a switch, where a host is needed"),
    ("{ping: h1 -> h3}", "9:13: flows.x.ping", "the flow 'x' cannot pass: h3 has no link"),
    (
        "{ping: h1 -> h2, after: pin}",
        "9:30: flows.x.after",
        "there is no flow 'pin'; did you mean 'ping'? (there are: ping, bulk)",
    ),
    ("{ping: h1 -> h2, after: x}", "9:30: flows.x.after", "flows wait for each other: x after x"),
    (
        "{ping: h1 -> h2, coutn: 1}",
        "9:23: flows.x.coutn",
        "unknown field 'coutn'; did you mean 'count'? (there are: ping, count, interval, size, "
        "start, start_spread, after, args)",
    ),
    (
        "{ping: h1 -> h2, count: 0}",
        "9:30: flows.x.count",
        "0 is outside of what is allowed: 1 to 2147483647",
    ),
    (
        "{ping: h1 -> h2, interval: 0}",
        "9:33: flows.x.interval",
        "0s is outside of what is allowed: 0.001s to 2147483s",
    ),
    (
        "{ping: h1 -> h2, size: 64KB}",
        "9:29: flows.x.size",
        "65536 bytes is outside of what is allowed: 0 to 65507 bytes",
    ),
    (
        "{ping: h1 -> h2, start: soon}",
        "9:30: flows.x.start",
        "'soon' is not a time: write a number with s, ms, us, ns or min, such as 20ms",
    ),
    (
        "{iperf3: h1 -> h2, parallel: 129}",
        "9:35: flows.x.parallel",
        "129 is outside of what is allowed: 1 to 128",
    ),
    (
        "{iperf3: h1 -> h2, udp: true, congestion: bbr}",
        "9:48: flows.x.congestion",
        "congestion is TCP's, and this flow is UDP",
    ),
    (
        "{iperf3: h1 -> h2, time: 5, bytes: 1GB}",
        "9:41: flows.x.bytes",
        "time and bytes are both given, and iperf3 ends at one of them: leave one out (in a case, "
        "a common field is taken back by writing it without a value)",
    ),
    (
        "{iperf3: h1 -> h2, time: 1.5s}",
        "9:31: flows.x.time",
        "1.5s: iperf3 counts in whole seconds",
    ),
    (
        "{iperf3: h1 -> h2, time: 0}",
        "9:31: flows.x.time",
        "0s is outside of what is allowed: 1s to 86400s",
    ),
    (
        "{iperf3: h1 -> h2, omit: 61s}",
        "9:31: flows.x.omit",
        "61s is outside of what is allowed: 0s to 60s",
    ),
    (
        "{iperf3: h1 -> h2, mss: 80}",
        "9:30: flows.x.mss",
        "80 bytes is outside of what is allowed: 88 to 9216 bytes",
    ),
    (
        "{iperf3: h1 -> h2, rate: 100mbps}",
        "9:31: flows.x.rate",
        "'100mbps': tc reads mbps as bytes per second and most people as bits; write mbit for bits "
        "per second, or 8 times as much mbit for bytes",
    ),
    (
        "{iperf3: h1 -> h2, rate: 0}",
        "9:31: flows.x.rate",
        "the rate is 0, which iperf3 takes as unlimited: leave the field out",
    ),
    (
        "{iperf3: h1 -> h2, reverse: yes}",
        "9:34: flows.x.reverse",
        "here stands 'yes', where true or false is needed",
    ),
    (
        "{iperf3: h1 -> h2, congestion: -h}",
        "9:37: flows.x.congestion",
        "'-h' cannot be a congestion control: write a name such as bbr",
    ),
    (
        '{iperf3: h1 -> h2, args: ["-N", "-J"]}',
        "9:38: flows.x.args[1]",
        "-J cannot be given: longfat sets it itself",
    ),
    (
        '{iperf3: h1 -> h2, args: ["--jso"]}',
        "9:32: flows.x.args[0]",
        "--jso cannot be given: longfat sets it itself",
    ),
    (
        '{iperf3: h1 -> h2, args: ["--logfile=x"]}',
        "9:32: flows.x.args[0]",
        "--logfile cannot be given: it changes the output that longfat reads",
    ),
    (
        '{iperf3: h1 -> h2, args: ["-ZP", "8"]}',
        "9:32: flows.x.args[0]",
        "-P cannot be given: write it as the field 'parallel'",
    ),
    (
        '{ping: h1 -> h2, args: ["-D"]}',
        "9:30: flows.x.args[0]",
        "-D cannot be given: it changes the output that longfat reads",
    ),
    (
        '{ping: h1 -> h2, args: ["-t", "5", "h3"]}',
        "9:41: flows.x.args[2]",
        "'h3' is not an option; the target is written in the flow",
    ),
]


@pytest.mark.parametrize(("value", "place", "message"), FLOWS)
def test_flows(value: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}  x: {value}\n", tmp_path) == (place, message)


def test_flows_that_wait_in_a_circle(tmp_path: Path) -> None:
    more = "  a: {ping: h1 -> h2, after: c}\n  b: {ping: h1 -> h2, after: a}\n"
    more += "  c: {ping: h1 -> h2, after: b}\n"
    assert error(BASE + more, tmp_path) == (
        "9:30: flows.a.after",
        "flows wait for each other: a after c after b after a",
    )


def test_hosts_that_no_links_connect(tmp_path: Path) -> None:
    text = BASE.replace("[h2, s1]", "[h2, h3]")
    assert error(text, tmp_path) == (
        "7:16: flows.ping.ping",
        "the flow 'ping' cannot pass: no links lead from h1 to h2",
    )


def test_hosts_of_two_families(tmp_path: Path) -> None:
    text = BASE.replace("10.0.0.2/8", "fd00::2/64")
    assert error(text, tmp_path)[1] == (
        "the flow 'ping' cannot pass: h1 and h2 have addresses of different families"
    )


PUBLISHED = [
    (
        "{default: {}}",
        "9:12: published",
        "the published figures have no source: write the field source",
    ),
    (
        "{source: A, defalt: {}}",
        "9:24: published.defalt",
        "there is no case 'defalt'; did you mean 'default'? (there are: default)",
    ),
    (
        "{source: A, default: {ping.avrg: 1ms}}",
        "9:34: published.default.ping.avrg",
        "the case 'default' has no metric 'ping.avrg'; did you mean 'ping.avg'? (there are: ",
    ),
    (
        "{source: A, default: {ping.avg: 1mbit}}",
        "9:44: published.default.ping.avg",
        "'1mbit' is not a time: write a number with s, ms, us, ns or min, such as 20ms",
    ),
    (
        "{source: A, default: {ping.avg: 1ms, ping.avg_s: 2ms}}",
        "9:49: published.default.ping.avg_s",
        "the figure of ping.avg_s is written twice",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, explained: many}",
        "9:61: published.explained",
        "here stands 'many', where a mapping of CASE or CASE.FLOW.METRIC to an "
        "explanation is needed",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, explained: {defalt: x}}",
        "9:62: published.explained.defalt",
        "there is no case 'defalt'; did you mean 'default'? (there are: default)",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, explained: {default.ping.avrg: x}}",
        "9:62: published.explained.default.ping.avrg",
        "the case 'default' has no metric 'ping.avrg'; did you mean 'ping.avg'? (there are: ",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, explained: {default.ping: x}}",
        "9:62: published.explained.default.ping",
        "the case 'default' has no metric 'ping'; did you mean 'ping.m",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, explained: {default.ping.min: x}}",
        "9:62: published.explained.default.ping.min",
        "nothing is published of default.ping.min, so there is nothing to explain",
    ),
    (
        "{source: A, explained: {default: x}}",
        "9:36: published.explained.default",
        "nothing is published of default, so there is nothing to explain",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, explained: {default: }}",
        "9:62: published.explained.default",
        "here stands nothing, where an explanation is needed",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, "
        "explained: {default.ping.avg: x, default.ping.avg_s: y}}",
        "9:83: published.explained.default.ping.avg_s",
        "default.ping.avg_s is explained twice",
    ),
]


@pytest.mark.parametrize(("value", "place", "message"), PUBLISHED)
def test_published(value: str, place: str, message: str, tmp_path: Path) -> None:
    found = error(f"{BASE}published: {value}\n", tmp_path)
    assert found[0] == place
    assert found[1].startswith(message)


def test_explanations(tmp_path: Path) -> None:
    text = """\
cases: {one: , two: }
published:
  explained:
    two: so it is
    two.bulk.sender: |
      that machine's
      CPU
    one.ping.avg_s: ARP
  source: A
  one: {ping.avg: 1ms, ping.max: 2ms}
  two: {bulk.sender: 1gbit, ping.avg: 1ms}
"""
    published = read(BASE + text, tmp_path).published
    assert published is not None
    assert {(f.case, f.metric): f.explanation for f in published.figures} == {
        ("one", "ping.avg_s"): "ARP",
        ("one", "ping.max_s"): None,
        ("two", "bulk.sender_bps"): "that machine's CPU",
        ("two", "ping.avg_s"): "so it is",
    }


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path, tmp_path / ("x" * 300), Path("/dev/null")):
        with pytest.raises(InputError) as caught:
            read_study(path)
        assert caught.value.exit_code is ExitCode.BAD_INPUT
        assert str(path) in str(caught.value)


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes("title: é\nkernel: ".encode() + b"\xff\n")
    with pytest.raises(InputError) as caught:
        read_study(file)
    assert str(caught.value) == f"{file}:2:9: the file is not UTF-8: byte 0xff"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    assert error("#" * 300_000, tmp_path) == (
        "1:1",
        "the file is larger than 256 KB, too large for a study",
    )


def test_a_study_is_named_by_its_folder_or_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lab99"
    folder.mkdir()
    assert read(BASE, folder).name == "lab99"
    assert read_study(folder).name == "lab99"
    monkeypatch.chdir(folder)
    assert read_study(Path("study.yaml")).name == "lab99"
    (folder / "other.yaml").write_text(BASE)
    assert read_study(Path("other.yaml")).name == "other"
