from __future__ import annotations

import json

import pytest

from longfat.errors import InputError
from longfat_packetdrill.options import Settings
from longfat_packetdrill.packets import Packet
from longfat_packetdrill.parser import parse_script
from longfat_packetdrill.script import Call, Code, Command, Script
from tests.paths import TESTS

WORDS = TESTS / "data" / "packetdrill" / "words.pkt"
SOCKET = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"


def read(text: str) -> Script:
    return parse_script(text, file="x.pkt", settings=Settings())


@pytest.fixture(scope="module")
def words() -> Script:
    return read(WORDS.read_text())


def packets(script: Script) -> list[str]:
    return [event.action.text() for event in script.events if isinstance(event.action, Packet)]


def calls(script: Script) -> dict[str, Call]:
    return {
        event.action.name: event.action for event in script.events if isinstance(event.action, Call)
    }


def test_options_of_a_script_are_its_settings(words: Script) -> None:
    assert words.settings.ip_version == "ipv6"
    assert words.settings.tolerance_usecs == 10000
    assert words.settings.defines == {"COOKIE": "3021b9d889017eeb", "CC": '"reno"'}


def test_the_shell_gets_its_own_backslashes(words: Script) -> None:
    (before,) = words.before
    assert isinstance(before.action, Command)
    lines = ("sysctl -q net.ipv4.tcp_timestamps=1", ' echo "a `b`" \\', "   c")
    assert before.action.line == "\n".join(lines)
    assert before.place.line == 7
    assert words.after is not None
    assert words.after.action == Command(line="true")


def test_packets_print_as_they_are_written(words: Script) -> None:
    assert packets(words) == [
        "> [flowlabel 0x1] S 0:0(0) <mss 1440,sackOK,TS val 100 ecr 0,nop,wscale 8,FO,nop,nop>",
        "< S. 0:0(0) ack 1 win 5792 <mss 1440,nop,wscale 6,sackOK,TS val 700 ecr 100,"
        "FO 3021b9d889017eeb,nop,nop>",
        "> [ect01] . 1:1(0) ack 1 <...>",
        "> [noecn, ttl 64] P.5 1:11(10) ack 1 win 100 urg 3 <nop,nop,sack 1:2 5:9,ECN e0b 1 ceb 0>",
        "> [tos 0x10] FPE. 11:12(1) ack 1 <eol,eol,eol,eol>",
        "> - 12:12(0)",
        "> R 12:12(0)",
        "< 4000 > 8080 SEWA 0:0(0) win 10 <md5 000102030405060708090a0b0c0d0e0f,FOEXP abcd,"
        "eol,eol,eol,eol>",
        "< udp (100)",
        "> udp 1 > 2 (0)",
        "< icmp packet_too_big mtu 1280 [1:1001(1000)]",
        "< icmp unreachable port_unreachable [udp (100)]",
        "> icmp echo_request id 7",
    ]


def test_a_packet_that_was_printed_reads_the_same(words: Script) -> None:
    texts = packets(words)
    again = parse_script(
        SOCKET + "".join(f"+0 {text}\n" for text in texts), file="x", settings=words.settings
    )
    assert packets(again) == texts


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("unreachable code_0 [1:2(1)]", "unreachable net_unreachable [1:2(1)]"),
        ("unreachable code_99 [1:2(1)]", "unreachable code_99 [1:2(1)]"),
        ("time_exceeded code_1 [1:2(1)]", "time_exceeded code_1 [1:2(1)]"),
        ("redirect code_7 [1:2(1)]", "redirect code_7 [1:2(1)]"),
        ("type_3 code_0 [1:2(1)]", "unreachable net_unreachable [1:2(1)]"),
        ("type_42", "type_42"),
        ("type_255 code_255", "type_255 code_255"),
    ],
)
def test_types_and_codes_of_icmp_may_be_numbers(message: str, text: str) -> None:
    assert packets(read(f"{SOCKET}+0 < icmp {message}\n")) == [f"< icmp {text}"]


def test_arguments_are_plain_values(words: Script) -> None:
    found = calls(words)
    assert found["setsockopt"].arguments == (3, 1, 13, {"onoff": 1, "linger": 0}, 8)
    assert found["getsockopt"].arguments[3] == {"bytes": b"reno".hex()}
    assert (found["connect"].result, found["connect"].errno) == (-1, 115)
    assert found["poll"].arguments == ([{"fd": 3, "events": 5, "revents": 1}], 1, -1)
    assert found["poll"].end_ns == 500_000_000
    assert found["readv"].arguments[1] == [{"": [None, 100]}, {"": [None, 16]}]
    control = found["recvmsg"].arguments[1]["msg_control"]
    assert [item["cmsg_level"] for item in control] == [41, 1, 1]
    assert control[2]["cmsg_data"] == {"TCP_NLA_BUSY": 100, "TCP_NLA_CA_STATE": 0}


