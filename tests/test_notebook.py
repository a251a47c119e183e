"""The tutorial, a notebook: its cells run, and what they show is there."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.paths import REPOSITORY
from tools.notebook import notebook_page, run_notebook

TUTORIAL = REPOSITORY / "docs/tutorial.ipynb"


def test_the_tutorial_runs_and_shows_networks_series_studies_and_runs() -> None:
    cells = [cell for cell in run_notebook(TUTORIAL).cells if cell.cell_type == "code"]
    shown = {}
    for cell in cells:
        data: dict[str, str] = {}
        for output in cell.outputs:
            data |= output.get("data", {"text": output.get("text", "")})
        shown[cell.source.splitlines()[-1]] = data
    for name in ("net", "series", "controlled"):
        assert ET.fromstring(shown[name]["image/svg+xml"]).tag.endswith("svg")
    assert ">s1<" in shown["net"]["image/svg+xml"]
    assert "virtual time since boot" in shown["series"]["image/svg+xml"]
    assert "Congestion window" in shown["series"]["image/svg+xml"]
    assert "<svg" in shown["study"]["text/html"]
    assert "drop-tail" in shown["study"]["text/html"]
    verdict = shown["verdict"]["text/html"]
    assert verdict.count(">holds<") == 3
    assert "data:image/svg+xml" in verdict
    assert "bulk.receiver_bps" in shown['verdict.runs["codel"][0]']["text/html"]


def test_the_tutorial_is_kept_without_output() -> None:
    text = TUTORIAL.read_text()
    assert '"outputs": []' in text
    assert '"output_type"' not in text


@pytest.mark.parametrize("word", ["```python\nimport longfat", "## A network"])
def test_the_tutorial_is_a_page(word: str) -> None:
    assert word in notebook_page(TUTORIAL, runs=False)
