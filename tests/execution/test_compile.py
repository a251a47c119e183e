from __future__ import annotations

import json
from collections.abc import Callable

from longfat.execution.compile import compile_job, expected_virtual_s, limit_virtual_s
from longfat.model.case import Case
from longfat.model.traffic import Iperf3, Ping


def test_the_job_is_plain_json(make_case: Callable[..., Case]) -> None:
    job = compile_job(make_case(Ping(name="p", source="h1", target="h2"), root=("true",)))
    assert json.loads(json.dumps(job))["flows"] == job["flows"]
    assert job["setup"] == [{"node": "root", "line": "true", "rooted": False}]


def test_each_server_of_a_host_has_its_port(make_case: Callable[..., Case]) -> None:
    flows = [Iperf3(name=f"f{i}", source="h1", target="h2") for i in range(3)]
    flows.append(Iperf3(name="back", source="h2", target="h1"))
    job = compile_job(make_case(*flows))
    ports = [flow["processes"][0]["argv"] for flow in job["flows"]]
    assert [argv[4] if "-p" in argv else "5201" for argv in ports] == [
        "5201",
        "5202",
        "5203",
        "5201",
    ]


def test_expected_time_follows_the_chain(make_case: Callable[..., Case]) -> None:
    case = make_case(
        Iperf3(name="b", source="h1", target="h2", time_s=10.0, after="a", start_s=1.0),
        Ping(name="a", source="h1", target="h2", count=5),
    )
    assert expected_virtual_s(case) == 2 + 4 + 1 + 10
    assert limit_virtual_s(case) > 10 * expected_virtual_s(case)
