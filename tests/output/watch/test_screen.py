"""The live view at all sizes, with and without colours."""

from __future__ import annotations

import dataclasses
import io
import re

import pytest
from rich.console import Console

from longfat.execution import Progress
from longfat.model.case import Case
from longfat.output.watch.live import LiveRun
from longfat.output.watch.plan import plan_watch
from longfat.output.watch.screen import Screen
from longfat.output.watch.state import Watched
from longfat.output.watch.track import Counter

PANELS = ("queue", "throughput", "smoothed RTT", "cwnd")


def shown(
    live: LiveRun,
    case: Case,
    *,
    width: int,
    height: int,
    color: bool = False,
    virtual_s: float = 3.4,
) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, height=height, force_terminal=True, no_color=not color
    )
    watched = Watched(study="lab", name="red", title="RED at last", case=case, live=live, pace=0.5)
    watched.progress(Progress("red", virtual_s, 5.0))
    console.print(Screen(watched, window_s=30), height=height)
    return file.getvalue()


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


@pytest.mark.parametrize(
    ("width", "height"), [(80, 24), (100, 30), (180, 50), (200, 60), (60, 40), (40, 20)]
)
def test_it_fits_and_has_its_four_panels(
    whole: LiveRun, case: Case, width: int, height: int
) -> None:
    lines = plain(shown(whole, case, width=width, height=height))
    assert len(lines) == height
    assert all(len(line) <= width for line in lines)
    text = "\n".join(lines)
    assert all(f"─ {panel}" in text for panel in PANELS)
    assert "lab / red" in lines[0]
    assert lines[1].startswith("1.4 s of about 3 s")
    assert lines[1].rstrip().endswith("pace 0.5x")


def test_values_stand_large_where_there_is_room(whole: LiveRun, case: Case) -> None:
    assert "█▀█" in shown(whole, case, width=180, height=50)
    assert "█▀█" not in shown(whole, case, width=100, height=30)


def test_several_curves_are_told_apart_without_colours(whole: LiveRun, case: Case) -> None:
    text = shown(whole, case, width=180, height=30)
    assert all(mark in text for mark in ("━━ one", "━ ━ other", "━  ━ back"))
    assert "\x1b[3" not in text
    assert "\x1b[36m" in shown(whole, case, width=180, height=30, color=True)


def test_new_drops_are_told_loudly(whole: LiveRun, case: Case) -> None:
    whole.queues["s1-eth1"].drops = drops = Counter()
    drops.add(0.1, 10_000)
    drops.add(0.3, 10_007)
    before = "\n".join(plain(shown(whole, case, width=140, height=30)))
    assert "7 drops tbf" in before
    drops.add(whole.time_s, 10_009)
    after = "\n".join(plain(shown(whole, case, width=140, height=30)))
    assert "9 drops (+2) tbf" in after


def test_a_case_with_nothing_to_see_says_so(case: Case) -> None:
    empty = dataclasses.replace(case, probes=(), flows=(), setup=())
    with LiveRun(plan_watch(empty)) as live:
        text = "\n".join(plain(shown(live, empty, width=100, height=24, virtual_s=0.5)))
    assert "no set-up line makes a queue" in text
    assert text.count("no flow of bulk TCP") == 3
    assert "booting" in text
