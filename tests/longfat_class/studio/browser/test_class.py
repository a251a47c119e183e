"""A class in browsers: who waits for a machine is told so, and the teacher sees who is where."""

from __future__ import annotations

import csv
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.command import Command
from tests.studio.browser.acts import add, node, open_file
from tests.studio.browser.test_narrow import STUDY, fits


class Class:
    """A studio that serves a class of two, who share one machine."""

    def __init__(self, folder: Path, *, port: str = "0") -> None:
        self.root = folder / "course"
        roster = folder / "roster.csv"
        roster.write_text("folder,name\nalice,Alice Adams\nbob,Bob Brown\n")
        for name in ("alice", "bob"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
            (self.root / name / "study.yaml").write_text(STUDY)
        self._process = Command(
            *(
                *("longfat", "studio", "--class", str(roster), "--workspace", str(self.root)),
                *("--no-browser", "--port", port, "--limits", "machines=1, each=1"),
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        out, errors = self._process.stdout, self._process.stderr
        assert out is not None
        assert errors is not None
        rows = csv.DictReader([out.readline() for _ in range(3)])
        self.links = {row["folder"]: row["link"] for row in rows}
        found = re.search(r"http://\S+", errors.readline() + errors.readline())
        assert found
        self.teacher = found[0]

    def end(self) -> None:
        self._end(signal.SIGTERM, status=0)

    def kill(self) -> None:
        self._end(signal.SIGKILL, status=-signal.SIGKILL)

    def _end(self, number: signal.Signals, *, status: int) -> None:
        self._process.send_signal(number)
        assert self._process.wait(30) == status
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Class]:
    group = Class(tmp_path)
    yield group
    group.end()


def page_of(browser: Browser, url: str, *, width: int = 1280) -> Page:
    """Open a link in a browser of its own."""
    context = browser.new_context(viewport={"width": width, "height": 800}, locale="en-US")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(url)
    return page


def test_who_waits_for_a_machine_is_notified_and_gets_it(group: Class, browser: Browser) -> None:
    alice, bob = (page_of(browser, group.links[name]) for name in ("alice", "bob"))
    for page in (alice, bob):
        open_file(page, "study.yaml")
    alice.get_by_role("button", name="Run", exact=True).click()
    expect(alice.get_by_role("button", name="End the session")).to_be_enabled()
    bob.get_by_role("button", name="Run", exact=True).click()
    waits = bob.get_by_text("Waiting for a machine: 1 run, as many as there may be")
    expect(waits).to_be_visible()
    teacher = page_of(browser, group.teacher)
    row = teacher.get_by_role("row").filter(has_text="Bob Brown")
    expect(row).to_contain_text("waits for 1")
    alice.get_by_role("button", name="End the session").click()
    alice.get_by_role("dialog").get_by_role("button", name="End the session").click()
    expect(bob.get_by_role("button", name="End the session")).to_be_enabled()
    expect(waits).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 390])
def test_the_teacher_sees_how_far_everybody_is(group: Class, browser: Browser, width: int) -> None:
    bob = page_of(browser, group.links["bob"])
    put = """fetch("/api/labs/lab03/progress", {method: "PUT", body: JSON.stringify(
        {steps: {a: {good: [], status: 0, done: true}}, step_count: 15, claims: {x: true}})})"""
    assert bob.evaluate(f"{put}.then((answer) => answer.status)") == 200
    teacher = page_of(browser, group.teacher, width=width)
    row = teacher.get_by_role("row").filter(has_text="Bob Brown")
    expect(row).to_contain_text(re.compile(r"lab03:\s+1 of 15 steps"))
    expect(teacher.get_by_role("row").filter(has_text="Alice")).to_contain_text("not yet")
    assert fits(teacher)
    link = row.get_by_role("link", name="bob's link").get_attribute("href")
    assert link == group.links["bob"]


def test_a_student_gets_a_new_link_without_scripts(group: Class, browser: Browser) -> None:
    alice, bob = (page_of(browser, group.links[name]) for name in ("alice", "bob"))
    for page in (alice, bob):
        open_file(page, "study.yaml")
    context = browser.new_context(java_script_enabled=False, locale="en-US")
    teacher = context.new_page()
    teacher.goto(group.teacher)
    row = teacher.get_by_role("row").filter(has_text="Alice Adams")
    row.get_by_role("link", name="New link… for Alice Adams").click()
    expect(teacher.get_by_role("heading", name="A new link for Alice Adams?")).to_be_visible()
    teacher.get_by_role("button", name="Make a new link").click()
    message = teacher.get_by_role("status")
    expect(message).to_contain_text("Alice Adams has a new link.")
    new = message.locator("code").inner_text()
    assert new != group.links["alice"]
    expect(alice.get_by_role("alert")).to_contain_text("This browser is not logged in any more")
    expect(bob.get_by_role("alert")).to_have_count(0)
    # What she draws meanwhile is there when she has opened the new link, also in this tab.
    add(alice, "Host", 300, 60)
    again = alice.context.new_page()
    again.goto(group.links["alice"])
    expect(again.get_by_role("heading", name="This browser is not logged in")).to_be_visible()
    again.goto(new)
    expect(node(again, "h3")).to_be_visible()
    expect(alice.get_by_role("alert")).to_have_count(0)
    teacher.get_by_role("link", name="Back to the class").click()
    teacher.get_by_role("button", name="Log out", exact=True).click()
    expect(teacher.get_by_role("heading", name="You are logged out")).to_be_visible()
    teacher.go_back()
    teacher.reload()
    expect(teacher.get_by_role("heading", name="This browser is not logged in")).to_be_visible()
