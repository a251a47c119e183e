"""The fields `files` and `packages`, and the images and traces that a network names.

    files:
      /etc/frr/daemons: daemons
      /opt/lab/server.py: {from: server.py, executable: true}
      /tmp/notes: {text: inline text}
    packages: requirements.lock

or

    packages:
      - pylsqpack==0.3.24 --hash=sha256:5df8...

All of them go into the machine of a case. They are written inline or lie beside the study, where
`longfat.study.file_reader` reads them. No package is installed by reading: the case that is run
has them.
"""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.case import File
from longfat.model.packages import PinnedPackage, add_package, pinned_package, pinned_packages
from longfat.model.trace_models import MODELS
from longfat.model.traced_links import named_trace
from longfat.study.document import Scalar
from longfat.study.file_reader import MAX_FILE_BYTES, FileReader

if TYPE_CHECKING:
    from longfat.errors import Place
    from longfat.model.network import HostRoot
    from longfat.study.node import Key, Node

MAX_CASE_BYTES = 16 * 1024**2
"""How large all files of a case may be together."""

# What the guest makes itself: kernel file systems, its own folders, and the hosts' names.
_TAKEN = (
    *("/proc", "/sys", "/dev", "/run/longfat", "/run/layers", "/run/netns"),
    *("/run/roots", "/run/traces", "/etc/hosts"),
)
# They separate the options of an overlay mount, or escape.
_SEPARATORS = ",:\\"
_MAX_NAME, _MAX_PATH = 255, 4000

_SOURCES = ("from", "text", "base64")
_FORM = "a file beside the study, or a mapping such as {from: server.py, executable: true}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file of a study, with the place of its path."""

    file: File
    place: Place


def read_file(key: Key, node: Node, *, read: FileReader) -> WrittenFile:
    """Read one entry of `files`.

    Args:
        key: the path in the machine.
        node: what is to be there.
        read: reads files beside the study.

    Raises:
        InputError: the path cannot be, or the content cannot be read or is too large.
    """
    _check_path(key)
    executable = False
    if node.is_mapping:
        fields = node.fields(_FORM, allowed=(*_SOURCES, "executable"))
        sources = [name for name in _SOURCES if name in fields]
        if len(sources) != 1:
            raise node.error(
                f"a file has one of {', '.join(_SOURCES)}, and here are {len(sources)}"
            )
        if "executable" in fields:
            executable = fields["executable"].boolean()
        source, value = sources[0], fields[sources[0]]
    else:
        source, value = "from", node
    content = _content(source, value, read=read)
    if len(content) > MAX_FILE_BYTES:
        raise value.error(f"the file is larger than {MAX_FILE_BYTES // 1024**2} MB")
    file = File(path=key.text, content=content, executable=executable)
    return WrittenFile(file=file, place=key.place)


def _content(source: str, node: Node, *, read: FileReader) -> bytes:
    if source == "from":
        try:
            return read(node.line(_FORM))
        except InputError as error:
            raise error if error.place else node.error(error.message) from None
    # An empty text is an empty file.
    if not isinstance(node.raw, Scalar) or node.is_null:
        raise node.expected("a text")
    if source == "text":
        return node.raw.text.encode()
    try:
        return base64.b64decode("".join(node.raw.text.split()), validate=True)
    except ValueError:  # also where it is not ASCII
        raise node.expected("base64 (RFC 4648)") from None


def _check_path(key: Key) -> None:
    path = key.text
    if not path.startswith("/") or path.startswith("//") or posixpath.normpath(path) != path:
        reason = "is not an absolute, normalised path in the machine, such as /opt/lab/server.py"
    elif path.count("/") < 2:
        reason = "is in /, which cannot be written: choose a folder, such as /opt"
    elif any(path == taken or path.startswith(f"{taken}/") for taken in _TAKEN):
        reason = "belongs to the machine itself: choose another folder, such as /opt"
    elif not path.isprintable() or any(separator in path for separator in _SEPARATORS):
        reason = "holds a comma, a colon, a backslash, or a character that cannot be printed"
    elif len(path.encode()) > _MAX_PATH or any(
        len(name.encode()) > _MAX_NAME for name in path.split("/")
    ):
        reason = f"is too long: a name has at most {_MAX_NAME} bytes"
    else:
        return
    raise InputError(f"{path[:80]!r} {reason}", place=key.place)


