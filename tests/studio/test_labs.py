"""Labs' texts as the page shows them: clean, without the drawing, with steps to run."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from longfat.output.report.text import page_text
from longfat.study import read_study
from longfat.study.labs import StudyFolder, all_labs


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_every_step_of_a_text_can_be_run(client: TestClient, lab: StudyFolder) -> None:
    found = client.get(f"/api/labs/{lab.name}").json()
    assert found["title"] == read_study(lab.folder).title
    assert lab.text_file is not None
    text = lab.text_file.read_text()
    written = [
        nodes for nodes in re.findall(r"^```sh +(.+)$", text, re.MULTILINE) if nodes != "variation"
    ]
    assert written
    assert re.findall(r'<pre tabindex="0" data-step="([^"]*)">', found["html"]) == written
    assert "network-goes-here" not in found["html"]
    assert "[network]" not in found["html"]
    assert "<script" not in found["html"]


def test_there_is_no_other_lab(client: TestClient) -> None:
    for name in ("lab99", "..", "%2e%2e", "lab08/text.md"):
        assert 400 <= client.get(f"/api/labs/{name}").status_code < 500


def test_a_step_is_one_at_nodes_that_there_are() -> None:
    text = """\
```sh h1 h2
echo '<script>' & exit
```

```sh h1 evil
one
```

```sh h1" onclick="x
two
```

```sh
three
```
"""
    html = page_text(text, title="", steps_at=("h1", "h2")).html
    assert re.findall('data-step="(.*?)"', html) == ["h1 h2"]
    assert "echo '&lt;script&gt;' &amp; exit" in html
    assert "onclick" not in html
    assert "data-step" not in page_text(text, title="").html
