"""Write a wheel whose bytes depend on its contents alone.

A wheel of files that are there already is a zip with three text files; a build
backend would want a project around them, and a hook for the platform's tag.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# The earliest time that a zip can say.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_REGULAR_FILE = 0o100000


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file in a wheel.

    Attributes:
        content: its bytes.
        executable: whether it may be executed, as pip will install it.
    """

    content: bytes
    executable: bool = False

    @classmethod
    def of(cls, path: Path) -> Member:
        """Return the member that a file on disk becomes.

        Raises:
            OSError: it cannot be read.
        """
        return cls(content=path.read_bytes(), executable=bool(path.stat().st_mode & 0o100))


def write_wheel(
    folder: Path,
    *,
    name: str,
    version: str,
    tag: str,
    about: Mapping[str, str],
    text: str,
    members: Mapping[str, Member],
    licences: Mapping[str, Member],
) -> Path:
    """Write a wheel of files that depend on the platform.

    Args:
        folder: where to.
        name: the name of the distribution.
        version: its version, in the normal form.
        tag: such as `py3-none-any`.
        about: further fields of the metadata.
        text: its description, in Markdown.
        members: the files to install, by their paths in site-packages.
        licences: the texts of its licences, by file name.

    Returns:
        The wheel.

    Raises:
        OSError: it cannot be written.
    """
    stem = f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}"
    fields = {
        "Metadata-Version": "2.4",
        "Name": name,
        "Version": version,
        **about,
        "Description-Content-Type": "text/markdown",
    }
    head = [f"{field}: {value}\n" for field, value in fields.items()]
    head += [f"License-File: {file}\n" for file in licences]
    wheel = f"Wheel-Version: 1.0\nGenerator: longfat\nRoot-Is-Purelib: false\nTag: {tag}\n"
    everything = {
        **dict(sorted(members.items())),
        **{f"{stem}.dist-info/licenses/{file}": text for file, text in licences.items()},
        f"{stem}.dist-info/METADATA": Member(content=("".join(head) + "\n" + text).encode()),
        f"{stem}.dist-info/WHEEL": Member(content=wheel.encode()),
    }
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},{_sum(member)}\n" for path, member in everything.items()]
    everything[record] = Member(content="".join([*lines, f"{record},,\n"]).encode())

    made = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(made, "w") as file:
        for path, member in everything.items():
            entry = zipfile.ZipInfo(path, _TIME)
            entry.create_system = _UNIX
            mode = 0o755 if member.executable else 0o644
            entry.external_attr = (_REGULAR_FILE | mode) << 16
            file.writestr(entry, member.content, zipfile.ZIP_DEFLATED, 9)
    return made


def _sum(member: Member) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(member.content).digest())
    return f"sha256={digest.rstrip(b'=').decode()},{len(member.content)}"
