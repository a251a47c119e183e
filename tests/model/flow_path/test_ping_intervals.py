"""Pings that are slower than written."""

from __future__ import annotations

import pytest

from longfat.study.check import check_text

STUDY = """\
title: Pings
network:
  hosts: {{h1: 10.0.0.1/8, h2: 10.0.0.2/8}}
  links: [[h1, h2, {{{link}}}]]
flows:
  p: {{ping: h1 -> h2, count: {count}, interval: {interval}}}
"""


@pytest.mark.parametrize(
    ("link", "interval", "found"),
    [
        ("", "20ms", "its requests come every 30 ms, not every 20 ms, with an idle RTT of 0 ms"),
        ("", "15ms", "its requests come every 30 ms, not every 15 ms"),
        ("", "5ms", None),  # ping turns without a wait
        ("", "1s", None),
        ("", "100ms", None),  # by a tenth
        ("", "50ms", "every 60 ms, not every 50 ms"),
        ("delay: 5ms", "20ms", None),
        ("delay: 10ms", "20ms", "its requests come every 20 to 30 ms, not every 20 ms, with an idle"
         " RTT of 20 ms: ping's timeouts end at ticks of 10 ms"),
        ("delay: 20ms", "5ms", "every 10 ms, not every 5 ms"),
        ("delay: 2ms", "1ms", "every 4 ms, not every 1 ms"),
        ("rate: 1mbit", "20ms", None),  # a request and its reply take 1.6 ms
    ],
)  # fmt: skip
def test_a_slow_ping_is_a_warning(link: str, interval: str, found: str | None) -> None:
    text = STUDY.format(link=link, interval=interval, count=3)
    messages = [str(one.error) for one in check_text(text, name="x.yaml").findings]
    assert [found is not None and found in message for message in messages] == (
        [True] if found else []
    )


def test_one_request_is_never_late() -> None:
    text = STUDY.format(link="", interval="20ms", count=1)
    assert not check_text(text, name="x.yaml").findings
