"""One Run: what is drawn is what runs, nothing ends unasked, and the answer comes first."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.studio.browser.acts import dock, open_file, panel, run, start, write_yaml
from tests.studio.browser.conftest import Studio
from tests.studio.browser.networks import star

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
  bulk: {iperf3: h1 -> h2, time: 3s}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""


def begin(studio: Studio, page: Page, text: str = STUDY) -> None:
    (studio.workspace / "study.yaml").write_text(text)
    open_file(page, "study.yaml")
    run(page)


def test_the_answer_comes_first_and_its_fix_is_tried(studio: Studio, page: Page) -> None:
    begin(studio, page)
    answer = page.get_by_role("region", name="Result")
    got = re.compile(r"bulk got [\d.]+ Mbit/s of 100 Mbit/s\. Cause: receive window\.")
    expect(answer).to_contain_text(got)
    expect(answer).to_contain_text("Measured live")
    answer.get_by_role("button", name="Why?").click()
    expect(page.get_by_role("tabpanel", name="Flows")).to_contain_text("The receive window of h2")
    dock(page, "Charts")
    answer.get_by_role("button", name="Try the fix").click()
    expect(answer).to_contain_text(re.compile(r"bulk got [89][\d.]+ Mbit/s of 100 Mbit/s"))
    expect(answer).to_contain_text("changed by hand before")
    dock(page, "Flows")
    flows = page.get_by_role("tabpanel", name="Flows")
    expect(flows).to_contain_text("1 run before it")


def test_run_asks_once_and_then_plays_what_is_drawn(studio: Studio, page: Page) -> None:
    begin(studio, page)
    write_yaml(page, STUDY.replace("10.0.0.2/8", "10.0.0.9/8"))
    start(page)
    question = page.get_by_role("dialog", name="Restart the network and run?")
    expect(question).to_contain_text("h2")
    question.get_by_role("button", name="Cancel").click()
    dock(page, "Flows")
    flows = page.get_by_role("tabpanel", name="Flows")
    expect(flows).to_contain_text("iperf3 -c 10.0.0.2 ")
    start(page)
    question.get_by_role("button", name="Restart and run").click()
    expect(flows).to_contain_text("iperf3 -c 10.0.0.9 ")
    expect(page.get_by_role("row", name=re.compile("iperf3 done"))).to_be_visible()


def test_nothing_of_a_session_ends_unasked(studio: Studio, page: Page) -> None:
    begin(studio, page)
    page.get_by_role("button", name="End the session").click()
    question = page.get_by_role("dialog", name="End the session of")
    expect(question).to_contain_text("1 run")
    question.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("region", name="Result")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Close ")).click()
    expect(question).to_be_visible()
    question.get_by_role("button", name="End the session").click()
    expect(page.get_by_role("region", name="Result")).to_have_count(0)


def test_a_field_of_the_study_is_set_there_and_not_typed(studio: Studio, page: Page) -> None:
    lossy = STUDY.replace("queue: 500KB", "queue: 500KB, loss: 1%").replace("setup:", "#setup:")
    begin(studio, page, lossy.replace("  - h2: sysctl", "#  - h2: sysctl"))
    dock(page, "Flows")
    flows = page.get_by_role("tabpanel", name="Flows")
    expect(flows).not_to_contain_text("# study")
    flows.get_by_role("button", name=re.compile("^Set parallel: ")).click()
    panel(page, "YAML")
    expect(page.locator(".cm-content")).to_contain_text(re.compile(r"time: 3s, parallel: \d+"))


def test_a_typed_ping_is_a_curve(studio: Studio, page: Page) -> None:
    (studio.workspace / "study.yaml").write_text(STUDY)
    open_file(page, "study.yaml")
    page.locator(".react-flow__node[data-id='h1']").dblclick()
    terminal = page.get_by_label("Terminal of h1").last
    expect(terminal).to_contain_text("h1")
    terminal.click()
    page.keyboard.type("ping -c 3 -i 0.2 h2\n")
    expect(terminal).to_contain_text("min/avg/max/mdev")
    dock(page, "Charts")
    expect(page.get_by_role("group", name="Round-trip time: values")).to_contain_text("ping h1")


def test_two_hundred_hosts_are_drawn_and_run(studio: Studio, page: Page) -> None:
    (studio.workspace / "study.yaml").write_text(star(200, flow_s=2))
    open_file(page, "study.yaml")
    expect(page.locator(".react-flow__node")).to_have_count(210)
    start(page)
    dock(page, "Flows")
    done = page.get_by_role("row", name=re.compile("iperf3 done"))
    expect(done).to_have_count(10, timeout=180_000)
    dock(page, "Charts")
    legend = page.get_by_role("group", name="Throughput: values")
    expect(legend.locator("tbody tr").first).to_contain_text(re.compile("[1-9].*bit/s"))
