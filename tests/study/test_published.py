"""Each kind of error in published figures, and their explanations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.messages import BASE, error, read

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
        "{source: A, year: soon}",
        "9:30: published.year",
        "found 'soon', expected a whole number",
    ),
    (
        "{source: A, address: example.org}",
        "9:33: published.address",
        "'example.org' is no address: write a URL that begins with https:// or http://",
    ),
    (
        "{source: A, default: {ping.avg: 1ms}, explained: many}",
        "9:61: published.explained",
        "found 'many', expected a mapping of CASE or CASE.FLOW.METRIC to an explanation",
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
        "found nothing, expected an explanation",
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


def test_what_tells_more_of_a_source(tmp_path: Path) -> None:
    text = """\
published:
  source: On ping
  authors: A. Author, B. Author
  year: 1983
  address: https://example.org/ping
  place: |
    Table 1
    and Figure 2
  default: {ping.avg: 1ms}
"""
    published = read(BASE + text, tmp_path).published
    assert published is not None
    assert published.citation == "A. Author, B. Author, On ping, 1983"
    assert published.address == "https://example.org/ping"
    assert published.place == "Table 1 and Figure 2"
