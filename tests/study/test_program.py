"""The fields of a flow of any program: what is read, what is refused, and what is written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.model.metric import Unit
from longfat.model.traffic import Program
from longfat.model.traffic.extraction import Extraction
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.study.messages import BASE, error, read

ALL = r"""
  most:
    program: h1 -> h2
    run: curl -o /dev/null "http://h2/#a"  'b'
    serve: python3 -m http.server 80
    port: 80
    ready: output ^Serving .* port
    limit: 20s
    status: [0, 28]
    environment: ["LANG=C", "A=b  c"]
    output_limit: 1MB
    reverse: yes
    after: ping
    metrics:
      load: {json: 'a."b.c"[0].d[*]', take: p95, unit: ms, title: load time}
      rate: {csv: 3, unit: 1000B}
      hits: {regex: '(?:a|b) ([0-9]+)', of: stderr, take: first}
  some: {program: h2 -> h1, run: "true", time: 2s}
"""


def test_all_fields(tmp_path: Path) -> None:
    study = read(BASE + ALL, tmp_path)
    *_, last, some = study.cases["default"].case.flows
    assert last == Program(
        name="most",
        source="h1",
        target="h2",
        run="curl -o /dev/null \"http://h2/#a\"  'b'",
        serve="python3 -m http.server 80",
        port=80,
        ready="output ^Serving .* port",
        limit_s=20.0,
        status=(0, 28),
        environment=("LANG=C", "A=b  c"),
        output_limit_bytes=1 << 20,
        reverse=True,
        after="ping",
        extractions=(
            Extraction(
                name="load", json='a."b.c"[0].d[*]', take="p95", unit="ms", title="load time"
            ),
            Extraction(name="rate", csv="3", unit="1000B"),
            Extraction(name="hits", regex="(?:a|b) ([0-9]+)", of="stderr", take="first"),
        ),
    )
    assert some == Program(name="some", source="h2", target="h1", run="true", time_s=2.0)
    assert [(metric.name, metric.unit) for metric in last.metrics] == [
        ("load_s", Unit.SECONDS),
        ("rate_bytes", Unit.BYTES),
        ("hits", Unit.COUNT),
        ("elapsed_s", Unit.SECONDS),
        ("status", Unit.COUNT),
    ]
    case = study.cases["default"].case
    assert type(case).from_json(case.to_json()) == case
    file = tmp_path / "again.yaml"
    file.write_text(study_text(title="Again", case=case), encoding="utf-8")
    assert read_study(file).cases["default"].case == case


def test_claims_know_dimensions(tmp_path: Path) -> None:
    metrics = "metrics: {load: {json: a, unit: ms}}"
    text = f"{BASE}  x: {{program: h1 -> h2, run: ls, {metrics}}}\nclaims:\n"
    claim = "  - quick: default.x.load < 2 * default.ping.avg and default.x.status == 0\n"
    assert len(read(text + claim, tmp_path).claims) == 1
    _, message = error(f"{text}  - quick: default.x.load < 3mbit\n", tmp_path)
    assert "a time" in message


def test_a_case_differs_in_a_field(tmp_path: Path) -> None:
    text = (
        f"{BASE}  x: {{program: h1 -> h2, run: ls}}\n"
        "cases:\n  a:\n  b: {flows: {x: {run: pwd, time: 1s}}}\n"
    )
    planned = read(text, tmp_path).cases
    assert planned["b"].case.flows[-1] == Program(
        name="x", source="h1", target="h2", run="pwd", time_s=1.0
    )
    places = [str(planned[name].places.flows[-1]).partition(": ")[0] for name in "ab"]
    assert places[0].endswith(":9:31")
    assert places[1].endswith(":12:24")


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        (
            "port: 80",
            "9:6: flows.x",
            "the flow 'x' has no run: write run: a line for a shell (such as curl http://h2:8000/)",
        ),
        (
            "run: ls, time: 1s, limit: 2s",
            "9:52: flows.x.limit",
            "time and limit are both given: after its time it is stopped anyway",
        ),
        (
            "run: ls, ready: tcp 80",
            "9:42: flows.x.ready",
            "there is no server to wait for: write serve, too",
        ),
        (
            "run: ls, serve: ls, ready: tcp x",
            "9:53: flows.x.ready",
            "'x' is no port: write 1 to 65535",
        ),
        (
            "run: ls, serve: ls, ready: soon",
            "9:53: flows.x.ready",
            "'soon' is no condition: write tcp PORT or udp PORT (it is bound), output PATTERN (a "
            "line that it prints matches) or file PATH (it is there)",
        ),
        (
            "run: ls, status: 256",
            "9:43: flows.x.status",
            "256 is outside of what is allowed: 0 to 255",
        ),
        (
            "run: ls, environment: [A]",
            "9:49: flows.x.environment[0]",
            "'A' sets no variable: write NAME=VALUE",
        ),
        (
            "run: ls, metrics: {a: {}}",
            "9:48: flows.x.metrics.a",
            "the metric 'a' has to have one of json, csv, regex",
        ),
        (
            "run: ls, metrics: {a: {json: b, csv: c}}",
            "9:63: flows.x.metrics.a.csv",
            "a metric has one of json, csv, regex, and not two",
        ),
        (
            "run: ls, metrics: {a: {json: b..c}}",
            "9:55: flows.x.metrics.a.json",
            "'b..c' is no path into JSON: write keys and places, such as end.streams[0].rtt, with "
            '[*] for every entry of a list, and "a.b" for a key that has such characters',
        ),
        (
            "run: ls, metrics: {a: {regex: '(a)(b)'}}",
            "9:56: flows.x.metrics.a.regex",
            "'(a)(b)' has 2 groups: write one, (...), around the number, and (?:...) for others",
        ),
        (
            "run: ls, metrics: {a: {regex: '(a'}}",
            "9:56: flows.x.metrics.a.regex",
            "'(a' is no regular expression of Python: missing ), unterminated subpattern at "
            "position 0",
        ),
        (
            "run: ls, metrics: {a: {json: b, unit: mile}}",
            "9:64: flows.x.metrics.a.unit",
            "'mile' is no unit: write s, ms, us, ns, min, bit to tbit, B, KB, MB, GB or %, or an "
            "amount of one, such as 1000B",
        ),
        (
            "run: ls, metrics: {a: {json: b, take: best}}",
            "9:64: flows.x.metrics.a.take",
            "'best' is none of first, last, min, max, mean, sum, count, median, or a percentile "
            "such as p95",
        ),
        (
            "run: ls, metrics: {elapsed: {json: b}}",
            "9:54: flows.x.metrics.elapsed",
            "there is a metric 'elapsed' already: give it another name",
        ),
        (
            "run: ls, metrics: {a: {json: b, unit: s}, a_s: {json: c, unit: ms}}",
            "9:73: flows.x.metrics.a_s",
            "there is a metric 'a_s' already: give it another name",
        ),
    ],
)
def test_what_is_refused(fields: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}  x: {{program: h1 -> h2, {fields}}}\n", tmp_path) == (place, message)
