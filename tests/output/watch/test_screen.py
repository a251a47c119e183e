"""The live view at all sizes, with and without colours."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from longfat.analysis.timeseries.live import LiveRun, Series, plan_watch
from longfat.errors import MachineError
from longfat.execution import Progress
from longfat.model.case import Case
from longfat.output.watch.screen import Order, Screen
from longfat.study import Planned
from tests.analysis.timeseries.conftest import Growing

PANELS = ("queue", "throughput", "smoothed RTT", "cwnd")


def shown(
    live: LiveRun,
    case: Case,
    *,
    width: int,
    height: int,
    color: bool = False,
    virtual_s: float = 3.4,
    title: str = "RED at last",
    pace: float | None = 0.5,
) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, height=height, force_terminal=True, no_color=not color
    )
    planned = Planned(case=case, title=title)
    order = Order(
        study="lab", name="red", planned=planned, out=Path("runs"), pace=pace, window_s=30.0
    )
    screen = Screen(order, live, console=console)
    screen.progress(Progress("red", virtual_s, 5.0))
    console.print(screen, height=height)
    return file.getvalue()


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


@pytest.mark.parametrize(
    ("width", "height"),
    [(80, 24), (120, 40), (80, 14), (200, 60), (60, 40), (40, 20), (20, 10), (3, 3), (1, 1)],
)
@pytest.mark.parametrize("color", [False, True])
def test_it_fits(whole: LiveRun, case: Case, width: int, height: int, color: bool) -> None:
    lines = plain(shown(whole, case, width=width, height=height, color=color))
    assert len(lines) == height
    assert all(len(line) <= width for line in lines)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (60, 20)])
def test_it_has_its_header_and_four_panels(
    whole: LiveRun, case: Case, width: int, height: int
) -> None:
    lines = plain(shown(whole, case, width=width, height=height))
    text = "\n".join(lines)
    assert all(f"─ {panel}" in text for panel in PANELS)
    assert lines[0].startswith("lab / red")
    assert lines[0].endswith("kernel 6.1, seed 1")
    assert lines[1].startswith("1.4 s of about 1 s")
    assert lines[1].rstrip().endswith("pace 0.5x")
    assert re.search(r"━━? +s1-eth1 +[\d.]+ K?B", text)


@pytest.mark.parametrize(
    ("pace", "text"), [(10_000, "pace 10000x"), (0.0001, "pace 0.0001x"), (None, "no pace set")]
)
def test_a_pace_is_shown_in_plain_digits(
    whole: LiveRun, case: Case, pace: float | None, text: str
) -> None:
    lines = plain(shown(whole, case, width=80, height=24, pace=pace))
    assert lines[1].rstrip().endswith(text)


def test_a_text_of_a_study_is_no_markup(whole: LiveRun, case: Case) -> None:
    lines = plain(shown(whole, case, width=80, height=24, title="[bold]x[/] and [/nothing]"))
    assert "[bold]x[/] and [/nothing]" in lines[0]


def test_several_curves_differ_without_colours(whole: LiveRun, case: Case) -> None:
    text = shown(whole, case, width=120, height=30)
    assert all(re.search(mark, text) for mark in ("━━ +one", "━ ━ +other", "━  ━ +back"))
    assert "\x1b[3" not in text
    assert "\x1b[36m" in shown(whole, case, width=120, height=30, color=True)


def test_many_flows_leave_room_for_the_chart(whole: LiveRun, case: Case) -> None:
    flow = whole.flows["one"]
    whole.flows |= {f"extra{index}": flow for index in range(20)}
    lines = plain(shown(whole, case, width=80, height=24))
    assert "and 19 more" in "\n".join(lines)
    assert sum("┤" in line for line in lines) >= 4


def test_new_drops_are_highlighted(whole: LiveRun, case: Case) -> None:
    drops = whole.queues["s1-eth1"].drops = Series()
    drops.add(0.1, 0)
    drops.add(0.3, 7)
    before = shown(whole, case, width=140, height=30)
    assert "7 drops 0% full tbf" in "\n".join(plain(before))
    assert "\x1b[1;7m7 drops" not in before
    drops.add(whole.time_s, 9)
    after = shown(whole, case, width=140, height=30)
    assert "\x1b[1;7m9 drops (+2)\x1b[0m" in after


def test_an_ended_flow_has_no_current_value(whole: LiveRun, case: Case) -> None:
    flow = whole.flows["one"]
    for series in (flow.rtt, flow.cwnd, flow.throughput):
        late = [index for index, time_s in enumerate(series.times_s) if time_s > 0.5]
        del series.times_s[late[0] :], series.values[late[0] :]
    text = "\n".join(plain(shown(whole, case, width=100, height=30)))
    assert len(re.findall(r"one +- ", text)) == 3
    assert len(re.findall(r"back +[\d.]+ [KMm]", text)) == 3


def test_a_case_with_nothing_to_see_says_so(case: Case) -> None:
    empty = dataclasses.replace(case, probes=(), flows=(), setup=())
    live = LiveRun(plan_watch(empty))
    text = "\n".join(plain(shown(live, empty, width=100, height=24, virtual_s=0.5)))
    assert "no set-up line makes a queue" in text
    assert text.count("no flow of bulk TCP") == 3
    assert "booting" in text


def test_what_cannot_be_read_ends_the_run_and_not_the_drawing(case: Case, growing: Growing) -> None:
    (growing.folder / "raw/tcp.samples").write_bytes(b"foreign\n")
    console = Console(file=io.StringIO(), width=80, height=24)
    order = Order(
        study="lab",
        name="red",
        planned=Planned(case=case, title="red"),
        out=Path("runs"),
        pace=None,
        window_s=30.0,
    )
    live = LiveRun(plan_watch(case))
    live.folder = growing.folder
    screen = Screen(order, live, console=console)
    console.print(screen, height=24)
    with pytest.raises(MachineError, match=r"tcp\.samples: "):
        screen.progress(Progress("red", 3.4, 5.0))
