"""`longfat packets`: the list of packets, at a terminal and in a pipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.analysis.packets.capture import write_pcapng
from longfat.cli.render.packets import MAX_ROWS
from tests.analysis.packets.made import transfer
from tests.cli.test_hostile_texts import OF_RICH, shown
from tests.command import longfat

COUNT = 2 * MAX_ROWS


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packets") / "made.pcapng"
    path.write_bytes(b"".join(write_pcapng(transfer(COUNT))))
    return path


def test_a_pipe_gets_all(capture: Path) -> None:
    done = longfat("packets", capture.name, "--decoder", "dpkt", cwd=capture.parent)
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["no.", "time", "source", "target", "protocol", "bytes", "what"]
    assert [int(row.split()[0]) for row in rows] == list(range(1, COUNT + 1))
    assert {len(row.partition(" TCP ")[0]) for row in rows} == {head.index("protocol") - 1}
    assert "more packets" not in done.stderr


def test_the_first_are_as_they_are_in_the_whole_list(capture: Path) -> None:
    whole = longfat("packets", capture.name, "--decoder", "dpkt", cwd=capture.parent)
    arguments = ("packets", capture.name, "--decoder", "dpkt", "--first", "50")
    first = longfat(*arguments, cwd=capture.parent)
    rows = [[row.split() for row in done.stdout.splitlines()[:51]] for done in (whole, first)]
    assert rows[0] == rows[1]
    assert f"{COUNT - 50:,} more packets pass: --first N prints N" in first.stderr


def test_a_terminal_gets_so_many_and_a_note(capture: Path) -> None:
    got = OF_RICH.sub("", shown("packets", capture.name, "--decoder", "dpkt", cwd=capture.parent))
    numbers = [line.split()[0] for line in got.splitlines() if " TCP " in line]
    assert numbers == [str(number) for number in range(1, MAX_ROWS + 1)]
    assert f"{COUNT - MAX_ROWS:,} more packets pass: --first N prints N" in got


def test_json_holds_what_passes(capture: Path) -> None:
    arguments = ("--decoder", "dpkt", "--json", "--first", "2", "--filter", "tcp.flags.syn == 1")
    done = longfat("packets", capture.name, *arguments, cwd=capture.parent)
    listing = json.loads(done.stdout)
    assert (listing["packets"], listing["total"]) == (COUNT, 2)
    assert [row["number"] for row in listing["rows"]] == [1, 2]
    none = longfat("packets", capture.name, *arguments[:-1], "udp", cwd=capture.parent)
    assert json.loads(none.stdout)["rows"] == []
