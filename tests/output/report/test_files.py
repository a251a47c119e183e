import dataclasses
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from longfat.analysis.verdict import Verdict, evaluate
from longfat.errors import InputError
from longfat.output.drawing import draw_network
from longfat.output.drawing.layouts import place_nodes
from longfat.output.report.files import report_page, write_report
from longfat.output.report.page_parts import rerun_line
from longfat.study import read_study
from longfat.study.labs import find_lab
from tests.output.report.pages import parsed, references_of


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_file_is_there_and_whole(lab08_report: Path) -> None:
    files = files_of(lab08_report)
    names = ["plots/ping.pdf", "plots/ping.png", "plots/traffic.pdf", "plots/traffic.png"]
    assert list(files) == [".report.json", *names, "report.html", "report.pdf"]
    for name in (*names, "report.pdf"):
        content = files[name]
        if name.endswith(".png"):
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
            assert content.endswith(b"IEND\xaeB`\x82")
        else:
            assert content.startswith(b"%PDF-")
            assert content.rstrip().endswith(b"%%EOF")


def test_equal_runs_give_equal_bytes(lab08: Verdict, lab08_report: Path, tmp_path: Path) -> None:
    write_report(lab08, tmp_path)
    assert files_of(tmp_path) == files_of(lab08_report)


def test_page_stands_alone(lab08_report: Path) -> None:
    text = (lab08_report / "report.html").read_text(encoding="utf-8")
    page = parsed(text)
    assert {r for r in references_of(page) if not r.startswith(("#", "data:"))} == set()
    assert "url(http" not in text
    assert "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    inside = {r.removeprefix("#") for r in references_of(page) if r.startswith("#")}
    assert inside <= set(page.ids)
    clips = set(re.findall(r"url\(#([^)]+)\)", text))
    assert clips <= set(page.ids)


def test_page_says_what_was_found(lab08_report: Path) -> None:
    text = (lab08_report / "report.html").read_text(encoding="utf-8")
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


def test_svgs_are_well_formed(lab08_report: Path) -> None:
    text = (lab08_report / "report.html").read_text(encoding="utf-8")
    svgs = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(svgs) == 3  # the network, and two figures
    for svg in svgs:
        ElementTree.fromstring(svg)


def test_special_characters_are_escaped(many: Verdict) -> None:
    text = report_page(many)
    parsed(text)
    assert "<things>" not in text
    assert "Many &lt;things&gt; at once &amp; &#34;quotes&#34;" in text
    assert "this [bold]fails[/bold] &lt;b&gt;" in text
    assert "each of the 4 streams" in text


def test_no_iperf3_leaves_stale_figures_out(lab08: Verdict, own_report: Path) -> None:
    files = write_report(evaluate(lab08.study, {"unshaped": lab08.runs["unshaped"]}), own_report)
    assert [path.name for path in files.figures] == ["ping.png", "ping.pdf"]
    assert sorted(p.name for p in (own_report / "plots").iterdir()) == ["ping.pdf", "ping.png"]
    text = files.page.read_text(encoding="utf-8")
    assert "Traffic over time" not in text
    assert "iperf3, as it prints" not in text
    assert "Window arithmetic" not in text
    assert "--case unshaped" in text


def test_no_published_no_claims(lab08: Verdict) -> None:
    study = dataclasses.replace(lab08.study, published=None, claims=())
    text = report_page(evaluate(study, lab08.runs))
    assert "Published" not in text
    assert ">Claims<" not in text
    assert "bulk sender" in text


def test_nothing_was_run(lab08: Verdict, tmp_path: Path) -> None:
    files = write_report(evaluate(lab08.study, {}), tmp_path)
    assert files.figures == ()
    page = parsed(files.page.read_text(encoding="utf-8"))
    assert page.scripts == []


def test_interrupted_write_leaves_no_half_file(
    lab08: Verdict, own_report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_report / "report.html").unlink()
    before = files_of(own_report)

    def interrupted(*_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(lab08, own_report)
    assert files_of(own_report) == before


def test_folder_that_cannot_be_written(lab08: Verdict, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        write_report(evaluate(lab08.study, {}), tmp_path / "file")


def test_rerun_line_names_what_was_changed(lab08: Verdict) -> None:
    runs = {
        name: [dataclasses.replace(run, seed=7, case=dataclasses.replace(run.case, kernel="6.12"))]
        for name, run in lab08.first_runs.items()
    }
    text = report_page(evaluate(lab08.study, runs))
    assert "--seed 7 --kernel 6.12" in text


def test_a_lab_is_run_again_by_its_name() -> None:
    """The folder that it lies in here is of no use to a reader of the report."""
    study = read_study(find_lab("lab08").study_file)
    assert rerun_line(evaluate(study, {})) == "longfat run lab08"


def test_without_weasyprint_there_is_a_page_and_a_note(
    lab08: Verdict, own_report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    files = write_report(lab08, own_report)
    assert files.paper is None
    assert "weasyprint" in files.notes[0]
    assert len(files.notes[0].splitlines()) == 1
    parsed(files.page.read_text(encoding="utf-8"))
    # What an earlier report left would not belong to this one.
    assert not (own_report / "report.pdf").exists()


def test_nodes_have_places_of_their_own(lab08: Verdict, many: Verdict) -> None:
    for verdict in (lab08, many):
        network = next(iter(verdict.study.cases.values())).case.network
        places = place_nodes(network)
        assert len(set(places.values())) == len(network.hosts) + len(network.switches)
        assert min(place.column for place in places.values()) == 0
        svg = draw_network(network, shaped={"s1-eth2"})
        words = {text.text for text in ElementTree.fromstring(svg).iter("text")}
        assert {name for pair in network.interfaces() for name in pair} <= words
