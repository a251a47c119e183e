"""Packets in the page: captured at a link, listed, filtered, drawn, followed, saved."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from longfat.analysis.packets.capture import frames_of, open_capture
from tests.analysis.packets.made import transfer
from tests.studio.browser.acts import dock, hover_chart, node, open_file, open_packets, run, start
from tests.studio.browser.conftest import Studio, watched_page
from tests.studio.browser.long_capture import run_with_capture
from tests.studio.browser.test_accessibility import violations

STUDY = """\
title: A bottleneck with losses
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 10mbit, delay: 10ms, queue: 30KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""

pytestmark = pytest.mark.xdist_group("packets")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packets")


@pytest.fixture(scope="module")
def page(browser: Browser, workspace: Path) -> Iterator[Page]:
    (workspace / "study.yaml").write_text(STUDY)
    studio = Studio(workspace)
    with watched_page(browser, studio.url) as page:
        open_file(page, "study.yaml")
        yield page
    studio.end()


# The list is as long as the capture that was decoded last.
ALL_LISTED = """() => {
    const all = document.querySelectorAll(".packets [role=status]");
    const words = [...all].map((one) => one.textContent);
    const count = /^([\\d,]+) packets/.exec(words.find((one) => / packets/.test(one)) ?? "");
    const rows = Number(document.querySelector("[role=grid]").ariaRowCount) - 1;
    return count !== null && rows === Number(count[1].replaceAll(",", ""));
}"""
LISTS_TIME = """(moment) => {
    const cells = document.querySelectorAll(".packet-rows .packet-row > span:nth-child(2)");
    const times = [...cells].map((one) => Number(one.textContent));
    return Math.min(...times) <= moment && moment <= Math.max(...times) + 0.05;
}"""


def grid(page: Page) -> int:
    """Return how many packets the list has."""
    count = page.get_by_role("grid").get_attribute("aria-rowcount")
    return int(count or 1) - 1


def filter_by(page: Page, text: str) -> None:
    box = page.get_by_role("searchbox", name="Display filter")
    box.fill(text)
    box.press("Enter")


def test_a_link_s_packets_are_captured_and_listed(page: Page) -> None:
    page.get_by_label("Link from s1 to h2").click(button="right", force=True)
    page.get_by_role("menuitem", name="Capture packets at h2-eth0").click()
    expect(page.get_by_role("combobox", name="Capture")).to_contain_text("h2-eth0 ●")
    run(page)
    dock(page, "Packets")
    # What was captured last is read once more when the capture has ended.
    with page.expect_response(re.compile(r"/api/packets\?")):
        page.get_by_role("button", name="Stop capturing").click()
    expect(page.get_by_role("button", name="Stop capturing")).to_have_count(0)
    rows = page.get_by_role("grid", name="Packets").get_by_role("row")
    expect(rows.nth(1)).to_be_visible()
    page.wait_for_function(ALL_LISTED)
    assert grid(page) > 1000
    expect(page.locator(".packets-decoder summary")).to_contain_text(
        re.compile(r"decoded by (dpkt|tshark) \d")
    )


def test_the_list_is_filtered_by_the_server(page: Page) -> None:
    whole = grid(page)
    filter_by(page, "tcp.flags.syn == 1 && !(tcp.flags.ack == 1)")
    expect(page.locator(".packets-filter [role=status]")).to_have_text("2 pass")
    assert grid(page) == 2
    filter_by(page, "tcp.analysis.retransmission")
    expect(page.locator(".packet-row.packet-bad").first).to_contain_text("retransmission")
    assert 0 < grid(page) < whole / 4
    filter_by(page, "tcp.len ==")
    expect(page.get_by_role("alert").filter(has_text="filter")).to_be_visible()
    filter_by(page, "")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", str(whole + 1))


def test_a_packet_s_time_is_the_timeline_s(page: Page) -> None:
    slider = page.get_by_role("slider", name="Displayed time")
    page.get_by_role("grid").press("Home")
    for _ in range(400):
        page.keyboard.press("ArrowDown")
    chosen = page.locator(".packet-row[aria-selected=true]")
    expect(chosen).to_be_visible()
    time_s = float(chosen.get_by_role("gridcell").nth(1).inner_text())
    clock = page.get_by_label("Time", exact=True)
    expect(clock).to_contain_text(f"{time_s:.3f} s")
    expect(page.get_by_role("complementary", name=re.compile("^Packet "))).to_contain_text("TCP")
    # And back: a moment of the timeline is a place of the list.
    slider.press("Home")
    for _ in range(12):
        slider.press("PageUp")
    moment = float(clock.inner_text().split()[0])
    page.wait_for_function(LISTS_TIME, arg=moment)


