"""The examples of docs/python.md, run one after the other as a reader would type them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import REPOSITORY

PAGE = REPOSITORY / "docs/python.md"


@pytest.mark.slow  # one has hosts with clocks of their own
def test_every_example_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start(1))
        exec(compile("\n" * line + found[1], str(PAGE), "exec"), names)
    assert Path("lab.yaml").is_file()
    assert Path("h1-eth0.pcap").stat().st_size > 24
