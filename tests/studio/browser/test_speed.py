"""How quick the page is: the first chart, long tasks, frames in a second in a large network.

The limits find a page that freezes, and no more, since the computer may be busy: what was measured
is printed (`pytest -s`), and docs/performance.md tells of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.browser.acts import dock, open_file, run, start
from tests.studio.browser.conftest import Studio, watched_page

FAST = """\
title: Ten gigabits per second
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 10gbit, delay: 5ms, queue: 16MB}]]
setup:
  - h1: sysctl -w net.ipv4.tcp_wmem='4096 65536 67108864'
  - h2: sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'
flows:
  bulk: {iperf3: h1 -> h2, time: 2s, parallel: 4}
  rtt: {ping: h1 -> h2, count: 20, interval: 100ms}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""

LONG_TASKS = """() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.longTasks.push(duration);
    }).observe({ type: "longtask" });
}"""

FRAMES = """(count) => new Promise((done) => {
    const times = [];
    requestAnimationFrame(function tick(now) {
        times.push(now);
        if (times.length <= count) requestAnimationFrame(tick);
        else done(1000 * count / (times[count] - times[0]));
    });
})"""

# From the press on Run to the first chart that has a line.
FIRST_CHART = """() => new Promise((done) => {
    const start = performance.now();
    const buttons = [...document.querySelectorAll("button")];
    buttons.find((one) => /^\\W*Run$/.test(one.textContent.trim())).click();
    const look = () => {
        const rows = document.querySelectorAll("[aria-label='Throughput: values'] tbody tr");
        const told = [...rows].some((row) => /[1-9].*bit/.test(row.textContent));
        if (told) done((performance.now() - start) / 1000);
        else requestAnimationFrame(look);
    };
    look();
})"""


def star(count: int) -> str:
    """Return a study of so many hosts around ten switches, with flows among some of them."""
    hosts = ", ".join(f"h{n}: 10.0.{n // 200}.{n % 200 + 1}/8" for n in range(count))
    links = [f"    - [h{n}, s{n % 10}, {{rate: 100mbit, delay: 1ms}}]" for n in range(count)]
    links += [f"    - [s{n}, s{n + 1}, {{rate: 1gbit, delay: 1ms}}]" for n in range(9)]
    flows = [f"  f{n}: {{iperf3: h{n} -> h{n + 11}, time: 20s}}" for n in range(0, 40, 4)]
    switches = ", ".join(f"s{n}" for n in range(10))
    return "\n".join(
        (
            "title: Two hundred hosts\nmemory: 2GB\nnetwork:",
            f"  hosts: {{{hosts}}}\n  switches: [{switches}]\n  links:",
            *links,
            "flows:",
            *flows,
            "",
        )
    )


def tasks(page: Page) -> list[float]:
    found: list[float] = page.evaluate("window.longTasks.map(Math.round)")
    return found


@pytest.fixture
def fast(browser: Browser, tmp_path: Path) -> Any:
    (tmp_path / "study.yaml").write_text(FAST)
    studio = Studio(tmp_path)
    with watched_page(browser, studio.url) as page:
        open_file(page, "study.yaml")
        yield page
    studio.end()


def test_the_first_chart_comes_soon(fast: Page) -> None:
    dock(fast, "Charts")
    expect(fast.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    booted_s = fast.evaluate(FIRST_CHART)
    print(f"first chart after {booted_s:.2f} s, with the boot of the machine")
    expect(fast.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    assert booted_s < 30


def test_no_long_task_at_ten_gigabits(fast: Page) -> None:
    run(fast)  # what the page loads at first is not of the run
    fast.evaluate(LONG_TASKS)
    run(fast)
    found = tasks(fast)
    print(f"long tasks of {found} ms")
    assert max(found, default=0) < 1000


@pytest.mark.timeout(400)
def test_two_hundred_hosts_stay_smooth(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text(star(200))
    studio = Studio(tmp_path)
    try:
        with watched_page(browser, studio.url) as page:
            open_file(page, "large.yaml")
            expect(page.locator(".react-flow__node")).to_have_count(210)
            page.wait_for_timeout(2000)
            still = page.evaluate(FRAMES, 100)
            start(page)
            dock(page, "Charts")
            legend = page.get_by_role("group", name="Throughput: values")
            expect(legend.locator("tbody tr").first).to_contain_text(
                re.compile("[1-9].*bit/s"), timeout=180_000
            )
            page.wait_for_timeout(2000)
            page.evaluate(LONG_TASKS)
            fps = page.evaluate(FRAMES, 300)
            found = tasks(page)
            print(f"{still:.0f} frames/s still, {fps:.0f} with charts; long tasks of {found} ms")
            # Both are slow on a computer that is busy.
            assert fps > 0.1 * min(still, 60)
    finally:
        studio.end()
