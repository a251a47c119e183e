"""Images that tests make themselves: of programs of this computer, with their libraries."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PROGRAMS = ("sh", "ls", "cat", "env", "stat", "sleep")
_LIBRARY = re.compile(r"(/\S+) \(0x")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of a layer's tar."""

    path: str
    content: bytes = b""
    mode: int = 0o644
    kind: bytes = tarfile.REGTYPE
    target: str = ""
    size: int | None = None
    pax: dict[str, str] = field(default_factory=dict)


def folder(path: str, mode: int = 0o755) -> Entry:
    return Entry(path=path, mode=mode, kind=tarfile.DIRTYPE)


def link(path: str, target: str) -> Entry:
    return Entry(path=path, kind=tarfile.SYMTYPE, target=target, mode=0o777)


def hard_link(path: str, target: str) -> Entry:
    return Entry(path=path, kind=tarfile.LNKTYPE, target=target)


def layer(*entries: Entry) -> bytes:
    """Return the tar of a layer."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in entries:
            info = tarfile.TarInfo(entry.path)
            info.mode, info.type, info.linkname = entry.mode, entry.kind, entry.target
            info.size = len(entry.content) if entry.size is None else entry.size
            info.mtime = 1_000_000_000
            info.pax_headers = entry.pax
            tar.addfile(info, io.BytesIO(entry.content))
    return out.getvalue()


@cache
def programs(*names: str) -> tuple[Entry, ...]:
    """Return programs of this computer, in /bin, and the libraries that they load."""
    found: dict[str, Entry] = {}
    for name in names:
        path = Path(shutil.which(name) or "").resolve()
        done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        found[f"bin/{name}"] = Entry(path=f"bin/{name}", content=path.read_bytes(), mode=0o755)
        # Where a program cancels a thread, as iperf3 does from 3.16 on, libc loads this library.
        (libc,) = re.findall(r"\S+/libc\.so\.6", done.stdout)
        more = [str(Path(libc).with_name("libgcc_s.so.1"))] if name == "iperf3" else []
        for library in _LIBRARY.findall(done.stdout) + more:
            content = Path(library).read_bytes()
            found[library[1:]] = Entry(path=library[1:], content=content, mode=0o755)
    return tuple(found.values())


def small(*names: str) -> bytes:
    """Return a layer with a shell and a few programs."""
    return layer(*programs(*(names or PROGRAMS)))


def config(
    layers: Sequence[bytes], *, architecture: str = "amd64", **settings: object
) -> dict[str, object]:
    """Return the configuration of an image."""
    return {
        "architecture": architecture,
        "os": "linux",
        "config": settings,
        "rootfs": {"type": "layers", "diff_ids": [digest(one) for one in layers]},
    }


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def packed(files: dict[str, bytes]) -> bytes:
    return layer(*(Entry(path=path, content=content) for path, content in files.items()))


def docker_files(layers: Sequence[bytes], **settings: object) -> dict[str, bytes]:
    """Return the files of what `docker save` wrote before version 25."""
    content = json.dumps(config(layers, **settings)).encode()  # type: ignore[arg-type]
    name = f"{digest(content).removeprefix('sha256:')}.json"
    names = [f"{digest(one)[7:]}/layer.tar" for one in layers]
    manifest = [{"Config": name, "RepoTags": ["small:1"], "Layers": names}]
    return {
        **dict(zip(names, layers, strict=True)),
        name: content,
        "manifest.json": json.dumps(manifest).encode(),
    }


def docker(layers: Sequence[bytes], **settings: object) -> bytes:
    return packed(docker_files(layers, **settings))


def oci_files(
    layers: Sequence[bytes], *, compress: bool = True, **settings: object
) -> dict[str, bytes]:
    """Return the files of an OCI layout, with layers compressed by gzip."""
    content = json.dumps(config(layers, **settings)).encode()  # type: ignore[arg-type]
    blobs = {digest(content): content}
    kept = []
    for one in layers:
        stored = gzip.compress(one, mtime=0) if compress else one
        blobs[digest(stored)] = stored
        kept.append(digest(stored))
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "config": {"digest": digest(content), "size": len(content)},
            "layers": [{"digest": one, "mediaType": "x"} for one in kept],
        }
    ).encode()
    blobs[digest(manifest)] = manifest
    index = {"schemaVersion": 2, "manifests": [{"digest": digest(manifest), "size": 1}]}
    return {
        "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
        "index.json": json.dumps(index).encode(),
        **{f"blobs/{name.replace(':', '/')}": blob for name, blob in blobs.items()},
    }


def oci(layers: Sequence[bytes], **settings: object) -> bytes:
    return packed(oci_files(layers, **settings))  # type: ignore[arg-type]


def put(files: dict[str, bytes], place: Path) -> None:
    """Write files into a folder."""
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
