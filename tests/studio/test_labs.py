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
    text = lab.text_files["en"].read_text()
    written = [
        nodes
        for nodes in re.findall(r"^ *```sh +(.+)$", text, re.MULTILINE)
        if nodes != "variation"
    ]
    assert written
    assert re.findall(r'<pre tabindex="0" data-step="([^"]*)">', found["html"]) == written
    assert "network-goes-here" not in found["html"]
    assert "[network]" not in found["html"]
    assert "<script" not in found["html"]
    assert not re.search("<th></th>|&lt;td", found["html"])  # a heading has a name


def test_a_page_gets_the_language_that_it_prefers(client: TestClient) -> None:
    english = client.get("/api/labs/lab08").json()
    assert english["language"] == "en"
    codes = [one["code"] for one in english["languages"]]
    assert codes[0] == "en"
    assert {"code": "ru", "label": "Русский"} in english["languages"]
    russian = client.get("/api/labs/lab08?languages=xx&languages=ru-RU&languages=en").json()
    assert russian["language"] == "ru"
    assert russian["languages"] == english["languages"]
    assert russian["title"] != english["title"]
    # The heading is the page's own, and the steps can be run as in English.
    assert "<h1" not in russian["html"]
    assert russian["title"] not in russian["html"]
    steps = re.compile(r'<pre tabindex="0" data-step=.*?</pre>', re.DOTALL)
    assert steps.findall(russian["html"]) == steps.findall(english["html"])
    for query in ("", "?languages=xx", "?languages=en&languages=ru", "?languages=" + "r" * 150):
        assert client.get(f"/api/labs/lab08{query}").json() == english
    assert client.get("/api/labs/lab08?languages=" + "r" * 1000).status_code == 400


def test_labs_are_listed_with_the_titles_of_a_language(client: TestClient) -> None:
    english = {one["name"]: one for one in client.get("/api/labs").json()}
    russian = {one["name"]: one for one in client.get("/api/labs?languages=ru").json()}
    assert english.keys() == russian.keys()
    for name, one in russian.items():
        there = [language["code"] for language in one["languages"]]
        assert one["language"] == ("ru" if "ru" in there else "en")
        assert (one["title"] != english[name]["title"]) == ("ru" in there)
    assert russian["lab08"]["language"] == "ru"


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
    assert '<p class="typed-at">at h1, evil:</p>' in html
    assert "echo '&lt;script&gt;' &amp; exit" in html
    assert "onclick" not in html
    assert "data-step" not in page_text(text, title="").html
