"""Drawing by mouse and keyboard: areas, several links, ends of links, lines, notes, pictures."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from longfat.study.templates import practice_networks
from tests.studio.browser.acts import add, fill, flow, link, node, open_file, panel, run, tool
from tests.studio.browser.conftest import Studio

STUDY = """\
title: A dumbbell
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8, h4: 10.0.0.4/8}
  switches: [s1, s2]
  links: [[h1, s1], [h2, s1], [s1, s2, {rate: 1gbit, delay: 20ms}], [s2, h3], [s2, h4]]
flows:
  bulk: {iperf3: h1 -> h3, time: 2s}
layout: {h1: [60, 60], h2: [60, 260], s1: [260, 160], s2: [460, 160], h3: [660, 60], h4: [660, 260]}
"""


@pytest.fixture
def drawn(studio: Studio, page: Page) -> Page:
    (studio.workspace / "bell.yaml").write_text(STUDY)
    open_file(page, "bell.yaml")
    expect(node(page, "h4")).to_be_visible()
    return page


def yaml(page: Page) -> str:
    """Return the study's text as the editor has it."""
    panel(page, "YAML")
    text = page.locator(".cm-content").inner_text()
    panel(page, "Properties")
    return text


def middle(page: Page, name: str) -> tuple[float, float]:
    box = node(page, name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def area(page: Page, *names: str) -> None:
    """Drag over the area of some nodes."""
    places = [middle(page, name) for name in names]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    drag(page, (min(xs) - 45, min(ys) - 45), (max(xs) + 45, max(ys) + 45))


def test_an_area_is_selected_copied_and_pasted(drawn: Page) -> None:
    area(drawn, "h1", "h2")
    heading = drawn.get_by_role("heading", level=2, name=re.compile("2 nodes"))
    expect(heading).to_be_visible()
    drawn.keyboard.press("Control+c")
    drawn.keyboard.press("Control+v")
    expect(node(drawn, "h5")).to_be_visible()
    expect(node(drawn, "h6")).to_be_visible()
    assert "h5: 10.0.0.5/8" in yaml(drawn)


def test_shift_adds_an_area_to_what_is_selected(drawn: Page) -> None:
    area(drawn, "h1", "h2")
    drawn.keyboard.down("Shift")
    area(drawn, "h3", "h4")
    drawn.keyboard.up("Shift")
    expect(drawn.get_by_role("heading", level=2, name=re.compile("4 nodes"))).to_be_visible()


def test_the_right_button_moves_the_canvas_and_opens_the_menu(drawn: Page) -> None:
    before = middle(drawn, "h1")
    drawn.mouse.move(before[0] + 80, before[1] + 100)
    drawn.mouse.down(button="right")
    drawn.mouse.move(before[0] + 140, before[1] + 120, steps=4)
    drawn.mouse.up(button="right")
    after = middle(drawn, "h1")
    assert after[0] - before[0] == pytest.approx(60, abs=8)
    expect(drawn.get_by_role("menu", name="Actions")).to_have_count(0)
    drawn.mouse.click(before[0] + 140, before[1] + 120, button="right")
    expect(drawn.get_by_role("menuitem", name="Note here")).to_be_visible()


def test_several_links_are_edited_at_once(drawn: Page) -> None:
    fields = drawn.get_by_role("region", name="Properties of the links")
    drawn.get_by_label(re.compile("^Link from h1 to s1")).click(force=True)
    drawn.get_by_label(re.compile("^Link from h2 to s1")).click(force=True, modifiers=["Shift"])
    fields.get_by_label("Delay", exact=True).fill("5ms")
    fields.get_by_label("Rate", exact=True).fill("100mbit")
    text = yaml(drawn)
    assert text.count("{delay: 5ms, rate: 100mbit}") == 2
    assert "{rate: 1gbit, delay: 20ms}" in text


def test_a_shift_click_that_moves_by_a_pixel_adds_a_link(drawn: Page) -> None:
    drawn.get_by_label(re.compile("^Link from h1 to s1")).click(force=True)
    box = drawn.get_by_label(re.compile("^Link from h2 to s1")).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drawn.keyboard.down("Shift")
    drawn.mouse.move(x, y)
    drawn.mouse.down()
    drawn.mouse.move(x + 1, y)
    drawn.mouse.up()
    drawn.keyboard.up("Shift")
    expect(drawn.get_by_role("region", name="Properties of the links")).to_be_visible()


def test_an_end_of_a_link_is_dragged_to_another_node(drawn: Page) -> None:
    drawn.get_by_label(re.compile("^Link from h1 to s1")).click(force=True)
    grip = drawn.locator(".link-grip[data-end='s1']").bounding_box()
    assert grip is not None
    start = (grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    drag(drawn, start, middle(drawn, "s2"))
    expect(drawn.get_by_label(re.compile("^Link from h1 to s2"))).to_have_count(1)
    assert "[h1, s2]" in yaml(drawn)
    # And by keyboard, in the panel.
    drawn.get_by_role("region", name="Ends").get_by_label("To", exact=True).select_option("s1")
    assert "[h1, s1]" in yaml(drawn)


def test_nodes_are_lined_up_and_spread(drawn: Page) -> None:
    area(drawn, "h1", "h2")
    arrange = drawn.get_by_role("region", name="Arrange")
    arrange.get_by_role("button", name="Align tops").click()
    assert middle(drawn, "h1")[1] == pytest.approx(middle(drawn, "h2")[1], abs=1)
    drawn.keyboard.press("Control+z")
    expect(drawn.get_by_role("button", name="Undo")).to_be_disabled()
    # A node that is dragged near the line of another one is pulled onto it, and the line shown.
    x, y = middle(drawn, "h1")
    target = middle(drawn, "s1")
    drawn.mouse.move(x, y)
    drawn.mouse.down()
    drawn.mouse.move(x + 1, y + 1)
    drawn.mouse.move(x + 30, target[1] + 3, steps=4)
    expect(drawn.locator(".guide")).not_to_have_count(0)
    drawn.mouse.up()
    expect(drawn.locator(".guide")).to_have_count(0)
    assert middle(drawn, "h1")[1] == pytest.approx(target[1], abs=1)


def test_notes_groups_and_colours_are_drawn(drawn: Page) -> None:
    tool(drawn, "Note")
    box = drawn.locator(".react-flow__pane").bounding_box()
    assert box is not None
    drawn.mouse.click(box["x"] + box["width"] / 2, box["y"] + 40)
    words = drawn.get_by_label("Text of the note")
    words.fill("the bottleneck\nis here")
    words.press("Escape")
    note = drawn.get_by_role("button", name=re.compile("^Note: the bottleneck"))
    expect(note).to_be_visible()
    area(drawn, "h1", "h2")
    drawn.get_by_role("group", name="Colour").get_by_role("button", name="blue").click()
    drawn.get_by_role("button", name="Group", exact=True).click()
    fill(drawn, "Name", "Site A", at=drawn.get_by_role("region", name="Group", exact=True))
    expect(drawn.get_by_role("button", name=re.compile("^Group Site A: h1, h2"))).to_be_visible()
    text = yaml(drawn)
    assert "colours:" in text
    assert "name: Site A" in text
    assert 'text: "the bottleneck\\nis here"' in text
    expect(drawn.get_by_role("region", name="Problems").get_by_role("button")).to_have_count(0)
    # What is deleted takes its colour with it, and leaves its group.
    node(drawn, "h1").click()
    drawn.keyboard.press("Delete")
    expect(drawn.get_by_role("button", name=re.compile("^Group Site A: h2$"))).to_be_visible()
    assert "h1: blue" not in yaml(drawn)


def test_enter_acts_on_the_canvas_once_a_tool_is_chosen(page: Page) -> None:
    tool(page, "Host")
    page.keyboard.press("Enter")
    expect(node(page, "h1")).to_be_visible()
    page.get_by_role("button", name="Fit").focus()
    page.keyboard.press("s")
    page.keyboard.press("Enter")
    expect(node(page, "s1")).to_be_visible()


def test_a_flow_that_becomes_a_ping_is_named_so(page: Page) -> None:
    add(page, "Host", 150, 150)
    add(page, "Host", 350, 150)
    link(page, "h1", "h2")
    flow(page, "h1", "h2")
    flow(page, "h1", "h2")
    page.get_by_label("Tool", exact=True).select_option("ping")
    expect(page.get_by_role("heading", name="Flow ping")).to_be_visible()
    text = yaml(page)
    assert "ping: {ping: h1 -> h2}" in text
    assert "bulk2" not in text


def test_a_delay_tells_rtt_and_bdp(drawn: Page) -> None:
    drawn.get_by_label(re.compile("^Link from s1 to s2")).click(force=True)
    each_way = drawn.get_by_role("region", name="Each way")
    expect(each_way).to_contain_text("RTT 40.0 ms; BDP 4.77 MB")


def test_the_drawing_is_saved_as_svg_and_png(drawn: Page, tmp_path: Path) -> None:
    for name in ("SVG", "PNG"):
        with drawn.expect_download() as started:
            drawn.get_by_role("button", name=f"Drawing as {name}").click()
        started.value.save_as(tmp_path / f"bell.{name.lower()}")
    root = ElementTree.parse(tmp_path / "bell.svg").getroot()
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"h1", "h4", "s1", "bulk", "1 Gbit/s · 20 ms"} <= set(texts)
    png = (tmp_path / "bell.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") > 600


def test_a_template_is_made_with_its_parameters(page: Page) -> None:
    page.get_by_role("button", name="File", exact=True).click()
    page.get_by_role("menuitem", name="New from a template…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name=re.compile("^Parking lot")).check()
    dialog.get_by_label("Hops").fill("many")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("'many' is not a whole number")
    dialog.get_by_label("Hops").fill("2")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_have_count(0)
    expect(node(page, "s3")).to_be_visible()
    assert "longfat new parking-lot" in yaml(page)


def test_a_network_of_practice_is_made_with_its_question(page: Page) -> None:
    page.get_by_role("button", name="File", exact=True).click()
    page.get_by_role("menuitem", name="New from a template…").click()
    dialog = page.get_by_role("dialog")
    practice = dialog.get_by_role("group", name="Networks of practice")
    expect(practice.get_by_role("radio")).to_have_count(len(practice_networks()))
    practice.get_by_role("radio", name=re.compile("what does a timeout cost")).check()
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_have_count(0)
    expect(node(page, "tor")).to_be_visible()
    assert "title: Fifteen answers at once" in yaml(page)


LISTS = """\
title: Lists
network:
  hosts: [h1, h2]   # ends
  routers:
    - r1
  switches: [s1]
  links: [[h1, s1], [r1, s1], [r1, h2]]
"""


def test_a_study_without_addresses_is_drawn_and_runs(studio: Studio, page: Page) -> None:
    (studio.workspace / "lists.yaml").write_text(LISTS)
    open_file(page, "lists.yaml")
    page.get_by_role("button", name="Interfaces and addresses").click()
    expect(node(page, "h1")).to_contain_text("10.0.1.1/24")
    expect(node(page, "h2")).to_contain_text("10.0.2.1/24")
    expect(node(page, "r1")).to_contain_text("10.0.1.254/24")
    expect(page.locator(".end-label", has_text="10.0.2.254/24")).to_be_visible()
    start = middle(page, "h2")
    drag(page, start, (start[0] + 40, start[1] + 120))
    place = middle(page, "s1")
    pane = page.locator(".react-flow__pane").bounding_box()
    assert pane is not None
    add(page, "Host", int(place[0] - pane["x"]), int(place[1] - pane["y"] + 140))
    link(page, "h3", "s1")
    expect(node(page, "h3")).to_contain_text("10.0.1.2/24")
    tool(page, "Select")
    node(page, "h3").click()
    expect(page.get_by_label("Address", exact=True)).to_have_attribute("placeholder", "10.0.1.2/24")
    routes = page.get_by_role("region", name="Routes", exact=True)
    expect(routes).to_contain_text("Automatic: default via 10.0.1.254")
    text = yaml(page)
    assert "hosts: [h1, h2, h3]   # ends\n  routers:\n    - r1\n" in text
    assert "10.0." not in text
    flow(page, "h3", "h2")
    page.get_by_label("Tool", exact=True).select_option("ping")
    run(page, tool="ping")
    panel(page, "YAML")
    expect(page.locator(".cm-content")).to_contain_text("ping: h3 -> h2")
    expect(page.locator(".cm-content")).not_to_contain_text("10.0.")


def test_a_drawing_with_a_router_has_no_addresses_in_its_text(page: Page) -> None:
    page.get_by_role("button", name="Interfaces and addresses").click()
    for kind, x in (("Host", 120), ("Router", 330), ("Host", 540)):
        add(page, kind, x, 160)
    link(page, "h1", "r1")
    link(page, "r1", "h2")
    expect(node(page, "h2")).to_contain_text("10.0.2.1/24")
    expect(page.get_by_role("region", name="Problems")).not_to_contain_text("cannot reach")
    text = yaml(page)
    assert "hosts: [h1, h2]\n  routers: [r1]\n" in text
    assert "10.0." not in text
    # A property of one host makes a mapping of the list.
    tool(page, "Select")
    node(page, "h1").click()
    fill(page, "Address", "10.7.0.9/24")
    expect(node(page, "r1")).to_contain_text("10.7.0.254/24")
    assert "hosts: {h1: 10.7.0.9/24, h2: }\n  routers: [r1]\n" in yaml(page)
    page.get_by_role("button", name="Undo").click()
    expect(node(page, "h1")).to_contain_text("10.0.1.1/24")
    assert "hosts: [h1, h2]\n" in yaml(page)
