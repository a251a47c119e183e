"""Files that programs write in a session's machine can be read until it ends."""

from __future__ import annotations

import pytest

from longfat.errors import InputError
from longfat.live.shell.work_folder import HOME
from tests.studio.live.conftest import MakePage


def test_files_that_a_terminal_wrote(make_page: MakePage) -> None:
    page = make_page()
    assert page.live.files() == []
    line = "ping -c 2 -i 0.2 h2 > out.txt; mkdir -p 'my data'; echo 12 > 'my data/b.csv'; touch .x"
    page.do("type", nodes=["h1"], text=line)
    page.wait(lambda: page.last("typed"))
    files = page.live.files()
    assert [file["path"] for file in files] == [f"{HOME}/my data/b.csv", f"{HOME}/out.txt"]
    assert files[0]["bytes"] == 3
    assert page.live.read_file(f"{HOME}/my data/b.csv") == b"12\n"
    assert b"2 packets transmitted" in page.live.read_file(f"{HOME}/out.txt")
    for path in ("/etc/passwd", f"{HOME}/../etc/passwd", f"{HOME}/none"):
        with pytest.raises(InputError, match="there is no file"):
            page.live.read_file(path)
    # The session goes on.
    page.do("ask", number=1, node="h1", line="echo on")
    page.wait(lambda: (page.last("answer") or {}).get("text") == "on\n")
    page.live.close()
    with pytest.raises(InputError, match="has ended"):
        page.live.files()