def check_files(files: Iterable[WrittenFile]) -> None:
    """Check what needs all files of a case.

    Raises:
        InputError: they are too large together, or one is at the path of another one's folder.
    """
    files = list(files)
    paths = {written.file.path for written in files}
    total = 0
    for written in files:
        for folder in PurePosixPath(written.file.path).parents:
            if str(folder) in paths:
                raise InputError(
                    f"{folder} is a file of this case, not a folder", place=written.place
                )
        total += len(written.file.content)
        if total > MAX_CASE_BYTES:
            raise InputError(
                f"with this one, a case's files are larger than {MAX_CASE_BYTES // 1024**2} MB",
                place=written.place,
            )


_TRACES_FOLDER = "/opt/traces"


class Traces:
    """Reads the traces of a network; `check` validates them.

    Args:
        beside: reads the files beside the study.

    Attributes:
        files: those that were read, by their paths in the machine.
    """

    def __init__(self, beside: FileReader) -> None:
        self._beside = beside
        self._named: dict[str, Node] = {}
        self.files: dict[str, WrittenFile] = {}

    def path(self, node: Node) -> str:
        """Return what a case calls the trace that a link names.

        Args:
            node: the value of the link's `trace`.

        Raises:
            InputError: there is no such file.
        """
        name = node.line("a trace's file (such as lte.trace)")
        if name.startswith("/") or name in MODELS:
            self._named[name] = node
            return name
        try:
            content = self._beside(name)
            if len(content) > MAX_FILE_BYTES:
                raise InputError(f"the file is larger than {MAX_FILE_BYTES // 1024**2} MB")
        except InputError as error:
            raise node.error(error.message) from None
        path = f"{_TRACES_FOLDER}/{name}"
        self._named[path] = node
        self.files[path] = WrittenFile(file=File(path=path, content=content), place=node.place)
        return path

    def check(self, files: Mapping[str, WrittenFile]) -> None:
        """Check that the traces are there, and are some.

        Args:
            files: the files of the machine, by their paths in it.

        Raises:
            InputError: one is not there, or is no trace.
        """
        for path, node in self._named.items():
            try:
                named_trace(path, {name: written.file.content for name, written in files.items()})
            except InputError as error:
                raise node.error(error.message) from None


_PACKAGES_FORM = "a lock file beside the study, or a list of NAME==VERSION --hash=sha256:DIGEST"

MAX_PACKAGES = 200


def read_packages(
    node: Node, *, read: FileReader
) -> tuple[tuple[PinnedPackage, ...], tuple[Place, ...]]:
    """Read the field.

    Args:
        node: its value; nothing means none.
        read: reads the lock file.

    Returns:
        The packages in their order, and where each was written: for those of a lock file,
        where the file is named.

    Raises:
        InputError: one is not pinned by version and hash, or the file cannot be read.
    """
    if node.is_null:
        return (), ()
    if not node.is_sequence:
        name = node.line(_PACKAGES_FORM)
        try:
            lines = read(name).decode().splitlines()
            packages = pinned_packages(lines, name=name) if lines else ()
        except InputError as error:
            raise error if error.place else node.error(error.message) from None
        except UnicodeDecodeError:
            raise node.error(f"{name!r} is not text in UTF-8") from None
        places = (node.place,) * len(packages)
    else:
        named: dict[str, PinnedPackage] = {}
        at = []
        for entry in node.sequence(_PACKAGES_FORM):
            try:
                add_package(named, pinned_package(entry.line(_PACKAGES_FORM)))
            except InputError as error:
                raise error if error.place else entry.error(error.message) from None
            at.append(entry.place)
        packages, places = tuple(named.values()), tuple(at)
    if len(packages) > MAX_PACKAGES:
        raise node.error(f"{len(packages)} packages are too many: {MAX_PACKAGES} at most")
    return packages, places


class Images:
    """Finds the images that a study names, each once.

    Args:
        beside: reads the files beside the study.
    """

    def __init__(self, beside: FileReader) -> None:
        self._beside = beside
        self._found: dict[str, HostRoot] = {}

    def find(self, named: HostRoot, node: Node) -> HostRoot:
        """Return an image that a host names, unpacked into the cache.

        Args:
            named: its name.
            node: where that is written.

        Raises:
            InputError: there is none of that name, or none that a machine can run.
            HostError: it cannot be unpacked.
        """
        name = named.image
        if name not in self._found:
            try:
                self._found[name] = self._beside.image(name)
            except InputError as error:
                raise node.error(error.message) from None
        return self._found[name]
