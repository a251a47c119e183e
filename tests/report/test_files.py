import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from longfat.errors import InputError
from longfat.report import write_report
from longfat.report.drawing import draw_network, place_nodes
from longfat.report.figures import draw_pings
from longfat.report.labels import spread
from longfat.report.series import PingSeries, ping_series, traffic_series
from longfat.report.style import figure_style
from longfat.verdict import Verdict, judge

_VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects what a page refers to, and checks that its elements are nested."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self._note(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _note(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"src", "href", "xlink:href", "srcset", "data", "action"}:
                self.references.append(value or "")
            if name == "id":
                self.ids.append(value or "")


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def written(lab08: Verdict, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab08")
    write_report(lab08, folder)
    return folder


def test_every_file_is_there_and_whole(written: Path) -> None:
    files = files_of(written)
    names = ["plots/ping.pdf", "plots/ping.png", "plots/traffic.pdf", "plots/traffic.png"]
    assert list(files) == [*names, "report.html"]
    for name in names:
        content = files[name]
        if name.endswith(".png"):
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
            assert content.endswith(b"IEND\xaeB`\x82")
        else:
            assert content.startswith(b"%PDF-")
            assert content.rstrip().endswith(b"%%EOF")


def test_equal_runs_give_equal_bytes(lab08: Verdict, written: Path, tmp_path: Path) -> None:
    write_report(lab08, tmp_path)
    assert files_of(tmp_path) == files_of(written)


def test_page_stands_alone(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    page = parsed(text)
    assert all(reference.startswith("#") for reference in page.references)
    assert "url(http" not in text
    assert "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    assert {r.removeprefix("#") for r in page.references} <= set(page.ids)
    clips = set(re.findall(r"url\(#([^)]+)\)", text))
    assert clips <= set(page.ids)


def test_page_says_what_was_found(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    for words in (
        "Bandwidth-delay product and TCP buffer size",
        "6.1.192",
        "11 of 11 hold",
        "3.16 Gbit/s",
        "3.28 Gbit/s",
        "8,388,608 B",
        "16.2 MBytes",
        "20ms &lt;= default.ping.min &lt; 20.5ms",
        "4f56183aaa5c",
        "sysctl -w net.ipv4.tcp_rmem=&#39;10240 87380 52428800&#39;",
        "longfat run",
    ):
        assert words in text


def test_svgs_are_well_formed(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    svgs = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(svgs) == 5  # the network, and two figures for two widths
    for svg in svgs:
        ElementTree.fromstring(svg)


def test_special_characters_are_escaped(many: Verdict, tmp_path: Path) -> None:
    files = write_report(many, tmp_path)
    text = files.page.read_text(encoding="utf-8")
    parsed(text)
    assert "<things>" not in text
    assert "Many &lt;things&gt; at once &amp; &#34;quotes&#34;" in text
    assert "this [bold]fails[/bold] &lt;b&gt;" in text
    assert "each of the 4 streams" in text


def test_no_iperf3_leaves_stale_figures_out(lab08: Verdict, tmp_path: Path) -> None:
    write_report(lab08, tmp_path)
    files = write_report(judge(lab08.study, {"unshaped": lab08.runs["unshaped"]}), tmp_path)
    assert [path.name for path in files.figures] == ["ping.png", "ping.pdf"]
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == ["ping.pdf", "ping.png"]
    text = files.page.read_text(encoding="utf-8")
    assert "iperf3, as it prints" not in text
    assert "Window arithmetic" not in text
    assert "--case unshaped" in text


def test_no_published_no_claims(lab08: Verdict, tmp_path: Path) -> None:
    study = dataclasses.replace(lab08.study, published=None, claims=())
    text = write_report(judge(study, lab08.runs), tmp_path).page.read_text(encoding="utf-8")
    assert "Published" not in text
    assert ">Claims<" not in text
    assert "bulk sender" in text


def test_nothing_was_run(lab08: Verdict, tmp_path: Path) -> None:
    files = write_report(judge(lab08.study, {}), tmp_path)
    assert files.figures == ()
    parsed(files.page.read_text(encoding="utf-8"))


def test_interrupted_write_leaves_no_half_file(
    lab08: Verdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report(lab08, tmp_path)
    before = files_of(tmp_path)

    def interrupted(*_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(lab08, tmp_path)
    assert files_of(tmp_path) == before


def test_folder_that_cannot_be_written(lab08: Verdict, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        write_report(lab08, tmp_path / "file")


def test_rerun_line_names_what_was_changed(lab08: Verdict, tmp_path: Path) -> None:
    runs = {
        name: dataclasses.replace(run, seed=7, case={**run.case, "kernel": "6.12"})
        for name, run in lab08.runs.items()
    }
    text = write_report(judge(lab08.study, runs), tmp_path).page.read_text(encoding="utf-8")
    assert "--seed 7 --kernel 6.12" in text


def test_series_of_lab08(lab08: Verdict) -> None:
    default, tuned = traffic_series(lab08)
    assert (default.label, tuned.label) == ("default", "tuned")
    assert len(default.throughput.main) == len(default.cwnd.main) == len(default.rtt.main) == 10
    assert default.throughput.main[0][0] == pytest.approx(0.5, abs=1e-3)
    assert default.cwnd.main[-1][0] == pytest.approx(10.0, abs=1e-3)
    assert default.cwnd.main[-1][1] == 17021240
    assert [label.label for label in ping_series(lab08)] == ["unshaped", "default", "tuned"]


def test_series_of_many_streams(many: Verdict) -> None:
    parallel = traffic_series(many)[0]
    assert len(parallel.throughput.streams) == 4
    for index, (_, total) in enumerate(parallel.throughput.main):
        each = [stream[index][1] for stream in parallel.throughput.streams]
        assert total == pytest.approx(sum(each))
    rtts = [stream[0][1] for stream in parallel.rtt.streams]
    assert min(rtts) <= parallel.rtt.main[0][1] <= max(rtts)


def test_all_lost(many: Verdict, tmp_path: Path) -> None:
    lost = ping_series(many)[0]
    assert lost == PingSeries(label="parallel", look=0, replies=(), lost=(1, 2, 3, 4, 5))
    with figure_style():
        figure = draw_pings([lost], title="all lost")
        figure.savefig(tmp_path / "lost.png")
    assert (tmp_path / "lost.png").stat().st_size > 1000


def test_spread() -> None:
    assert spread([0.1, 0.9], least=0.1) == [0.1, 0.9]
    assert spread([0.5, 0.5], least=0.2) == pytest.approx([0.4, 0.6])
    crowded = spread([0.0, 0.0, 0.0, 1.0], least=0.1)
    assert crowded == pytest.approx([0.0, 0.1, 0.2, 1.0])
    assert min(spread([1.0] * 5, least=0.1)) == pytest.approx(0.6)


def test_nodes_have_places_of_their_own(lab08: Verdict, many: Verdict) -> None:
    for verdict in (lab08, many):
        network = next(iter(verdict.study.cases.values())).case.network
        places = place_nodes(network)
        assert len(set(places.values())) == len(network.hosts) + len(network.switches)
        assert min(place.column for place in places.values()) == 0
        svg = draw_network(network, shaped={"s1-eth2"})
        words = {text.text for text in ElementTree.fromstring(svg).iter("text")}
        assert {name for pair in network.interfaces() for name in pair} <= words
