"""No view of the page has what axe-core takes for a barrier, in the light and in the dark."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.paths import TESTS
from tests.studio.browser.acts import dock, node, open_file, panel, run, turn_to, write_yaml
from tests.studio.browser.conftest import Studio

AXE = TESTS.parent / "web/node_modules/axe-core/axe.min.js"

STUDY = """\
title: A window that is too small
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 100mbit, delay: 20ms, queue: 500KB}]]
setup:
  - h2: sysctl -w net.ipv4.tcp_rmem='4096 65536 131072'
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
cases: {one: , two: {flows: {bulk: {time: 1s}}}}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""


def violations(page: Page) -> list[str]:
    """Return what axe-core finds wrong with the page as it is now.

    The two themes differ in colours alone, so the dark one is examined for contrast alone.
    """
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = []
    for theme, rules in (("dark", "{runOnly: ['color-contrast']}"), ("light", "{}")):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.wait_for_timeout(300)  # colours fade in
        wrong: list[dict[str, Any]] = page.evaluate(
            f"async () => (await axe.run({rules})).violations"
        )
        found += [
            f"{theme}: {one['id']} ({one['impact']}): {node['target']}"
            f" {json.dumps(node['html'])[:120]}"
            for one in wrong
            for node in one["nodes"]
        ]
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_view_has_a_violation(  # noqa: PLR0915  # one walk through all views
    studio: Studio, page: Page
) -> None:
    found: dict[str, list[str]] = {}
    found["an empty page"] = violations(page)
    (studio.workspace / "study.yaml").write_text(STUDY)
    open_file(page, "study.yaml")
    page.get_by_label("Link from s1 to h2").click(force=True)
    found["a link's properties"] = violations(page)
    panel(page, "YAML")
    write_yaml(page, STUDY.replace("100mbit", "100mbot"))
    expect(page.get_by_role("region", name="Problems")).to_contain_text("100mbot")
    found["a text with a problem"] = violations(page)
    write_yaml(page, STUDY)
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    run(page)
    found["charts"] = violations(page)
    page.get_by_role("slider", name="Displayed time").press("PageDown")
    expect(page.get_by_role("region", name="Flows at the displayed time")).to_be_visible()
    found["a moment"] = violations(page)
    dock(page, "Flows")
    found["flows"] = violations(page)
    dock(page, "Messages")
    found["messages"] = violations(page)
    node(page, "h1").dblclick()
    expect(page.get_by_label("Terminal of h1").last).to_contain_text("h1")
    found["a terminal"] = violations(page)
    panel(page, "Results")
    page.get_by_role("button", name=re.compile("^Run all")).click()
    expect(page.get_by_role("link", name=re.compile("report"))).to_be_visible(timeout=120_000)
    found["results"] = violations(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keyboard shortcuts", exact=True).click()
    found["a dialog"] = violations(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="File", exact=True).click()
    page.get_by_role("menuitem", name="Closed networks").click()
    found["closed networks"] = violations(page)
    page.keyboard.press("Escape")
    turn_to(page, "Runs")
    page.get_by_role("checkbox").first.check()
    expect(page.locator("canvas").first).to_be_visible()
    found["runs"] = violations(page)
    turn_to(page, "Labs")
    expect(page.get_by_role("heading", name="Labs")).to_be_visible()
    found["labs"] = violations(page)
    page.get_by_role("region", name="Labs").get_by_text("Bandwidth-delay product").click()
    expect(page.get_by_role("article", name="Lab")).to_contain_text("Bandwidth-delay product")
    found["a lab"] = violations(page)
    page.get_by_role("button", name="Full width").click()
    expect(page.get_by_role("navigation", name="Contents")).to_be_visible()
    found["a lab across the page"] = violations(page)
    wrong = [f"{view}: {one}" for view, all_of_it in found.items() for one in all_of_it]
    assert not wrong, "\n".join(wrong)
