"""Make server.tar, as `docker save` would: of programs of this computer, with their libraries."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

PROGRAMS = ("sh", "cat", "iperf3")
SETTINGS = {
    "Env": ["PATH=/bin", "SERVICE=upload"],
    "WorkingDir": "/srv",
    "Entrypoint": ["iperf3", "-s"],
    "Cmd": ["-p", "9000"],
}


def files() -> dict[str, bytes]:
    """Return what the image holds, by path: the programs, and the libraries that they load."""
    found: dict[str, bytes] = {}
    for name in PROGRAMS:
        path = shutil.which(name)
        if path is None:
            raise SystemExit(f"the program {name!r} is not installed")
        done = subprocess.run(["ldd", path], capture_output=True, text=True, check=True)
        found[f"bin/{name}"] = Path(path).read_bytes()
        for library in re.findall(r"(/\S+) \(0x", done.stdout):
            found[library[1:]] = Path(library).read_bytes()
    return found


def packed(content: dict[str, bytes], *, folders: tuple[str, ...] = ()) -> bytes:
    """Return a tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in folders:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def main(place: Path) -> None:
    """Write the image."""
    layer = packed(files(), folders=("srv", "var"))
    diff = hashlib.sha256(layer).hexdigest()
    rootfs = {"type": "layers", "diff_ids": [f"sha256:{diff}"]}
    config = json.dumps(
        {"architecture": "amd64", "os": "linux", "config": SETTINGS, "rootfs": rootfs}
    ).encode()
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": ["server:latest"], "Layers": [f"{diff}/layer.tar"]}]
    place.write_bytes(
        packed(
            {
                name: config,
                f"{diff}/layer.tar": layer,
                "manifest.json": json.dumps(manifest).encode(),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("server.tar"))
