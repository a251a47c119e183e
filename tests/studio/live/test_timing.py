"""The timing of hosts in the studio: what a form has, and what a session can take."""

from __future__ import annotations

import pytest

from longfat.model.fields import fields_of
from longfat.model.network import Host, HostTiming
from longfat.studio.live.drawing import cannot_take, read_drawing
from longfat.studio.views import form_fields

STUDY = """\
title: Timing
network:
  hosts: {h1: {address: 10.0.0.1/8, timer_latency: 50us}, h2: 10.0.0.2/8}
  testbed: {timer_latency: 27us}
  links: [[h1, h2]]
"""


def test_a_form_has_all_fields_of_a_host() -> None:
    found = {field["key"]: field["limits"] for field in form_fields()["host"]}
    # A host that forwards is another kind of node on the page.
    assert found.keys() == {*fields_of(Host), *fields_of(HostTiming)} - {"forwards"}
    assert found["timer_latency"] == "0s to 10ms"


@pytest.mark.parametrize(
    ("old", "new", "reasons"),
    [
        ("50us", "50us", []),
        ("50us", "51us", ["the host h1 has different addresses, routes or timing"]),
        ("27us", "28us", ["the testbed's timing was changed"]),
        ("  testbed: {timer_latency: 27us}\n", "", ["the testbed's timing was changed"]),
        ("  testbed", "  frames: yes\n  testbed", ["frames was changed"]),
    ],
)
def test_a_session_cannot_take_another_timing(old: str, new: str, reasons: list[str]) -> None:
    drawn = (
        read_drawing(text, name="timing", case=None) for text in (STUDY, STUDY.replace(old, new))
    )
    assert cannot_take(*drawn) == reasons
