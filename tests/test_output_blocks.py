"""Output of commands on pages: `tools/output_blocks.py`."""

from __future__ import annotations

import pytest

from longfat.errors import InputError
from tests.paths import REPOSITORY
from tools.figures import Texts
from tools.output_blocks import main, outputs, renewed

PAGE = """\
It prints:

<!-- output of: longfat run lab -->
```
2 of 2 cases, 3.5 virtual s in 7.5 s

a
  rate   1.5 Mbit/s
b
  rate   2.5 Mbit/s

Files
runs  runs/lab
```

<!-- excerpt of: longfat run lab -->
```
b
  rate   0.1 Mbit/s
```
"""


def printed(arguments: str) -> str:
    """Return what a run would print."""
    assert arguments == "lab"
    return (
        "2 of 2 cases, 3.6 virtual s in 1.2 s\n\na\n  rate  10.5 Mbit/s\nb\n  rate   2 Mbit/s\n\n"
    )


def test_blocks_are_renewed() -> None:
    page = PAGE.replace("3.5 virtual", "3.6 virtual").replace(" 1.5 Mbit", "10.5 Mbit")
    page = page.replace("  2.5 Mbit", "  2 Mbit").replace("  0.1 Mbit", "  2 Mbit")
    assert renewed(PAGE, printed) == page
    assert list(outputs(page)) == [("lab", printed("lab").replace("1.2 s", "7.5 s"))]


def test_an_excerpt_keeps_the_order_of_the_output() -> None:
    with pytest.raises(InputError, match="no line as 'a'"):
        renewed(PAGE.replace("b\n  rate   0.1 Mbit/s", "b\na"), printed)


def test_excerpts_are_those_of_the_whole_outputs() -> None:
    pages = [file.read_text("utf-8") for file in Texts().pages()]
    whole = {arguments: text for page in pages for arguments, text in outputs(page)}
    assert "lab08" in whole
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    assert "<!-- excerpt of: longfat run lab08 -->" in readme
    for page in pages:
        assert renewed(page, whole.__getitem__) == page


@pytest.mark.slow
def test_the_whole_outputs_are_those_of_runs() -> None:
    assert main(["--check"]) == 0
