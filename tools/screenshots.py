"""Draw the pictures of the studio in docs/images, as a person would get to them.

`make screenshots` starts `longfat studio` over a folder of its own, drives the
page with the same acts as the browser's tests, and writes one PNG for each of
the main screens. Nothing in them tells when, where or by whom they were made:
files have a fixed date, and live networks are held at a fixed moment.

Run as `python -m tools.screenshots [NAME...]` from the top of the repository.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect

from longfat.studio.state import VARIABLE
from tests.browser import open_browser
from tests.studio.browser import acts
from tests.studio.browser.conftest import Studio

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH = 1280
COLOURS = 255
MAX_BYTES = 150_000

# 1 January 2026, noon: what files and runs are dated.
DATE_S = 1_767_268_800

BOTTLENECK = """\
# Two flows share a bottleneck of 50 Mbit/s: a bulk transfer, and a ping that waits behind it.
title: A bottleneck
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8, h4: 10.0.0.4/8}
  switches: [s1, s2]
  links:
    - [h1, s1]
    - [h2, s1]
    - [s1, s2, {rate: 50mbit, to: {s2: {delay: 20ms, queue: 500KB}}}]
    - [s2, h3]
    - [s2, h4]
flows:
  bulk: {iperf3: h1 -> h3, time: 60s}
  rtt: {ping: h2 -> h4, count: 300, interval: 200ms}
layout: {h1: [100, 80], h2: [100, 220], s1: [260, 150], s2: [520, 150],
         h3: [680, 80], h4: [680, 220]}
"""

NARROWING = """\
title: A bottleneck that becomes narrower
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 50mbit, delay: 10ms, queue: 250KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 20s}
  rtt: {ping: h1 -> h2, count: 100, interval: 200ms}
events:
  - {at: 12s, link: [s1, h2], rate: 10mbit}
layout: {h1: [100, 100], s1: [300, 100], h2: [500, 100]}
"""

LOSSY = """\
title: Which congestion control stands losses?
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links:
    - [h1, s1]
    - [s1, h2, {rate: 50mbit, delay: 10ms, loss: 0.1%, queue: 250KB}]
seeds: 5
flows:
  bulk: {iperf3: h1 -> h2, time: 10s}
cases:
  cubic: {}
  bbr: {flows: {bulk: {iperf3: h1 -> h2, time: 10s, congestion: bbr}}}
claims:
  - losses cost CUBIC half of the link: cubic.bulk.receiver < 25mbit
  - BBR fills it: bbr.bulk.receiver > 40mbit
layout: {h1: [100, 100], s1: [260, 100], h2: [420, 100]}
"""


class Camera:
    """Takes pictures of pages.

    Args:
        browser: a browser that runs.
        studio: the studio to open.
        folder: where pictures go.
    """

    def __init__(self, browser: Browser, studio: Studio, folder: Path) -> None:
        self._browser = browser
        self.studio = studio
        self._folder = folder

    @contextmanager
    def page(self) -> Iterator[Page]:
        """Open a new page of the studio, in a browser that knows nothing of earlier ones."""
        context = self._browser.new_context(
            viewport={"width": WIDTH, "height": 800},
            locale="en-GB",
            timezone_id="UTC",
            color_scheme="light",
        )
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.goto(self.studio.url)
        expect(page.get_by_role("toolbar", name="Tools")).to_be_visible()
        yield page
        self._forget_drafts(page)
        context.close()

    def _forget_drafts(self, page: Page) -> None:
        """Let the next page show none of this one's tabs."""
        server = self.studio.url.split("/?")[0]
        page.goto("about:blank")  # so that nobody sends them once more
        for draft in page.request.get(f"{server}/api/drafts").json()["drafts"]:
            place = f"{server}/api/drafts/{draft['id']}"
            page.request.delete(place, headers={"Origin": server})

    @contextmanager
    def drawing(self, text: str) -> Iterator[Page]:
        """Open a page with a study on it."""
        path = self.studio.workspace / "network.yaml"
        path.write_text(text)
        date(self.studio.workspace)
        with self.page() as page:
            acts.open_file(page, "network.yaml")
            yield page
            end = page.get_by_role("button", name="End the session")
            if end.is_visible() and end.is_enabled():
                end.click()

    def shoot(self, page: Page, name: str, *, also_dark: bool = False) -> None:
        """Keep what the page shows as studio-NAME.png, and as studio-NAME-dark.png."""
        page.wait_for_timeout(400)  # for what moves into its place
        self._keep(page.screenshot(), name)
        if also_dark:
            page.emulate_media(color_scheme="dark")
            page.wait_for_timeout(400)
            self._keep(page.screenshot(), f"{name}-dark")
            page.emulate_media(color_scheme="light")

    def _keep(self, png: bytes, name: str) -> None:
        path = self._folder / f"studio-{name}.png"
        with Image.open(BytesIO(png)) as picture:
            few_colours(picture.convert("RGB")).save(path, optimize=True)
        size = path.stat().st_size
        print(f"{path.name}: {size / 1000:.0f} kB")
        if size > MAX_BYTES:
            sys.exit(f"{path.name} has {size} bytes; {MAX_BYTES} are the most")


