"""The page of packetdrill scripts: create, edit, run, what failed, and changes of others."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.studio.browser.acts import turn_to
from tests.studio.browser.conftest import Studio


def create(page: Page, example: str, path: str) -> None:
    turn_to(page, "packetdrill")
    page.get_by_role("button", name="New script…").click()
    page.get_by_label("Start with").select_option(example)
    page.get_by_label("File in the workspace").fill(path)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name=path)).to_be_visible()


def append(page: Page, text: str) -> None:
    page.locator(".script-editor .cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def report(page: Page) -> Locator:
    return page.get_by_role("region", name="Report")


def test_a_script_is_created_run_and_explained(studio: Studio, page: Page) -> None:
    create(page, "tlp.pkt", "mine.pkt")
    run = page.get_by_role("button", name="▶ Run")
    run.click()
    expect(report(page)).to_contain_text("passed", timeout=60_000)
    packets = page.get_by_role("grid", name="Packets")
    expect(packets.get_by_role("row").filter(has_text="[SYN]")).to_be_visible()
    expect(packets.get_by_role("row").filter(has_text="retransmission")).to_have_count(1)

    append(page, "\n+0 > . 5001:5002(1) ack 7 win 3\n")
    expect(report(page)).to_contain_text("The text has changed since")
    page.keyboard.press("Control+Enter")
    expect(report(page)).to_contain_text("the kernel did not send this packet", timeout=60_000)
    line = report(page).get_by_role("button", name="Line 21")
    line.click()
    expect(page.locator(".script-editor .cm-activeLine")).to_contain_text("5001:5002")
    expect(page.locator(".script-editor .cm-lint-marker-error")).to_have_count(1)
    assert "5001:5002" in (studio.workspace / "mine.pkt").read_text()


def test_a_mistake_is_marked_while_typing(page: Page) -> None:
    create(page, "handshake.pkt", "wrong.pkt")
    append(page, "\n+0 listn(3, 1) = 0\n")
    expect(page.get_by_text("did you mean 'listen'?")).to_be_visible()
    expect(page.locator(".script-editor .cm-lint-marker-error")).to_have_count(1)


def test_a_script_that_does_not_end_is_cancelled(page: Page) -> None:
    create(page, "handshake.pkt", "endless.pkt")
    append(page, "\n+0 `while true; do sleep 1; done`\n")
    page.get_by_role("button", name="▶ Run").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="▶ Run")).to_be_visible()
    expect(report(page)).to_have_count(0)


def test_changes_of_others_are_not_written_over(studio: Studio, page: Page) -> None:
    create(page, "handshake.pkt", "shared.pkt")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    (studio.workspace / "shared.pkt").write_text("// of an editor\n")
    append(page, "// of the page\n")
    alert = page.get_by_role("alert").filter(has_text="another program")
    expect(alert).to_be_visible()
    assert (studio.workspace / "shared.pkt").read_text() == "// of an editor\n"
    alert.get_by_role("button", name="Reload the file").click()
    expect(page.locator(".script-editor .cm-content")).to_contain_text("// of an editor")
    expect(alert).to_have_count(0)


def test_the_open_dialog_has_scripts(studio: Studio, page: Page) -> None:
    (studio.workspace / "old.pkt").write_text("0 socket(..., SOCK_STREAM, 0) = 3\n")
    page.keyboard.press("Control+o")
    page.get_by_role("list", name="Files of the workspace").get_by_text("old.pkt").click()
    expect(page.get_by_role("heading", name="old.pkt")).to_be_visible()
