"""What tests do on the page, in a student's words."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect


def tool(page: Page, name: str) -> None:
    page.get_by_role("toolbar", name="Tools").get_by_role("button", name=name).click()


def add(page: Page, kind: str, x: int, y: int) -> None:
    """Put a node on the canvas."""
    tool(page, kind)
    page.locator(".react-flow__pane").click(position={"x": x, "y": y})


def node(page: Page, name: str) -> Locator:
    return page.locator(f".react-flow__node[data-id='{name}']")


def link(page: Page, first: str, second: str) -> None:
    tool(page, "Link")
    node(page, first).click()
    node(page, second).click()


def flow(page: Page, source: str, target: str) -> None:
    tool(page, "Flow")
    node(page, source).click()
    node(page, target).click()


def fill(page: Page, label: str, text: str, *, at: Locator | None = None) -> None:
    field = (at or page).get_by_label(label, exact=True).first
    field.fill(text)
    field.press("Enter")


def panel(page: Page, name: str) -> None:
    """Show one of the tabs at the right."""
    page.get_by_role("tablist", name="Panel").get_by_role("tab", name=name).click()


def dock(page: Page, name: str) -> None:
    """Show one of the tabs at the bottom."""
    page.get_by_role("tablist", name="Dock").get_by_role("tab", name=name).click()


def turn_to(page: Page, name: str) -> None:
    """Show one of the studio's pages by the bar at the top: others may have a button so named."""
    pages = page.get_by_role("navigation", name="Pages")
    pages.get_by_role("button", name=name, exact=True).click()


def start(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def run(page: Page, *, tool: str = "iperf3") -> None:
    """Press Run and wait until the flow is done."""
    dock(page, "Flows")
    flow_row = page.get_by_role("row", name=re.compile(f"{tool} (running|done|failed)"))
    earlier = flow_row.all_inner_texts()
    start(page)
    dock(page, "Flows")
    if earlier:  # a new run starts at another time
        expect(flow_row).not_to_have_text(earlier[0], use_inner_text=True)
    expect(flow_row).to_contain_text("done")
    dock(page, "Charts")


def throughput_gbps(page: Page) -> float:
    """Return the mean throughput of the first flow, as it stands beside the chart."""
    values = page.get_by_role("group", name="Throughput: values").locator("tbody tr").first
    found = re.search(r"([\d.]+) Gbit/s\s*$", values.inner_text())
    assert found, values.inner_text()
    return float(found[1])


def open_file(page: Page, name: str) -> None:
    """Open a file of the workspace."""
    page.get_by_role("button", name="File", exact=True).click()
    page.get_by_role("menuitem", name="Open").click()
    page.get_by_role("list", name="Files of the workspace").get_by_text(name).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def write_yaml(page: Page, text: str) -> None:
    """Put another text in place of a study's."""
    panel(page, "YAML")
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def virtual_s(page: Page) -> float:
    """Return the virtual time that the clock shows."""
    return float(page.get_by_label("Virtual time", exact=True).inner_text().split()[0])


def open_packets(page: Page, run_folder: Path) -> None:
    """Show a run's packets."""
    turn_to(page, "Runs")
    page.get_by_role("checkbox", name=re.compile(run_folder.name.split("-")[0])).check()
    page.get_by_role("button", name="Timeline").click()
    dock(page, "Packets")


def hover_chart(page: Page, charts: Locator, share: float) -> None:
    """Put the pointer at a share of the throughput chart's width."""
    over = charts.get_by_role("region", name="Throughput", exact=True).locator(".u-over")
    box = over.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
