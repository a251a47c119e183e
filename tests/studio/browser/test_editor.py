"""The editor: all mistakes at once, completion from the schema, and a repair of the network."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.studio.browser.acts import flow, node, panel, write_yaml

MISTAKES = """\
title: Mistakes
network:
  hosts: {h1: 10.0.0.1, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: fast}]]
flows:
  bulk: {iperf3: h1 -> h9}
"""


def test_all_mistakes_are_listed_and_marked(page: Page) -> None:
    write_yaml(page, MISTAKES)
    problems = page.get_by_role("region", name="Problems")
    expect(problems.get_by_role("heading", name="3 problems")).to_be_visible()
    for line, words in ((3, "prefix length"), (4, "'fast' is not a rate"), (6, "'h9'")):
        expect(problems.get_by_role("button", name=f"line {line}")).to_contain_text(words)
    expect(page.locator(".cm-lintRange-error")).to_have_count(3)
    problems.get_by_role("button", name="line 6").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("bulk:")


def test_keys_words_and_names_are_completed(page: Page) -> None:
    write_yaml(page, MISTAKES.replace("h9", "h2").replace("10.0.0.1,", "10.0.0.1/8,"))
    page.keyboard.press("Control+End")
    page.keyboard.type("prob")
    options = page.get_by_role("listbox", name="Completions").get_by_role("option")
    expect(options).to_have_text(["probes"])
    expect(page.locator(".cm-completionInfo")).to_contain_text("what is sampled meanwhile")
    page.wait_for_timeout(300)  # the editor takes no answer in the first moment
    page.keyboard.press("Enter")
    expect(page.locator(".cm-content")).to_contain_text("probes:")
    page.keyboard.type("{tcp: {of: ")
    page.keyboard.press("Control+Space")
    expect(options.filter(has_text="h1-eth0")).to_be_visible()
    expect(options.filter(has_text="bulk")).to_be_visible()


UNCROSSED = """\
title: typed
network:
  hosts: {h1: 10.0.0.1/8, r1: {forwards: yes}, h2: 10.0.0.2/8}
  links: [[h1, r1], [r1, h2]]
"""


def test_a_network_that_cannot_be_crossed_is_set_right_by_one_click(page: Page) -> None:
    write_yaml(page, UNCROSSED)
    problems = page.get_by_role("region", name="Problems")
    expect(problems).to_contain_text("h1 cannot reach h2")
    flow(page, "h1", "h2")
    expect(problems).to_contain_text("the flow 'bulk' cannot pass")
    problems.get_by_role("button", name="Fix addresses and routes").click()
    expect(problems.get_by_role("button")).to_have_count(0)
    expect(node(page, "r1")).to_be_visible()
    panel(page, "YAML")
    expect(page.locator(".cm-content")).to_contain_text("h1: 10.0.1.1/24")
    page.get_by_role("button", name="Undo").click()
    expect(problems).to_contain_text("the flow 'bulk' cannot pass")
