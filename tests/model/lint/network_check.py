"""Checks set-up lines in a network of two hosts and a router."""

from __future__ import annotations

import re

from longfat.study.check import check_text

HEAD = """\
title: a study
kernel: "{kernel}"
network:
  {frames}
  hosts:
    h1: {{address: 10.0.1.1/24, routes: {{default: 10.0.1.254}}}}
    h2: {{address: 10.0.2.1/24, routes: {{default: 10.0.2.254}}}}
    r1: {{address: 10.0.1.254/24, forwards: yes}}
  links:
    - [h1, r1, {{{first}}}]
    - [r1, h2, {{addresses: {{r1: 10.0.2.254/24}}, {second}}}]
flows:
  f: {{iperf3: h1 -> h2, {time} {flow}}}
setup:
"""


_NODE = re.compile(r"(h1|h2|r1|root): ")


def warnings(
    *lines: str,
    kernel: str = "6.1",
    frames: str = "",
    first: str = "",
    second: str = "",
    flow: str = "",
    time: str = "time: 3s,",
    more: str = "",
) -> list[str]:
    """Return what a check warns of, where lines `NODE: LINE` are typed; at r1 without a node."""
    text = HEAD.format(
        kernel=kernel, frames=frames, first=first, second=second, time=time, flow=flow
    )
    for line in lines or ("h1: true",):
        at = _NODE.match(line)
        node, typed = (at[1], line[at.end() :]) if at else ("r1", line)
        text += f"  - {node}: |\n"
        text += "".join(f"      {part}\n" for part in typed.split("\n"))
    checked = check_text(text + more, name="study.yaml")
    assert checked.study is not None, [str(finding.error) for finding in checked.findings]
    return [finding.error.message for finding in checked.findings]