def test_a_stream_is_drawn_and_followed(page: Page) -> None:
    page.get_by_role("button", name="Time-sequence").click()
    plot = page.get_by_role("img", name=re.compile(r"Time-sequence plot of stream \d+: \d+ segm"))
    expect(plot).to_be_visible()
    name = plot.get_attribute("aria-label") or ""
    found = re.search(r"(\d+) segments, (\d+) retransmissions", name)
    assert found
    assert int(found[1]) > 500
    assert int(found[2]) > 0
    expect(plot.locator("canvas")).to_be_visible()
    page.get_by_role("button", name="Between hosts").click()
    diagram = page.get_by_role("grid", name="Packets between hosts")
    expect(diagram.locator(".ladder-arrow").first).to_be_visible()
    expect(diagram.get_by_role("columnheader", name=re.compile("10.0.0.1"))).to_be_visible()
    page.get_by_role("button", name="Follow", exact=True).click()
    streams = page.get_by_role("combobox", name="TCP stream")
    streams.select_option("0")
    region = page.get_by_role("region", name="Stream 0")
    expect(region).to_contain_text('"tcp":true')
    expect(region).to_contain_text("bytes not captured")
    page.get_by_role("button", name="List", exact=True).click()


def seconds(text: str) -> float:
    """Return the time that a legend is at."""
    found = re.search(r"at ([\d.]+) s", text)
    assert found, text
    return float(found[1])


def cursor_of(charts: Locator) -> Locator:
    """Return the line that the throughput chart has as its cursor."""
    return charts.get_by_role("region", name="Throughput", exact=True).locator(".u-cursor-x")


def test_hovering_marks_the_same_time_in_packets_and_charts(page: Page) -> None:
    page.get_by_role("button", name="Show charts").click()
    charts = page.get_by_role("region", name="Charts beside the packets")
    legend = charts.get_by_role("group", name="Throughput: values")
    clock = page.get_by_label("Time", exact=True)
    page.get_by_role("grid").press("End")
    last = page.locator(".packet-rows .packet-row").last
    expect(last).to_contain_text(str(grid(page)))
    shown = clock.inner_text()
    row = page.locator(".packet-row[aria-selected=true]")
    row.hover()
    time_s = float(row.get_by_role("gridcell").nth(1).inner_text())
    expect(legend).to_contain_text(f"at {time_s:.3f} s")
    x = cursor_of(charts).evaluate("line => new DOMMatrix(getComputedStyle(line).transform).e")
    assert x > 50
    assert clock.inner_text() == shown
    # The other way: the row is shown when the pointer rests, and nothing is chosen.
    hover_chart(page, charts, 0.4)
    near = page.locator(".packet-near")
    expect(near).to_be_visible()
    at_s = seconds(legend.inner_text())
    assert at_s < time_s
    assert float(near.get_by_role("gridcell").nth(1).inner_text()) == pytest.approx(at_s, abs=0.02)
    assert clock.inner_text() == shown
    page.mouse.move(5, 5)
    expect(near).to_have_count(0)
    expect(cursor_of(charts)).to_have_class(re.compile("u-off"))


def test_hovering_marks_the_same_time_in_the_time_sequence_plot(page: Page) -> None:
    charts = page.get_by_role("region", name="Charts beside the packets")
    legend = charts.get_by_role("group", name="Throughput: values")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/packet-sequence?*", hold)
    page.get_by_role("button", name="Time-sequence").click()
    plot = page.get_by_role("img", name=re.compile("Time-sequence plot of stream"))
    ring = plot.locator(".readout-ring")
    # The pointer may be in the charts before the plot's data is there.
    hover_chart(page, charts, 0.5)
    while not held:
        page.wait_for_timeout(20)
    expect(ring).to_have_count(0)
    for one in held:
        one.continue_()
    expect(ring).to_be_visible()
    page.unroute("**/api/packet-sequence?*", hold)
    before_s = seconds(legend.inner_text())
    plot.locator(".u-over").hover()
    expect(ring).to_be_hidden()
    expect(legend).not_to_contain_text(f"at {before_s:.3f} s")
    expect(cursor_of(charts)).not_to_have_class(re.compile("u-off"))
    page.mouse.move(5, 5)
    page.get_by_role("button", name="Show charts").click()
    expect(charts).to_have_count(0)
    page.get_by_role("button", name="List", exact=True).click()


