"""What a student does: draws Lab 8's network, runs it, tunes the hosts, runs it again."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.studio.browser.acts import add, dock, fill, flow, link, node, panel, run, throughput_gbps

LAB_8 = "10240 87380 16777216"
TUNED = "10240 87380 52428800"


def draw_lab_8(page: Page) -> None:
    """Draw h1 - s1 - s2 - h2, with 10 Gbit/s and 20 ms from s1 to s2."""
    add(page, "Host", 100, 150)
    add(page, "Switch", 300, 150)
    add(page, "Switch", 500, 150)
    add(page, "Host", 700, 150)
    for ends in (("h1", "s1"), ("s1", "s2"), ("h2", "s2")):
        link(page, *ends)
    page.keyboard.press("Escape")
    page.get_by_label("Link from s1 to s2").click(force=True)
    panel(page, "Properties")
    page.get_by_label("Same both ways").uncheck()
    there = page.get_by_role("region", name=re.compile("s1 (to|→) s2"))
    fill(page, "Rate", "10gbit", at=there)
    fill(page, "Delay", "20ms", at=there)
    fill(page, "Queue", "25000000", at=there)
    expect(there).to_contain_text("tc qdisc add dev s1-eth2 parent 1: handle 2: wire rate 10gbit")


def set_buffers(page: Page, host: str) -> None:
    """Give a host the buffers that Lab 8 begins with, in its properties."""
    node(page, host).click()
    for name in ("rmem", "wmem"):
        line = f"sysctl -w net.ipv4.tcp_{name}='{LAB_8}'"
        fill(page, f"New set-up line at {host}", line)


def type_at(page: Page, host: str, names: tuple[str, ...]) -> None:
    """Open a host's terminal and type sysctl lines there."""
    node(page, host).dblclick()
    terminal = page.get_by_label(f"Terminal of {host}").last
    expect(terminal).to_contain_text(host)
    terminal.click()
    for name in names:
        page.keyboard.type(f"sysctl -w {name}='{TUNED}'")
        page.keyboard.press("Enter")
        expect(terminal).to_contain_text(f"{name} = {TUNED}")


def test_lab_8_from_an_empty_page(page: Page) -> None:
    draw_lab_8(page)
    for host in ("h1", "h2"):
        set_buffers(page, host)
    flow(page, "h1", "h2")
    run(page)
    assert 3.1 < throughput_gbps(page) < 3.5
    dock(page, "Flows")
    expect(page.get_by_role("tabpanel", name="Flows")).to_contain_text("The receive window of h2")
    for host in ("h1", "h2"):
        type_at(page, host, ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"))
    run(page)
    assert 9.2 < throughput_gbps(page) < 9.6