def test_times_are_exact(words: Script) -> None:
    text = "0 < . 0:0(0)\n0.1 < . 0:0(0)\n+.000000001 < . 0:0(0)\n0.3~0.4 > . 0:0(0)\n"
    moments = [event.moment for event in read(text).events]
    assert [moment.start_ns for moment in moments] == [0, 10**8, 1, 3 * 10**8]
    assert moments[3].end_ns == 4 * 10**8
    assert [moment.text() for moment in moments[1:]] == [
        "0.100000",
        "+0.000000001",
        "0.300000~0.400000",
    ]
    kinds = {event.moment.kind for event in words.events}
    assert kinds == {"at", "after", "any"}


def test_text_has_bytes_by_their_numbers() -> None:
    call = calls(
        read(f'{SOCKET}+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN_KEY, "\\xa1\\n" "b", 3) = 0')
    )
    assert call["setsockopt"].arguments[3] == {"bytes": "a10a62"}


def test_numbers_may_begin_with_zeros() -> None:
    call = calls(read(f"{SOCKET}+0 listen(03, 0x0a) = 00"))["listen"]
    assert (call.arguments, call.result) == ((3, 10), 0)


def test_the_plan_is_json(words: Script) -> None:
    plan = json.loads(json.dumps(words.plan()))
    assert plan["settings"]["remote_network"] == "2001:db8::/32"
    assert [event["kind"] for event in plan["events"]].count("packet") == 13
    assert isinstance(words.events[-1].action, Code)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.pkt:1:1: there is no event in this script"),
        ("1 socket(..., 1, 6) = 3", "x.pkt:1:1: the first event is at time 0"),
        (f"{SOCKET}+0 listn(3, 1) = 0", "x.pkt:2:4: there is no system call listn(); did you"),
        (f"{SOCKET}+0 listen(3) = 0", "x.pkt:2:4: listen() takes 2 arguments, found 1"),
        (f"{SOCKET}+0 listen(3, ...) = 0", "x.pkt:2:14: found ..., expected a number or a"),
        (f"{SOCKET}+0 listen(3, 1) = ...", "x.pkt:2:19: a system call returns a number"),
        (f"{SOCKET}+0 listen(3, 1)", "x.pkt:2:16: the script ends, expected '='"),
        (f"{SOCKET}+0 listen(3, NO) = 0", "x.pkt:2:14: NO is no constant that is known; --define"),
        (f"{SOCKET}+0 < S 0:0(1)", "x.pkt:2:8: 0 and 1 bytes end at 1, not 0"),
        (f"{SOCKET}+0 < Q 0:0(0)", "x.pkt:2:6: 'Q' is no TCP flag"),
        (f"{SOCKET}+0 < S 0:0(0) <sakOK,nop,nop>", "x.pkt:2:16: sakOK is no TCP option; did you"),
        (f"{SOCKET}+0 < S 0:0(0) <mss 1,nop>", "x.pkt:2:15: these options have 5 bytes"),
        (f"{SOCKET}+0 < S 0:0(0) <...>", "x.pkt:2:15: <...> is for packets that the kernel sends"),
        (f"{SOCKET}+0 < S 0:0(0) win 70000", "x.pkt:2:19: a window is 70000, expected 0 to 65535"),
        (f"{SOCKET}+0 < [ect2] S 0:0(0)", "x.pkt:2:7: found 'ect2'; did you mean"),
        (f"{SOCKET}+0 < icmp packet_too_big", "x.pkt:2:11: ICMP for IPv4 has no type"),
        (f"{SOCKET}+0 < icmp type_256", "x.pkt:2:11: ICMP for IPv4 has no type type_256"),
        (f"{SOCKET}+0 < icmp unreachable code_256", "x.pkt:2:23: unreachable has no code code_256"),
        (f"{SOCKET}+0 > gre: . 1:1(0)", "x.pkt:2:6: gre headers (tunnels, MPLS, PSP) are not"),
        (f"{SOCKET}* < S 0:0(0)", "x.pkt:2:1: * and ranges of time are for packets that the"),
        (f"{SOCKET}+1~+0.5 > S 0:0(0)", "x.pkt:2:1: this range of time ends before it begins"),
        ("0 < S 0:0(0)\n2 < S 0:0(0)\n1 < S 0:0(0)", "x.pkt:3:1: time goes back, from 2.000000"),
        (f"{SOCKET}+0 `true", "x.pkt:2:4: this command has no end"),
        (f"{SOCKET}+0 %{{ 1", "x.pkt:2:4: this Python code has no end"),
        (f"{SOCKET}/* no end", "x.pkt:2:1: this comment has no end"),
        (f"{SOCKET}`true`\n+0 `true`", "x.pkt:3:1: found '+0', expected the end"),
        (f"--mtuu=4\n{SOCKET}", "x.pkt:1:1: there is no option --mtuu; did you mean 'mtu'?"),
        (f"--mtu=4\n{SOCKET}", "x.pkt:1:1: --mtu: found '4', expected a number of 68 to 65521"),
        (f"--wire_client\n{SOCKET}", "x.pkt:1:1: --wire_client: tests over a real network are not"),
    ],
)
def test_a_mistake_has_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_addresses_that_do_not_go_together() -> None:
    script = parse_script(f"--remote_ip=2001:db8::1\n{SOCKET}", file="x.pkt", settings=Settings())
    with pytest.raises(InputError, match="remote_ip: 2001:db8::1 is no IPv4 address"):
        script.plan()
