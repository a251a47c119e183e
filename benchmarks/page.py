"""How quick the studio's page is, in Chromium without a graphics card.

    .venv/bin/python -m benchmarks.page [--json] [NAME...]

* `first-chart`: seconds from the press on Run to the first line in a chart, with the boot;
* `10gbit`: tasks longer than 50 ms while four streams of 10 Gbit/s run;
* `200-hosts`: frames a second of a network of 200 hosts, idle and with ten flows and charts;
* `100000-packets`: frames a second of a list of packets while it is scrolled, and long tasks
  while the pointer moves over it and its charts.

It needs the built page and the browser that the tests use: `tools/setup.sh test`.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.analysis.packets.made import transfer
from tests.browser import open_browser
from tests.studio.browser.acts import dock, hover_chart, open_file, open_packets, run, start
from tests.studio.browser.conftest import Studio, watched_page
from tests.studio.browser.long_capture import run_with_capture
from tests.studio.browser.networks import star

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
        const shown = [...rows].some((row) => /[1-9].*bit/.test(row.textContent));
        if (shown) done((performance.now() - start) / 1000);
        else requestAnimationFrame(look);
    };
    look();
})"""

# By steps of the wheel, then by jumps over the whole list.
SCROLL = """async () => {
    const grid = document.querySelector("[role=grid]");
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const start = performance.now();
    let frames = 0;
    for (let step = 0; step < 120; step += 1, frames += 1) {
        grid.scrollTop += 300;
        await frame();
    }
    for (let step = 0; step <= 40; step += 1) {
        grid.scrollTop = (grid.scrollHeight * step) / 40;
        for (let wait = 0; wait < 4; wait += 1, frames += 1) await frame();
    }
    return (1000 * frames) / (performance.now() - start);
}"""

Measured = Mapping[str, float]


@contextmanager
def opened(browser: Browser, text: str = "") -> Iterator[tuple[Page, Path]]:
    """Open a studio in an empty folder, with a study if there is a text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        studio = Studio(folder)
        try:
            with watched_page(browser, studio.url, is_animated=True) as page:
                if text:
                    (folder / "study.yaml").write_text(text)
                    open_file(page, "study.yaml")
                yield page, folder
        finally:
            studio.end()


def longest_task_ms(page: Page) -> float:
    """Return the longest task since `LONG_TASKS`; 0 if none took 50 ms."""
    found: float = page.evaluate("Math.max(0, ...window.longTasks)")
    return found


def first_chart(browser: Browser) -> Measured:
    with opened(browser, FAST) as (page, _):
        dock(page, "Charts")
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
        shown_s = page.evaluate(FIRST_CHART)
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    return {"first chart, s": shown_s}


def ten_gigabits(browser: Browser) -> Measured:
    with opened(browser, FAST) as (page, _):
        run(page)  # what the page loads on first use is not part of the run
        page.evaluate(LONG_TASKS)
        run(page)
        return {"longest task, ms": longest_task_ms(page)}


def two_hundred_hosts(browser: Browser) -> Measured:
    with opened(browser, star(200, flow_s=20)) as (page, _):
        expect(page.locator(".react-flow__node")).to_have_count(210)
        page.wait_for_timeout(2000)
        idle = page.evaluate(FRAMES, 100)
        start(page)
        dock(page, "Charts")
        legend = page.get_by_role("group", name="Throughput: values")
        expect(legend.locator("tbody tr").first).to_contain_text(
            re.compile("[1-9].*bit/s"), timeout=180_000
        )
        page.wait_for_timeout(2000)
        page.evaluate(LONG_TASKS)
        with_charts = page.evaluate(FRAMES, 300)
        return {
            "frames/s idle": idle,
            "frames/s with charts": with_charts,
            "longest task, ms": longest_task_ms(page),
        }


def hundred_thousand_packets(browser: Browser) -> Measured:
    with opened(browser) as (page, folder):
        open_packets(page, run_with_capture(folder, transfer(100_000, snap=70)))
        expect(page.get_by_text("100,000 packets")).to_be_visible(timeout=120_000)
        expect(page.get_by_role("grid").get_by_role("row").nth(5)).to_contain_text("5201")
        page.evaluate(LONG_TASKS)
        scrolled = {
            "frames/s when scrolled": page.evaluate(SCROLL),
            "longest task, ms": longest_task_ms(page),
        }
        page.get_by_role("button", name="Show charts").click()
        charts = page.get_by_role("region", name="Charts beside the packets")
        expect(charts.get_by_role("group", name="Throughput: values")).to_be_visible()
        page.evaluate(LONG_TASKS)
        for percent in range(5, 95):
            hover_chart(page, charts, percent / 100)
        expect(page.locator(".packet-near")).to_be_visible()
        for row in page.locator(".packet-rows .packet-row").all()[12:20]:
            row.hover()
        return {**scrolled, "longest task when hovering, ms": longest_task_ms(page)}


MEASUREMENTS: Mapping[str, Callable[[Browser], Measured]] = {
    "first-chart": first_chart,
    "10gbit": ten_gigabits,
    "200-hosts": two_hundred_hosts,
    "100000-packets": hundred_thousand_packets,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS))
    options = parser.parse_args()
    if unknown := set(options.names) - MEASUREMENTS.keys():
        parser.error(f"{unknown.pop()!r} is none of {', '.join(MEASUREMENTS)}")
    with open_browser() as browser:
        found = {name: MEASUREMENTS[name](browser) for name in options.names or MEASUREMENTS}
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, measured in found.items():
        for label, value in measured.items():
            print(f"{name:16}{label:32}{value:8.2f}")


if __name__ == "__main__":
    main()
