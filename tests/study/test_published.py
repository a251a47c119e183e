"""Each kind of error in published figures, and their explanations."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.model.spread import Spread, spread_of
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
        "{source: A, default: {ping.avg: [1ms]}}",
        "9:44: published.default.ping.avg",
        "found 1 runs, expected 2 to 10000: write a single figure without []",
    ),
    (
        "{source: A, default: {ping.avg: [1ms, 2mbit]}}",
        "9:50: published.default.ping.avg[1]",
        "'2mbit' is not a time: write a number with s, ms, us, ns or min, such as 20ms",
    ),
    (
        "{source: A, default: {ping.avg: {value: 1ms, high: 2ms}}}",
        "9:44: published.default.ping.avg",
        "the spread of this figure has no low: write a figure, a list of the source's runs, or {",
    ),
    (
        "{source: A, default: {ping.avg: {value: 3ms, low: 1ms, high: 2ms}}}",
        "9:44: published.default.ping.avg",
        "low, value and high are not in ascending order",
    ),
    (
        "{source: A, default: {ping.avg: {value: 1ms, low: 1ms, high: 2ms, runs: 1}}}",
        "9:84: published.default.ping.avg.runs",
        "1 is outside of what is allowed: 2 to 10000",
    ),
    (
        "{source: A, default: {ping.avg: {mean: 1ms}}}",
        "9:45: published.default.ping.avg.mean",
        "unknown field 'mean' (there are: value, low, high, runs)",
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


def test_the_spread_of_the_source(tmp_path: Path) -> None:
    text = """\
published:
  source: Several runs
  default:
    ping.avg: 5ms
    ping.min: [4ms, 1ms, 2ms]
    ping.max: {value: 8ms, low: 7ms, high: 9ms}
    bulk.sender: {value: 2mbit, low: 1mbit, high: 3mbit, runs: 20}
"""
    published = read(BASE + text, tmp_path).published
    assert published is not None
    assert {f.metric: (f.value, f.spread) for f in published.figures} == {
        "ping.avg_s": (0.005, None),
        "ping.min_s": (0.002, spread_of([0.001, 0.002, 0.004])),
        "ping.max_s": (0.008, Spread(median=0.008, low=0.007, high=0.009, count=0)),
        "bulk.sender_bps": (2e6, Spread(median=2e6, low=1e6, high=3e6, count=20)),
    }
