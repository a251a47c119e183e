from __future__ import annotations

import pytest

from longfat_packetdrill.packets import Icmp, Ip, Packet, Tcp, TcpOption


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        (2, "05b4", "mss 1460"),
        (2, "05", "option 2 of 1 bytes 05"),
        (3, "07", "wscale 7"),
        (4, "", "sackOK"),
        (5, "000003e9000007d1", "sack 1001:2001"),
        (5, "00", "option 5 of 1 bytes 00"),
        (8, "0000006400000001", "TS val 100 ecr 1"),
        (34, "", "FO"),
        (172, "000001000002", "ECN e0b 1 ceb 2"),
        (174, "000001", "ECN e1b 1"),
        (254, "f989aabb", "FOEXP aabb"),
        (254, "aabb", "option 254 of 2 bytes aabb"),
        (99, "00ff", "option 99 of 2 bytes 00ff"),
    ],
)
def test_options_in_words(kind: int, data: str, text: str) -> None:
    assert TcpOption(kind=kind, data=data).text() == text


def test_flags_in_words() -> None:
    def text(flags: int, *, counts_ce: bool = False) -> str:
        return Tcp(flags=flags, counts_ce=counts_ce, sequence=0, length=0).flags_text()

    assert [text(0), text(2), text(18), text(24), text(0xC2)] == ["-", "S", "S.", "P.", "SEW"]
    assert text(16 | 5 << 6, counts_ce=True) == ".5"


def test_a_segment_may_go_round_zero() -> None:
    segment = Tcp(flags=16, sequence=2**32 - 1, length=2)
    assert segment.text() == ". 4294967295:1(2) ack 0"


def test_codes_that_have_no_name() -> None:
    assert Icmp(version=4, kind=77, code=3).text() == "icmp type_77 code_3"


def test_a_packet_is_whole_with_one_body() -> None:
    segment = Tcp(flags=16, sequence=0, length=0)
    assert Packet(outbound=True, ip=Ip(), tcp=segment).is_whole
    assert not Packet(outbound=True, ip=Ip()).is_whole
    wrong = Tcp(flags=16, sequence=0, length=0, options=(TcpOption(kind=2, data="x"),))
    assert not Packet(outbound=True, ip=Ip(), tcp=wrong).is_whole