def test_packets_are_saved_for_wireshark(page: Page, tmp_path: Path) -> None:
    filter_by(page, "tcp.flags.syn == 1")
    expect(page.locator(".packets-filter [role=status]")).to_have_text("4 pass")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as pcapng").click()
    path = tmp_path / "x.pcapng"
    download.value.save_as(path)
    assert len(list(frames_of(open_capture(path)))) == 4
    filter_by(page, "")


def test_a_long_capture_is_listed_hovered_and_filtered(browser: Browser, tmp_path: Path) -> None:
    folder = run_with_capture(tmp_path, transfer(5_000, snap=70))
    studio = Studio(tmp_path)
    try:
        with watched_page(browser, studio.url) as page:
            open_packets(page, folder)
            expect(page.get_by_text("5,000 packets")).to_be_visible()
            expect(page.get_by_role("grid").get_by_role("row").nth(5)).to_contain_text("5201")
            page.get_by_role("button", name="Show charts").click()
            charts = page.get_by_role("region", name="Charts beside the packets")
            expect(charts.get_by_role("group", name="Throughput: values")).to_be_visible()
            hover_chart(page, charts, 0.5)
            expect(page.locator(".packet-near")).to_be_visible()
            page.get_by_role("grid").press("End")
            last = page.locator(".packet-rows .packet-row").last
            expect(last).to_contain_text("5000")
            filter_by(page, "frame.number > 4990")
            expect(page.locator(".packets-filter [role=status]")).to_have_text("10 pass")
    finally:
        studio.end()


def test_no_barriers(page: Page) -> None:
    found: dict[str, list[str]] = {}
    for name in ("List", "Between hosts", "Time-sequence", "Follow"):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_timeout(600)
        found[name] = violations(page)
    page.get_by_role("button", name="List", exact=True).click()
    page.locator(".packet-row").nth(3).click()
    expect(page.get_by_role("complementary", name=re.compile("^Packet "))).to_contain_text("0000")
    found["details"] = violations(page)
    node(page, "h1").click(button="right")
    expect(page.get_by_role("menuitem", name="Capture packets at h1-eth0")).to_be_visible()
    found["menu"] = violations(page)
    page.keyboard.press("Escape")
    assert not [f"{name}: {one}" for name, all_of in found.items() for one in all_of]


def test_a_capture_grows_in_the_page_and_may_begin_while_time_is_held(
    studio: Studio, browser: Browser
) -> None:
    slow_link = STUDY.replace("rate: 10mbit", "rate: 1mbit").replace("time: 2s", "time: 600s")
    (studio.workspace / "study.yaml").write_text(slow_link)
    with watched_page(browser, studio.url) as page:
        open_file(page, "study.yaml")
        start(page)
        expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("Mbit/s")
        page.get_by_role("button", name="Hold", exact=True).click()
        page.get_by_label("Link from h1 to s1").click(button="right", force=True)
        page.get_by_role("menuitem", name="Capture packets at h1-eth0").click()
        packets = page.get_by_role("tabpanel", name="Packets")
        expect(packets).to_contain_text("No packets yet: the capture begins when time passes.")
        expect(packets.get_by_role("alert")).to_have_count(0)
        page.get_by_label("Pace, typed").fill("1")
        page.get_by_label("Pace, typed").press("Enter")
        page.get_by_role("button", name="Go", exact=True).click()
        expect(packets.get_by_role("grid")).to_be_visible()
        # It was reloaded in vain while it grew faster than it was decoded.
        counts = [0]
        for _ in range(4):
            page.wait_for_function(f"(before) => {COUNT} > before", arg=counts[-1])
            counts.append(page.evaluate(COUNT))
        assert counts == sorted(set(counts))
        page.get_by_role("button", name="Hold", exact=True).click()
        # Details are never those of another packet.
        page.route("**/api/packet?*", slow)
        row = packets.locator(".packet-row")
        row.nth(3).click()
        details = packets.get_by_role("complementary")
        expect(details.get_by_role("heading")).to_have_text("Packet 3")
        expect(details.locator("summary").first).to_be_visible()
        text = details.inner_text()
        row.nth(4).click()
        expect(details.get_by_role("heading")).to_have_text("Packet 4")
        assert details.locator("summary").count() == 0
        expect(details).not_to_contain_text("Decoding…")
        assert details.inner_text() != text


COUNT = """Number((/^([\\d,]+) packets/.exec([...document.querySelectorAll(
    ".packets [role=status]")].map((one) => one.textContent).find((one) => / packets/.test(one))
    ?? "") ?? ["", "0"])[1].replaceAll(",", ""))"""


def slow(route: Route) -> None:
    """Answer as a busy server does."""
    time.sleep(0.5)
    route.continue_()
