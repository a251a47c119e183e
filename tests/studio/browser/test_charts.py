"""What the charts and the colours of links say is so."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.studio.browser.acts import dock, fill, node, open_file, panel, start, virtual_s
from tests.studio.browser.conftest import Studio

TWO = """\
title: Two flows with a pause between
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 100mbit, delay: 20ms, queue: 500KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 3s}
  again: {iperf3: h1 -> h2, time: 2s, start: 8s}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""


def begin(studio: Studio, page: Page, text: str = TWO) -> None:
    (studio.workspace / "study.yaml").write_text(text)
    open_file(page, "study.yaml")
    start(page)
    expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("Mbit/s")


def ended(page: Page) -> None:
    dock(page, "Flows")
    expect(page.get_by_role("row", name=re.compile("iperf3 done"))).to_have_count(2)
    dock(page, "Charts")


def read_at(page: Page, share: float) -> tuple[float, Locator]:
    """Put the cursor at a share of the throughput chart's width; return the time read there."""
    over = page.get_by_role("region", name="Throughput", exact=True).locator(".u-over")
    box = over.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    legend = page.get_by_role("group", name="Throughput: values")
    expect(legend).to_contain_text(re.compile(r"at [\d.]+ s"))
    found = re.search(r"at ([\d.]+) s", legend.inner_text())
    assert found
    return float(found[1]), legend


def test_lines_end_with_their_flows_and_times_are_the_clocks(studio: Studio, page: Page) -> None:
    begin(studio, page)
    ended(page)
    began_s, _ = read_at(page, 0.001)
    time_s, legend = read_at(page, 0.55)
    # Between the two flows neither reads anything, and afterwards the first does not.
    assert began_s + 4 < time_s < began_s + 8
    expect(legend.locator("tbody tr").first).to_contain_text("\N{EN DASH}")
    end_s, _ = read_at(page, 0.999)
    assert abs(end_s - virtual_s(page)) < 0.5
    average = re.search(r"bulk\s+\S+\s+([\d.]+) Mbit/s", legend.inner_text().replace("\t", " "))
    assert average
    assert 80 < float(average[1]) < 100


def test_a_flow_has_one_colour_on_the_canvas_and_in_the_charts(studio: Studio, page: Page) -> None:
    begin(studio, page)
    ended(page)
    legend = page.get_by_role("group", name="Throughput: values")
    colours = []
    for name in ("bulk", "again"):
        row = legend.get_by_role("row", name=re.compile(f"^{name}"))
        swatch = row.locator(".swatch line, .swatch path").first
        drawn = page.locator(f".react-flow__edge[data-id='flow:{name}'] .flow-line")
        stroke = "element => getComputedStyle(element).stroke"
        assert swatch.evaluate(stroke) == drawn.evaluate(stroke)
        colours.append(drawn.evaluate(stroke))
    assert len(set(colours)) == 2


def test_a_stretch_of_time_is_typed_in_the_clocks_time(studio: Studio, page: Page) -> None:
    begin(studio, page)
    ended(page)
    page.get_by_label("Time range").select_option("from … to …")
    page.get_by_label("From, in seconds of virtual time").fill("4")
    page.get_by_label("From, in seconds of virtual time").press("Enter")
    page.get_by_label("to, in seconds of virtual time").fill("6")
    page.get_by_label("to, in seconds of virtual time").press("Enter")
    assert abs(read_at(page, 0.5)[0] - 5) < 0.05
    page.get_by_role("button", name="Log", exact=True).click()
    assert abs(read_at(page, 0.5)[0] - 5) < 0.05
    page.get_by_role("button", name="Reset zoom").click()
    expect(page.get_by_label("Time range")).to_be_visible()


def test_links_are_grey_where_nothing_limits_them(studio: Studio, page: Page) -> None:
    begin(studio, page, TWO.replace("time: 3s", "time: 60s").replace("start: 8s", "start: 100s"))
    lanes = page.locator(".lane title")
    expect(lanes.filter(has_text="h1-eth0 sends")).to_contain_text("nothing limits its rate")
    expect(lanes.filter(has_text="s1-eth2 sends")).to_contain_text(
        re.compile("(90|100) % of its rate")
    )
    expect(page.locator(".lane-free")).not_to_have_count(0)
    expect(page.locator(".lane-full")).to_have_count(1)
    # A line of tc that is typed counts as much as a property.
    node(page, "h1").dblclick()
    terminal = page.get_by_label("Terminal of h1").last
    expect(terminal).to_contain_text("h1")
    terminal.click()
    page.keyboard.type("tc qdisc replace dev h1-eth0 root tbf rate 80mbit burst 50k limit 1m\n")
    expect(lanes.filter(has_text="h1-eth0 sends")).to_contain_text("% of its rate")


def test_what_happened_is_listed_with_its_time(studio: Studio, page: Page) -> None:
    begin(studio, page, TWO.replace("time: 3s", "time: 60s").replace("start: 8s", "start: 100s"))
    page.get_by_role("button", name="Hold", exact=True).click()
    page.get_by_label("Link from s1 to h2").click(force=True)
    panel(page, "Properties")
    fill(page, "Rate", "50mbit")
    page.get_by_text("Events (1)").click()
    happened = page.get_by_role("list", name="Events, in order of time")
    expect(happened.get_by_role("listitem")).to_contain_text("s1 - h2: 50 Mbit/s")
    told = re.search(r"[\d.]+", happened.inner_text())
    assert told
    assert abs(float(told[0]) - virtual_s(page)) < 0.01
