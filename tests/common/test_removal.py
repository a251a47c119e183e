"""Folders are removed whatever their rights, by a user whom rights concern."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from longfat.common.removal import remove_tree

_NOBODY = 65534

PROGRAM = """
import os, sys
from pathlib import Path
from longfat.common.removal import remove_tree
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
top = Path(sys.argv[1])
run = top / "run"
for name in ("a", "a/b", "c", "d"):
    (run / name).mkdir(parents=True)
for name in ("manifest.json", "a/x", "a/b/y", "d/z"):
    (run / name).write_text("z")
    (run / name).chmod(0)
(run / "link").symlink_to(top / "other")
(top / "other").mkdir()
for name, mode in (("a/b", 0), ("a", 0o300), ("c", 0), ("d", 0o500), (".", 0o300)):
    (run / name).chmod(mode)
top.chmod(0o500)
remove_tree(run, last="manifest.json")
print(sorted(one.name for one in top.iterdir()))
"""


def test_odd_rights_keep_nothing(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    if os.getuid() == 0:
        os.chown(top, _NOBODY, _NOBODY)
        for one in (tmp_path, *tmp_path.parents[:3]):
            if one != Path("/tmp"):
                one.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(nobody=_NOBODY), str(top)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "['other']\n", done.stderr


def test_the_last_file_is_there_if_something_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("a", "m", "z"):
        (run / name).write_text(name)
    unlink = os.unlink

    def refuse(name: str, **where: int) -> None:
        if name == "z":
            raise PermissionError
        unlink(name, **where)

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(PermissionError):
        remove_tree(run, last="m")
    monkeypatch.undo()
    assert (run / "m").exists()
    remove_tree(run, last="m")
    assert not run.exists()
