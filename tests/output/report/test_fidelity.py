"""The table of published figures beside ours, from real runs of five seeds."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.network import PROFILES, HostTiming
from longfat.output.report.fidelity import (
    Agreement,
    Setting,
    StudyFidelity,
    fidelity_complaints,
    load_runs,
    study_fidelity,
)
from longfat.output.report.fidelity_pages import fidelity_markdown
from longfat.study import Study, read_study
from tests.paths import TESTS
from tests.resealed import reseal

SEEDED = TESTS / "data" / "runs" / "seeded"


@pytest.fixture
def study() -> Study:
    return read_study(SEEDED)


@pytest.fixture
def found(study: Study) -> StudyFidelity:
    return study_fidelity(study, SEEDED)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A copy of the runs that a test may spoil."""
    return Path(shutil.copytree(SEEDED, tmp_path / "runs" / "seeded"))


def rows(text: str) -> dict[tuple[str, str], list[str]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {(cells[0], cells[1]): cells[2:] for cells in lines}


def test_runs_are_found_in_the_order_of_their_seeds(study: Study, runs: Path) -> None:
    shutil.copytree(runs / "lossy-seed5", runs / "lossy-seed10")
    case = json.loads((runs / "lossy-seed10" / "manifest.json").read_text())["case"]
    reseal(runs / "lossy-seed10", case={**case, "seed": 10})
    (runs / "plots").mkdir()
    (runs / ".lossy-xyz.partial").mkdir()
    loaded = load_runs(study, runs)
    assert {name: [run.seed for run in of_case] for name, of_case in loaded.items()} == {
        "lossy": [1, 2, 3, 4, 5, 10],
        "clean": [1],
    }


def test_how_figures_stand(found: StudyFidelity) -> None:
    standings = {
        (figure.comparison.figure.case, figure.comparison.figure.metric): figure.agreement
        for figure in found.figures
    }
    assert standings == {
        ("lossy", "rtt.min_s"): Agreement.WITHIN,
        ("lossy", "rtt.loss"): Agreement.WITHIN,  # 0 and 0
        ("lossy", "bulk.receiver_bps"): Agreement.EXPLAINED,
        ("lossy", "bulk.sender_bps"): Agreement.INSIDE,
        ("lossy", "bulk.retransmits"): Agreement.WITHIN,
        ("lossy", "bulk.max_cwnd_bytes"): Agreement.OFF,
        ("clean", "rtt.min_s"): Agreement.EXPLAINED,
        ("clean", "bulk.receiver_bps"): Agreement.WITHIN,
    }
    assert {figure.comparison.figure.metric for figure in found.figures if figure.other} == {
        "bulk.retransmits",
        "bulk.max_cwnd_bytes",
    }
    assert not found.good
    assert found.summary == (
        "8 figures: 4 within 15 %, 1 inside the band, 2 explained, 1 off, "
        "beyond 15 % with fewer than 8 seeds: 4"
    )
    assert fidelity_complaints([found]) == [
        "off: seeded lossy bulk largest cwnd: published 1.00 MB, measured 31.1 KB"
    ]


@pytest.mark.parametrize(
    ("figure", "agreement", "shown"),
    [
        # Measured: a median of 29.3 Mbit/s, and a band of 20.3 to 36.1.
        ("24mbit", Agreement.INSIDE, "24.0 Mbit/s"),
        ("[22mbit, 25mbit, 31mbit, 33mbit]", Agreement.BANDS, "28.0 Mbit/s (22.4-32.7, 4 runs)"),
        ("[28mbit, 28.2mbit]", Agreement.WITHIN, "28.1 Mbit/s (28.0-28.2, 2 runs)"),
        ("[24mbit, 25mbit]", Agreement.INSIDE, "24.5 Mbit/s (24.1-24.9, 2 runs)"),
        ("{value: 60mbit, low: 10mbit, high: 70mbit}", Agreement.INSIDE, "60.0 Mbit/s (10.0-70.0)"),
        ("{value: 60mbit, low: 50mbit, high: 70mbit}", Agreement.OFF, "60.0 Mbit/s (50.0-70.0)"),
    ],
)
def test_the_spread_of_the_source(
    figure: str, agreement: Agreement, shown: str, runs: Path
) -> None:
    file = runs / "study.yaml"
    text = file.read_text()
    assert "bulk.sender: 24mbit" in text
    file.write_text(text.replace("bulk.sender: 24mbit", f"bulk.sender: {figure}"))
    fidelity = study_fidelity(read_study(runs), runs)
    assert {
        one.agreement
        for one in fidelity.figures
        if one.comparison.figure.metric == "bulk.sender_bps"
    } == {agreement}
    assert rows(fidelity_markdown([fidelity]))["lossy", "bulk sender"][0] == shown


def test_json_has_the_spread_of_the_source(runs: Path) -> None:
    file = runs / "study.yaml"
    file.write_text(file.read_text().replace("24mbit", "[20mbit, 40mbit]"))
    by_metric = {
        figure["metric"]: figure
        for figure in study_fidelity(read_study(runs), runs).to_json()["figures"]
    }
    sender = by_metric["bulk.sender_bps"]
    assert sender["published"] == 30e6
    assert sender["published_low"] == pytest.approx(21e6)
    assert sender["published_high"] == pytest.approx(39e6)
    assert sender["published_runs"] == 2
    assert by_metric["bulk.max_cwnd_bytes"]["published_runs"] is None


def test_the_page(found: StudyFidelity) -> None:
    text = fidelity_markdown([found])
    table = rows(text)
    assert table["lossy", "bulk sender"] == [
        "24.0 Mbit/s",
        "29.3 Mbit/s",
        "20.3-36.1",
        "5",
        "1.22",
        "inside the band",
    ]
    assert table["lossy", "bulk receiver"][3:] == ["5", "0.44", "explained, note 1"]
    assert table["lossy", "rtt loss"][3:] == ["5", "equal", "within 15 %"]
    assert table["lossy", "bulk largest cwnd"][3:] == ["5", "0.03", "**off**"]
    assert table["clean", "rtt least RTT"][2:] == ["-", "1", "10.00", "explained, note 2"]
    assert text.index("| bulk receiver |") < text.index("Other figures") < text.index("cwnd |")
    assert "1. that host \\| had a path of its own, and a \\*faster\\* one\n2. a shorter" in text
    assert "## seeded: Loss &amp; seeds" in text
    assert "longfat run seeded\nlongfat fidelity runs/seeded --out docs/fidelity.md\n" in text
    assert "Linux 6.1." in text
    assert "iperf3: iperf 3." in text


def test_the_page_is_the_same_anywhere(found: StudyFidelity, runs: Path) -> None:
    again = fidelity_markdown([study_fidelity(read_study(runs), runs)])
    assert again == fidelity_markdown([found])
    assert str(runs.parent) not in again
    assert not any(word in again for word in ("2024", "2025", "2026"))


def test_what_was_not_run_is_reported(study: Study, runs: Path) -> None:
    for folder in runs.glob("lossy-*"):
        shutil.rmtree(folder)
    fidelity = study_fidelity(study, runs)
    assert not fidelity.good
    assert fidelity_complaints([fidelity]) == ["not run: seeded lossy"]
    text = fidelity_markdown([fidelity])
    assert rows(text)["lossy", "bulk sender"] == ["24.0 Mbit/s", "-", "0", "-", "**not measured**"]
    assert "longfat run seeded --case clean\n" in text


def test_fewer_seeds_are_reported(study: Study, runs: Path) -> None:
    for seed in (2, 3, 4, 5):
        shutil.rmtree(runs / f"lossy-seed{seed}")
    fidelity = study_fidelity(study, runs)
    text = fidelity_markdown([fidelity])
    lines = "longfat run seeded --case lossy --seeds 1\nlongfat run seeded --case clean\n"
    assert lines in text
    # One run has no band to be inside of.
    assert rows(text)["lossy", "bulk sender"] == [
        *("24.0 Mbit/s", "35.0 Mbit/s", "1", "1.46", "**off**"),
    ]


def test_testbeds_stand_side_by_side(study: Study, found: StudyFidelity, runs: Path) -> None:
    timing = HostTiming(timer_latency_s=5e-5)
    for folder in runs.glob("*-seed*"):
        case = json.loads((folder / "manifest.json").read_text())["case"]
        network = case["network"] | {"testbed": dataclasses.asdict(timing)}
        reseal(folder, case=case | {"network": network})
    slow = study_fidelity(study, runs)
    assert slow.setting == Setting(testbed=timing)
    assert slow.to_json()["testbed"] == "timer latency 50us"
    text = fidelity_markdown([found, slow])
    table = "| case | metric | published | above | timer latency 50us |"
    own, _, beside = text.partition(table)
    assert rows(own) == rows(fidelity_markdown([found]))
    assert rows(beside)["lossy", "bulk sender"] == ["24.0 Mbit/s", "29.3 Mbit/s", "29.3 Mbit/s"]
    words = "--testbed '{timer_latency: 50us}' --out runs/timer-latency-50us/seeded"
    assert f"longfat run seeded\nlongfat run seeded {words}\nlongfat fidelity" in text
    assert "longfat fidelity runs/seeded runs/timer-latency-50us/seeded --out" in text


def test_runs_of_several_testbeds_are_not_one_result(study: Study, runs: Path) -> None:
    folder = runs / "lossy-seed2"
    case = json.loads((folder / "manifest.json").read_text())["case"]
    network = case["network"] | {"testbed": dataclasses.asdict(PROFILES["vm-2020"])}
    reseal(folder, case=case | {"network": network})
    with pytest.raises(InputError, match="several kernels or testbeds: the study's own, vm-2020"):
        study_fidelity(study, runs)


def test_all_good(study: Study) -> None:
    assert study.published is not None
    figures = tuple(f for f in study.published.figures if f.metric != "bulk.max_cwnd_bytes")
    published = dataclasses.replace(study.published, figures=figures)
    assert study_fidelity(dataclasses.replace(study, published=published), SEEDED).good


def test_runs_of_another_study(runs: Path) -> None:
    other = read_study(SEEDED.parent / "lab08")
    with pytest.raises(InputError, match=r"clean-seed1: it is not a run of .*no case 'clean'"):
        load_runs(other, runs)
    text = (runs / "study.yaml").read_text().replace("loss 1%", "loss 2%")
    (runs / "study.yaml").write_text(text)
    with pytest.raises(InputError, match=r"its case 'lossy' is not that of .*study.yaml"):
        load_runs(read_study(runs), runs)


def test_runs_of_two_kernels(study: Study, runs: Path) -> None:
    kernel = json.loads((runs / "lossy-seed2" / "manifest.json").read_text())["kernel"]
    reseal(runs / "lossy-seed2", kernel={**kernel, "release": "6.12.1"})
    with pytest.raises(InputError, match="'lossy' are of several kernels: 6"):
        load_runs(study, runs)


def test_no_runs(study: Study, runs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no runs in it"):
        load_runs(study, tmp_path)
    with pytest.raises(InputError, match="none: cannot be read: No such file"):
        load_runs(study, tmp_path / "none")
    (runs / "lossy-seed3" / "manifest.json").unlink()
    with pytest.raises(InputError, match="lossy-seed3: not a run directory"):
        load_runs(study, runs)


def test_nothing_was_published(study: Study) -> None:
    with pytest.raises(InputError, match="it has no published figures"):
        study_fidelity(dataclasses.replace(study, published=None), SEEDED)
