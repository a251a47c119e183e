"""A network that runs: MiniEdit's file, the clock, links, reloads, and what must not get in."""

from __future__ import annotations

import re
import shutil

from playwright.sync_api import Browser, Page, expect

from tests.paths import TESTS
from tests.studio.browser.acts import (
    dock,
    fill,
    flow,
    node,
    open_file,
    panel,
    run,
    start,
    virtual_s,
    write_yaml,
)
from tests.studio.browser.conftest import Studio

DATA = TESTS / "data"

STUDY = """\
title: A bottleneck
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}   # both ends
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 20mbit, delay: 10ms, queue: 500KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 600s}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""


def test_a_miniedit_file_opens_and_runs(studio: Studio, page: Page) -> None:
    shutil.copy(DATA / "miniedit" / "dumbbell.mn", studio.workspace)
    open_file(page, "dumbbell.mn")
    expect(node(page, "s1")).to_be_visible()
    expect(page.locator(".react-flow__node .node-host")).to_have_count(3)
    flow(page, "h1", "h2")
    panel(page, "Properties")
    fill(page, "Time", "2s")
    run(page)
    expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("bit/s")


def begin(studio: Studio, page: Page, text: str = STUDY) -> None:
    (studio.workspace / "study.yaml").write_text(text)
    open_file(page, "study.yaml")
    start(page)
    expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("Mbit/s")


def queue_shown(page: Page) -> str:
    return page.get_by_role("group", name="Queue: values").inner_text()


def test_held_the_queue_stands_still_and_steps_move_it(studio: Studio, page: Page) -> None:
    begin(studio, page)
    page.get_by_role("button", name="Hold", exact=True).click()
    clock = page.get_by_role("region", name="Clock bar")
    expect(clock).to_contain_text("held")
    held_s, queue = virtual_s(page), queue_shown(page)
    assert "MB" in queue or "KB" in queue or "kB" in queue
    page.wait_for_timeout(1500)
    assert (virtual_s(page), queue_shown(page)) == (held_s, queue)
    for name, step_s in (("1 ms", 0.001), ("10 ms", 0.01), ("100 ms", 0.1), ("1 s", 1.0)):
        before_s = virtual_s(page)
        page.get_by_role("button", name=f"Step {name}", exact=True).click()
        page.wait_for_function(
            "before => parseFloat(document.querySelector('[aria-label=\"Virtual time\"]')"
            ".textContent) > before + 1e-9",
            arg=before_s,
        )
        expect(clock).to_contain_text("held")
        assert abs(virtual_s(page) - before_s - step_s) < 0.0011  # it shows milliseconds
    # A link that is changed now is another one from now on.
    page.get_by_label("Link from s1 to h2").click(force=True)
    panel(page, "Properties")
    fill(page, "Rate", "5mbit")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.get_by_role("group", name="Throughput: values")).to_contain_text(
        re.compile(r"bulk\s*(4|5)\.\d+ Mbit/s")
    )


def test_a_reload_in_the_middle_goes_on_with_the_same_run(studio: Studio, page: Page) -> None:
    begin(studio, page)
    before_s = virtual_s(page)
    page.reload()
    expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("Mbit/s")
    expect(page.get_by_role("region", name="Clock bar")).to_contain_text("running")
    assert virtual_s(page) > before_s
    page.get_by_role("button", name="Stop flows").click()
    dock(page, "Flows")
    expect(page.get_by_role("tabpanel", name="Flows")).to_contain_text("stopped before its end")


def test_comments_survive_what_is_drawn(studio: Studio, page: Page) -> None:
    (studio.workspace / "study.yaml").write_text(STUDY)
    open_file(page, "study.yaml")
    node(page, "h2").click()
    panel(page, "Properties")
    fill(page, "Name", "server")
    page.keyboard.press("Control+s")
    expect(page.get_by_label("unsaved")).to_have_count(0)
    text = (studio.workspace / "study.yaml").read_text()
    assert "server: 10.0.0.2/8}   # both ends" in text
    assert "[s1, server, {rate: 20mbit, delay: 10ms, queue: 500KB}]" in text
    assert "bulk: {iperf3: h1 -> server, time: 600s}" in text


def test_without_the_token_there_is_nothing(studio: Studio, page: Page, browser: Browser) -> None:
    begin(studio, page)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    stranger = context.new_page()
    bare = studio.url.split("/?")[0]
    for path in ("/", "/api/state", "/api/files", "/assets/index.js"):
        answer = stranger.goto(bare + path)
        assert answer is not None
        assert answer.status == 403
        assert "longfat studio" in answer.text()
    said = stranger.evaluate(
        """url => new Promise(done => {
            const socket = new WebSocket(url);
            socket.onopen = () => done("open");
            socket.onerror = () => done("refused");
        })""",
        bare.replace("http", "ws") + "/ws/jobs",
    )
    assert said == "refused"
    context.close()


def test_what_is_wrong_is_said_where_it_is_wrong(studio: Studio, page: Page) -> None:
    begin(studio, page)
    problems = page.get_by_role("region", name="Problems")
    for text, words in (
        (STUDY.replace("20mbit", "64tbit"), "8bit to 1tbit"),
        (STUDY.replace("[h1, s1]", "[h1, h1]"), "h1"),
        (STUDY.replace("h2: 10", "h1: 10"), "h1"),
        (STUDY.replace("[[h1", "[[[h1"), "line"),
        (STUDY.replace("title: A", 'kernel: "5.4"\ntitle: A'), ""),
    ):
        write_yaml(page, text)
        if words:
            expect(problems).to_contain_text(words)
    # The kernel is missed when it is needed.
    expect(problems.get_by_role("listitem")).to_have_count(0)
    page.get_by_role("button", name="Restart the network").click()
    expect(page.get_by_role("region", name="Clock bar")).to_contain_text("5.4")
    write_yaml(page, STUDY)
    start(page)
    expect(page.get_by_role("group", name="Throughput: values")).to_contain_text("Mbit/s")
