"""Loaded into a worker by `dask worker --preload`: sends what no worker of ours would.

What it sends is said by the file that `LONGFAT_HOSTILE` names, and made of the run that
`LONGFAT_HOSTILE_RUN` names; it runs nothing itself.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longfat.common.checksum import SEAL, sealed
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST, sums_of
from longfat_cluster import worker
from longfat_cluster.transfer import Done, Failed, packed


def _block(*items: tuple[str, bytes, bytes]) -> bytes:
    """Return a block of members: names, types, contents; what it tells of them is right."""
    target = io.BytesIO()
    told = [
        {
            "name": name,
            "size_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, _, content in items
    ]
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        contents = json.dumps(told).encode()
        for name, kind, content in (("contents.json", tarfile.REGTYPE, contents), *items):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return target.getvalue()


def _bomb() -> bytes:
    header = tarfile.TarInfo("contents.json")
    header.type, header.size = tarfile.XHDTYPE, 1 << 30
    return gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(64 << 20), 1)


def _changed(source: Path, *changes: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "run"
        shutil.copytree(source, copy)
        for change in changes:
            change(copy)
        return packed(copy)


def _manifest(**fields: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / MANIFEST
        data = json.loads(path.read_text())
        del data[SEAL]
        files = {name: asdict(file) for name, file in sums_of(folder).items()}
        path.write_text(json.dumps(sealed(data | {"files": files} | fields)))

    return change


def _raw(folder: Path) -> None:
    path = next((folder / "raw").iterdir())
    path.write_bytes(path.read_bytes() + b"\n")


def _series(folder: Path) -> None:
    for path in (folder / "series").iterdir():
        path.write_bytes(b"x")


def _page(folder: Path) -> None:
    (folder / "report.html").write_text("<script>alert(1)</script>")


class _Runs:
    """A pickle that runs a program when it is read."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (f"touch '{os.environ['LONGFAT_HOSTILE']}.ran'",)


def _answer(mode: str, source: Path) -> Any:
    digest = load_run(source).digest
    file = tarfile.REGTYPE
    blocks: dict[str, Callable[[], bytes]] = {
        "path traversal": lambda: _block(("../../evil", file, b"x")),
        "absolute path": lambda: _block(("/tmp/longfat-evil", file, b"x")),
        "symbolic link": lambda: _block(("raw", tarfile.SYMTYPE, b"")),
        "hard link": lambda: _block(("raw", tarfile.LNKTYPE, b"")),
        "device": lambda: _block(("raw", tarfile.CHRTYPE, b"")),
        "pipe": lambda: _block(("raw", tarfile.FIFOTYPE, b"")),
        "bomb": _bomb,
        "another case": lambda: _changed(source, _manifest(case_digest="0" * 64)),
        "changed raw file": lambda: _changed(source, _raw),
        "a page": lambda: _changed(source, _page),
        "wrong metrics": lambda: _changed(source, _manifest(metrics={"rtt.avg_s": 1e9})),
        "wrong series": lambda: _changed(source, _series, _manifest()),
    }
    if mode in blocks:
        return Done(digest=digest, block=blocks[mode]())
    others: dict[str, Callable[[], Any]] = {
        "wrong digest": lambda: Done(digest="0" * 64, block=packed(source)),
        "digest that is a path": lambda: Done(digest="../../evil", block=packed(source)),
        "block that is no bytes": lambda: Done(digest=digest, block="x"),  # type: ignore[arg-type]
        "no block": lambda: Done(digest=digest, block=None),  # type: ignore[arg-type]
        "no outcome": lambda: ["x"],
        "no error": lambda: Failed(error=ValueError("x")),  # type: ignore[arg-type]
        "a failure": lambda: Failed(error=InputError("it says so")),
        "a pickle": lambda: [_Runs()],
    }
    return others[mode]()


def _hostile(order: Any, reporter: Any) -> Any:
    del order
    reporter.send({"virtual_s": "soon", "expected_s": None})
    mode = Path(os.environ["LONGFAT_HOSTILE"]).read_text()
    return _answer(mode, Path(os.environ["LONGFAT_HOSTILE_RUN"]))


def dask_setup(_: object) -> None:
    setattr(worker, "_run", _hostile)  # noqa: B010
