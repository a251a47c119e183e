"""Whole jobs in a browser: no figure is wrong, nothing that was done is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from longfat.analysis.advice.diagnosis import diagnose
from longfat.execution.runs import load_run
from longfat.live.shell.work_folder import HOME
from tests.studio.browser.acts import dock, node, open_file, panel, start, turn_to
from tests.studio.browser.conftest import Studio

TWO = """\
title: Two flows on one link
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1], [s1, h3, {rate: 5mbit, delay: 25ms, queue: 90KB}]]
flows:
  one: {iperf3: h1 -> h3, time: 8s}
  two: {iperf3: h2 -> h3, time: 8s}
"""
PLACED = "layout: {h1: [100, 60], h2: [100, 260], s1: [300, 160], h3: [500, 160]}\n"


def opened(studio: Studio, page: Page, text: str = TWO + PLACED) -> None:
    (studio.workspace / "study.yaml").write_text(text)
    open_file(page, "study.yaml")
    expect(node(page, "h3")).to_be_visible()


def result(page: Page) -> Locator:
    return page.get_by_role("region", name="Result")


def zoom(page: Page, from_s: float, to_s: float) -> None:
    page.get_by_label("Time range").select_option("from … to …")
    for label, time_s in (("From", from_s), ("to", to_s)):
        field = page.get_by_label(f"{label}, in seconds of virtual time", exact=True)
        field.fill(str(time_s))
        field.press("Enter")


def test_the_answer_is_that_of_runs(studio: Studio, page: Page) -> None:
    opened(studio, page)
    start(page)
    answer = result(page)
    expect(answer).to_contain_text("Cause: standing queue.")
    expect(answer).to_contain_text(re.compile(r"one got 2\.\d+ Mbit/s of 5\.00 Mbit/s"))
    expect(answer).to_contain_text(re.compile(r"RTT 1\d\d ms \(idle path 50\.0 ms\)"))
    dock(page, "Flows")
    flows = page.get_by_role("tabpanel", name="Flows")
    expect(flows).to_contain_text(re.compile(r"Fairness (1\.00|0\.\d\d), the worst flow first"))
    (folder,) = studio.workspace.glob("runs/*/*-seed1")
    for found in diagnose(load_run(folder)):
        expect(flows).to_contain_text(found.verdict)


def test_a_fix_says_whose_bandwidth_it_takes_and_what_became_of_it(
    studio: Studio, page: Page
) -> None:
    lossy = TWO.replace("rate: 5mbit, delay: 25ms", "rate: 20mbit, delay: 25ms, loss: 1%")
    opened(studio, page, lossy + PLACED)
    start(page)
    answer = result(page)
    expect(answer).to_contain_text("Takes bandwidth from two.")
    answer.get_by_role("button", name="Try the fix").first.click()
    expect(answer).to_contain_text(
        re.compile(r"Against run 1.*: .*two [\d.]+ \wbit/s → [\d.]+ \wbit/s")
    )


def test_figures_and_files_are_of_the_visible_time(studio: Studio, page: Page) -> None:
    opened(studio, page)
    start(page)
    expect(result(page)).to_be_visible()
    legend = page.get_by_role("group", name="Round-trip time: values")

    def mean_ms() -> float:
        found = re.search(r"one\s+\S+ ms\s+([\d.]+) ms", legend.inner_text())
        assert found, legend.inner_text()
        return float(found[1])

    whole_ms = mean_ms()
    zoom(page, 3.3, 3.8)  # the queue is not full yet
    expect(legend).to_contain_text("Figures from 3.300 to 3.800 s")
    assert mean_ms() < whole_ms - 20

    def csv(choice: str) -> list[list[str]]:
        page.locator("summary", has_text="CSV").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=choice).click()
        return [line.split(",") for line in Path(download.value.path()).read_text().split()]

    head, *rows = csv("What is shown")
    assert head[:3] == ["run", "time_s", "since_start_s"]
    assert "rate:s1-eth3:tx_bps" not in head  # that chart is not shown
    times = [float(row[1]) for row in rows]
    # Of the axis, and not since the run's start.
    assert 3.3 <= min(times) <= max(times) <= 3.8
    head, *rows = csv("All charts, the whole time")
    assert "rate:s1-eth3:tx_bps" in head
    assert max(float(row[1]) for row in rows) > 10


def test_the_first_drag_is_undone(studio: Studio, page: Page) -> None:
    opened(studio, page, TWO)
    before = node(page, "h1").bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + 20, before["y"] + 20)
    page.mouse.down()
    page.mouse.move(before["x"] + 120, before["y"] + 90, steps=5)
    page.mouse.up()
    panel(page, "YAML")
    expect(page.locator(".cm-content")).to_contain_text("layout:")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".cm-content")).not_to_contain_text("layout:")
    after = node(page, "h1").bounding_box()
    assert after is not None
    assert (after["x"], after["y"]) == pytest.approx((before["x"], before["y"]), abs=1)


def test_what_is_typed_is_a_run_and_its_files_can_be_had(studio: Studio, page: Page) -> None:
    opened(studio, page)
    node(page, "h1").dblclick()
    terminal = page.get_by_label("Terminal of h1").last
    expect(terminal).to_contain_text("h1")
    terminal.click()
    page.keyboard.type("ping -c 3 -i 0.2 h3 | tee out.txt\n")
    expect(terminal).to_contain_text("min/avg/max/mdev")
    page.keyboard.type("tc qdisc add dev h1-eth0 root netem delay 20ms\n")
    page.keyboard.type("ping -c 3 -i 0.2 h3\n")
    expect(terminal.get_by_text("min/avg/max/mdev")).to_have_count(2)
    dock(page, "Charts")
    expect(page.get_by_role("group", name="Round-trip time: values")).to_contain_text("ping h1")
    against = re.compile(r"Against typed 1: ping-h1-h3 RTT [56]\d\.\d ms → 7\d\.\d ms")
    expect(result(page)).to_contain_text(against)
    dock(page, "Terminals")
    page.locator("summary", has_text="Files").click()
    with page.expect_download() as download:
        page.get_by_role("link", name=f"{HOME}/out.txt").click()
    assert "3 packets transmitted" in Path(download.value.path()).read_text()
    page.get_by_role("button", name="End the session").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("Its 2 runs are kept in Runs")
    expect(question).to_contain_text("Files that were written in terminals are lost")
    question.get_by_role("button", name="End the session").click()
    turn_to(page, "Runs")
    page.get_by_role("checkbox", name=re.compile("live-1")).check()
    page.get_by_role("checkbox", name=re.compile("h1-eth0-netem-delay-20ms")).check()
    # One picture of both.
    chosen = page.get_by_role("complementary", name="Chosen runs")
    expect(chosen.get_by_role("figure").first).to_be_visible()


def test_a_failed_flow_is_said_at_once(studio: Studio, page: Page) -> None:
    first = "one: {iperf3: h1 -> h3, time: 8s}"
    failing = TWO.replace(first, "one: {iperf3: h1 -> h3, args: [--nonsense]}")
    opened(studio, page, failing.replace("time: 8s", "time: 600s") + PLACED)
    start(page)
    # The other one still runs.
    expect(result(page)).to_contain_text("one failed: ")
    expect(page.get_by_role("button", name="Stop flows")).to_be_enabled()
    dock(page, "Messages")
    expect(page.get_by_role("list", name="Messages, newest first")).to_contain_text("one failed: ")
    page.get_by_role("button", name="Stop flows").click()
    dock(page, "Charts")
    expect(result(page)).not_to_contain_text("two failed")


def test_after_a_kill_only_saved_runs_are_counted(studio: Studio, page: Page) -> None:
    opened(studio, page, TWO.replace("one: {iperf3: h1 -> h3, time: 8s}\n", "") + PLACED)
    start(page)
    expect(result(page)).to_be_visible()
    start(page)
    dock(page, "Flows")
    expect(page.get_by_role("row", name=re.compile("iperf3 running"))).to_be_visible()
    port = re.search(r":(\d+)/", studio.url)
    assert port
    studio.kill()
    bar = page.get_by_role("region", name="Clock bar")
    expect(bar).to_contain_text("The connection to the server is lost")
    expect(bar).not_to_contain_text("continues")
    again = Studio(studio.workspace, port=port[1])
    studio._process = again._process
    expect(bar).to_contain_text("The session has ended.", timeout=120_000)
    expect(bar).to_contain_text("1 run is in Runs; 1 run was not saved")