def few_colours(picture: Image.Image) -> Image.Image:
    """Return the picture with a palette of the colours that it has most of.

    Pillow's own palettes mix the few red pixels of a word with the many others;
    a page is drawn in few colours, and these stay as they are.
    """
    counted = picture.getcolors(picture.width * picture.height)
    assert counted is not None
    chosen: list[tuple[int, int, int]] = []
    for _, colour in sorted(counted, reverse=True):
        assert isinstance(colour, tuple)
        red, green, blue = colour[:3]
        if all(abs(red - r) + abs(green - g) + abs(blue - b) > 8 for r, g, b in chosen):
            chosen.append((red, green, blue))
        if len(chosen) == COLOURS:
            break
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in chosen for part in colour])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def date(workspace: Path) -> None:
    """Give all files and folders of the workspace the same date."""
    for path in workspace.rglob("*"):
        os.utime(path, (DATE_S, DATE_S), follow_symlinks=False)


def hold_at(page: Page, seconds: int) -> None:
    """Hold a network before its flows begin, and step so many whole seconds."""
    acts.node(page, "h1").dblclick()  # a terminal boots the machine
    expect(page.get_by_label("Terminal of h1")).to_contain_text("h1")
    clock = page.get_by_role("region", name="Clock bar")
    expect(clock).to_contain_text("idle")
    page.get_by_role("button", name="Hold", exact=True).click()
    expect(clock).to_contain_text("held")
    acts.start(page)
    acts.dock(page, "Charts")
    for _ in range(seconds):
        before_s = acts.virtual_s(page)
        page.get_by_role("button", name="Step 1 s", exact=True).click()
        page.wait_for_function(
            "before => parseFloat(document.querySelector('[aria-label=\"Virtual time\"]')"
            ".textContent) > before + 0.999",
            arg=before_s,
        )
    expect(clock).to_contain_text("held")


def widen(page: Page, width: int) -> None:
    """Drag the right panel's edge until the panel is so wide."""
    box = page.get_by_role("separator", name="Width of the panel").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, 400)
    page.mouse.down()
    page.mouse.move(WIDTH - width, 400, steps=4)
    page.mouse.up()


def empty(camera: Camera) -> None:
    """Show a page that was just opened, and its keys."""
    with camera.page() as page:
        camera.shoot(page, "empty")
        page.keyboard.press("?")
        camera.shoot(page, "keys")


def draw(camera: Camera) -> None:
    """Show a network with a link's properties and the lines of tc that they become."""
    with camera.drawing(BOTTLENECK) as page:
        page.get_by_label("Link from s1 to s2").click(force=True)
        acts.panel(page, "Properties")
        expect(page.get_by_label("Properties and text")).to_contain_text("tc qdisc add")
        camera.shoot(page, "draw", also_dark=True)


def run(camera: Camera) -> None:
    """Show traffic: charts below, and on the links what goes each way."""
    with camera.drawing(BOTTLENECK) as page:
        acts.start(page)
        page.wait_for_function(
            "() => parseFloat(document.querySelector('[aria-label=\"Virtual time\"]')"
            "?.textContent) > 12"
        )
        camera.shoot(page, "run", also_dark=True)


def held(camera: Camera) -> None:
    """Show time held, and stepped."""
    with camera.drawing(BOTTLENECK) as page:
        hold_at(page, 4)
        page.get_by_role("button", name="Step 10 ms", exact=True).click()
        page.locator(".charts-follow select").select_option(label="last 1 s")
        acts.node(page, "h1").click()
        camera.shoot(page, "held")


def timeline(camera: Camera) -> None:
    """Show a moment of a run that is over: on the canvas, and in the charts."""
    with camera.drawing(NARROWING) as page:
        acts.run(page)
        slider = page.get_by_role("slider", name="Displayed time")
        slider.focus()
        page.keyboard.press("Home")
        for _ in range(14):
            page.keyboard.press("PageUp")
        camera.shoot(page, "timeline")


