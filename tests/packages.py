"""Wheels made by hand, in a folder that pip is sent to in place of an index."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

# A module of the stable ABI, with no header: only what CPython promises of it is declared.
_EXTENSION = """
typedef struct { const char *name; void *(*call)(void *, void *); int flags; const char *doc; } Way;
typedef struct {
  long head[5]; const char *name, *doc; long size; Way *methods; void *rest[4];
} Module;
extern void *PyModule_Create2(Module *, int);
extern void *PyLong_FromLong(long);
static void *answer(void *self, void *none) { return PyLong_FromLong(42); }
static Way methods[] = {{"answer", answer, 4, 0}, {0, 0, 0, 0}};
static Module module = {{1, 0, 0, 0, 0}, "_fast", 0, -1, methods, {0, 0, 0, 0}};
void *PyInit__fast(void) { return PyModule_Create2(&module, 3); }
"""


class WheelFolder:
    """A folder of wheels, and pip's only source of any."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

    def add(
        self,
        name: str,
        files: Mapping[str, bytes | str],
        *,
        version: str = "1.0",
        tag: str = "py3-none-any",
        needs: Sequence[str] = (),
    ) -> str:
        """Put a wheel there; return the line that pins it."""
        about = f"{name}-{version}.dist-info"
        metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
        metadata += [f"Requires-Dist: {one}" for one in needs]
        pure = str(tag.endswith("any")).lower()
        content = {
            **files,
            f"{about}/METADATA": "\n".join(metadata) + "\n",
            f"{about}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: {pure}\nTag: {tag}\n",
        }
        records = "".join(f"{path},,\n" for path in (*content, f"{about}/RECORD"))
        path = self.folder / f"{name}-{version}-{tag}.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for place, data in {**content, f"{about}/RECORD": records}.items():
                wheel.writestr(zipfile.ZipInfo(place), data)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return f"{name}=={version} --hash=sha256:{digest}"

    def add_compiled(self, name: str = "fast") -> str:
        """Put a wheel there whose package is compiled, has a script, and a template."""
        library = self.folder / "_fast.so"
        argv = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
        subprocess.run(argv, input=_EXTENSION.encode(), check=True)
        files: dict[str, bytes | str] = {
            f"{name}/__init__.py": f"from {name}._fast import answer\n",
            f"{name}/_fast.abi3.so": library.read_bytes(),
            f"{name}/template.py": "{% not python %}\n",
            f"{name}-1.0.data/scripts/{name}": "#!python\nprint('never')\n",
        }
        library.unlink()
        return self.add(name, files, tag="cp311-abi3-linux_x86_64")

    def close(self) -> None:
        """Have nothing there any more."""
        for path in self.folder.iterdir():
            path.unlink()
