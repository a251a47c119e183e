"""Readers of studies, and of the other formats that networks come in."""

from __future__ import annotations

import io
import re
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from longfat.model.case import Case
from longfat.model.trace import parse_trace
from longfat.study import read_study
from longfat.study.check import check_text, repaired
from longfat.study.file_reader import folder_reader
from longfat.study.formats.miniedit import read_miniedit
from longfat.study.formats.mininet import network_of, read_mininet
from longfat.study.formats.mininet.machine import run_script
from longfat.study.formats.write import study_text
from longfat.study.reachability import UnreachableError
from longfat.study.templates import TEMPLATES, make_template
from longfat_class.study.traffic import script_traffic
from tests.mutations.kind import DATA, WrongError, write


def check_study(folder: Path, content: bytes) -> None:
    read_study(write(folder, "study.yaml", content))


def broken_networks() -> list[bytes]:
    """Return templates, and the same without routes and forwarding."""
    found = []
    for name in ("wan", "data-centre", "parking-lot"):
        text = make_template(
            TEMPLATES[name], {"hosts": "1"} if name != "parking-lot" else {}
        ).text()
        drawn = f"{text}\ndrawing:\n  notes: [{{text: a, at: [1, 2]}}]\n"
        found.append((text if "drawing:" in text else drawn).encode())
        found.append(re.sub(r", routes: {[^}]*}|forwards: yes", "", text).encode())
    return found


def check_mistakes(folder: Path, content: bytes) -> None:
    """All that is told of a study has its place, and a repair does what it says."""
    text = content.decode("utf-8", "replace")
    checked = check_text(text, name="x.yaml", beside=folder_reader(folder))
    mistakes = [one for one in checked.findings if one.is_mistake]
    if bool(mistakes) == (checked.study is not None):
        raise WrongError("a study has mistakes and can be run, or neither")
    lines = len(re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text))
    places = [one.error.place for one in checked.findings]
    for place in places:
        if place is None or not 1 <= place.line <= lines + 1 or place.column < 1:
            raise WrongError(f"a mistake stands nowhere: {place}")
    if checked.repair:
        again = check_text(
            repaired(text, checked.repair), name="x.yaml", beside=folder_reader(folder)
        )
        if any(isinstance(one.error, UnreachableError) for one in again.findings):
            raise WrongError("a repair repairs nothing")
    if mistakes:
        raise mistakes[0].error


def check_drawing(folder: Path, content: bytes) -> None:
    read_miniedit(write(folder, "x.mn", content))


@cache
def traces() -> list[bytes]:
    """Return a trace in each form: opportunities, CSV, and Parquet of the same rows."""
    columns = {"time_s": [0.0, 1.5, 3.0], "rate_mbps": [5.0, 0.0, 2.5], "loss": [0.0, 0.01, 0.0]}
    rows = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    table = io.BytesIO()
    pq.write_table(pa.table(columns), table)
    return [b"0\n3\n3\n7\n10\n", "\n".join(rows).encode(), table.getvalue()]


def check_trace(folder: Path, content: bytes) -> None:
    del folder
    trace = parse_trace(content)
    times = [row.at_ns for row in trace.rows]
    if times != sorted(times) or not 0 <= times[-1] <= trace.end_ns:
        raise WrongError("its rows are not in their order")
    if any(row.value < 0 or row.delay_ns < 0 or not 0 <= row.loss <= 2**32 for row in trace.rows):
        raise WrongError("the kernel would refuse it")


def check_script(folder: Path, content: bytes) -> None:
    read_mininet(write(folder, "x.py", content))


@cache
def records() -> list[bytes]:
    """Return what a machine says of a script, whole and of one that fails."""
    path = DATA / "mininet" / "from_miniedit.py"
    content = path.read_bytes()
    return [run_script(path, one) for one in (content, content + b"\n1 / 0\n")]


def check_record(folder: Path, content: bytes) -> None:
    """Read what a machine says of a script, and write the network as a study."""
    del folder
    found, _ = network_of(content, file="x.py")
    study_text(title="x", case=Case(kernel="6.1", network=found.network, setup=found.setup))
    script_traffic(found.typed, found.network.host_addresses())