def terminals(camera: Camera) -> None:
    """Show two terminals, side by side."""
    with camera.drawing(BOTTLENECK) as page:
        for host, lines in (
            ("h1", ("ping -c 4 10.0.0.3", "sysctl net.ipv4.tcp_rmem")),
            ("h3", ("ip -br addr", "ss -tlnH | wc -l")),
        ):
            acts.node(page, host).dblclick()
            terminal = page.get_by_label(f"Terminal of {host}").last
            expect(terminal).to_contain_text(host)
            terminal.click()
            for line in lines:
                page.keyboard.type(line)
                page.keyboard.press("Enter")
                page.wait_for_timeout(1500)
        camera.shoot(page, "terminals")


def lab(camera: Camera) -> None:
    """Show a lab: its text, its cases, and what came of them."""
    with camera.page() as page:
        acts.turn_to(page, "Labs")
        page.get_by_text("Bandwidth-delay product").first.click()
        acts.panel(page, "Lab")
        article = page.get_by_role("article", name="Lab")
        expect(article).to_contain_text("Bandwidth-delay product")
        camera.shoot(page, "lab")
        article.get_by_role("button", name="Run all").click()
        expect(article.get_by_role("link", name="report")).to_be_visible(timeout=300_000)
        page.get_by_label("Case to run").select_option("default")
        acts.start(page)
        expect(page.get_by_role("button", name="Stop")).to_be_enabled()
        expect(page.get_by_role("button", name="Stop")).to_be_disabled(timeout=300_000)
        article.get_by_role("region", name="Claims").scroll_into_view_if_needed()
        article.get_by_role("heading", name="Run the cases").evaluate("at => at.scrollIntoView()")
        camera.shoot(page, "lab-results")


def yaml(camera: Camera) -> None:
    """Show the text beside the canvas, with a mistake in it."""
    with camera.drawing(BOTTLENECK) as page:
        acts.write_yaml(page, BOTTLENECK.replace("delay: 20ms", "delay: 20mm"))
        expect(page.get_by_role("region", name="Problems")).to_contain_text("20mm")
        camera.shoot(page, "yaml")


def results(camera: Camera) -> None:
    """Show a study's results, five seeds of each case as bands, and two of its runs compared."""
    with camera.drawing(LOSSY) as page:
        acts.panel(page, "Results")
        widen(page, 560)
        page.get_by_role("button", name="Run all").click()
        shown = page.get_by_role("region", name="Results")
        expect(shown.get_by_role("link", name="report")).to_be_visible(timeout=300_000)
        shown.get_by_role("button", name="curves").click()
        expect(shown.get_by_role("figure").first).to_be_visible()
        shown.get_by_role("figure").nth(1).scroll_into_view_if_needed()
        camera.shoot(page, "results")
        date(camera.studio.workspace)
        acts.turn_to(page, "Runs")
        for name in ("cubic", "bbr"):
            page.get_by_label(re.compile(f"Choose .*, {name}, seed 1")).check()
        expect(page.get_by_role("figure").first).to_be_visible()
        camera.shoot(page, "runs")


def open_dialog(camera: Camera) -> None:
    """Show what can be opened."""
    workspace = camera.studio.workspace
    (workspace / "lossy.yaml").write_text(LOSSY)
    (workspace / "network.yaml").write_text(BOTTLENECK)
    data = Path(__file__).parents[1] / "tests" / "data" / "miniedit"
    shutil.copy(data / "dumbbell.mn", workspace)
    date(workspace)
    with camera.page() as page:
        page.keyboard.press("Control+o")
        expect(page.get_by_role("list", name="Files of the workspace")).to_contain_text("lossy")
        camera.shoot(page, "open")


SCREENS: dict[str, Callable[[Camera], None]] = {
    "empty": empty,
    "open": open_dialog,
    "draw": draw,
    "run": run,
    "held": held,
    "timeline": timeline,
    "terminals": terminals,
    "yaml": yaml,
    "lab": lab,
    "results": results,
}


def main(names: list[str], folder: Path = IMAGES) -> None:
    """Draw the screens of these names, or all."""
    unknown = [name for name in names if name not in SCREENS]
    if unknown:
        sys.exit(f"{unknown[0]} is no screen; there are {', '.join(SCREENS)}")
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as workspace,
        tempfile.TemporaryDirectory() as state,
        open_browser() as browser,
    ):
        # What is drawn here is none of the person's own.
        os.environ[VARIABLE] = state
        studio = Studio(Path(workspace))
        try:
            camera = Camera(browser, studio, folder)
            for name in names or SCREENS:
                SCREENS[name](camera)
        finally:
            studio.end()


if __name__ == "__main__":
    main(sys.argv[1:])
