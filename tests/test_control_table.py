"""The page of congestion controls and queues has each case of its study."""

from __future__ import annotations

import re

from longfat.common import resources
from longfat.study import read_study
from longfat.study.text import read_text
from tests.paths import REPOSITORY


def test_the_page_has_the_cases_of_the_study() -> None:
    study = read_study(resources.folder("studies") / "congestion-and-queues")
    text = read_text(REPOSITORY / "docs/congestion-and-queues.md")
    tables = {
        heading.group(1): text[heading.end() :].partition("\n## ")[0]
        for heading in re.finditer(r"^## \S+, (with|without) ECN$", text, re.MULTILINE)
    }
    columns = {ecn: re.findall(r"`(\w+)`", table.split("\n")[2]) for ecn, table in tables.items()}
    rows = {
        (ecn, row[0]): row[1:]
        for ecn, table in tables.items()
        for line in table.split("\n")[4:]
        if (row := [cell.strip(" `") for cell in line.strip("| ").split(" | ")]) != [""]
    }
    for case in study.cases.values():
        ecn, queue, control = (
            case.parameters[name].text for name in ("ecn", "queue", "congestion")
        )
        cell = rows[ecn, control][columns[ecn].index(queue)]
        assert re.fullmatch(r"\d+\.\d / \d+\.\d", cell), (ecn, queue, control)
