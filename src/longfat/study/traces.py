"""The traces that a study's links follow: files beside it, which go into the machine.

A link names a file beside the study, which becomes a file of the machine, the path of one of
the study's `files`, or one of the traces that longfat makes up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.case import File
from longfat.model.trace_models import MODELS
from longfat.model.traced_links import named_trace
from longfat.study.files import MOST_FILE_BYTES, ReadBeside, WrittenFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.study.node import Node

_FOLDER = "/opt/traces"


class Traces:
    """Reads the traces of a network; `check` validates them.

    Args:
        beside: reads files beside the study.

    Attributes:
        files: those that were read, by their paths in the machine.
    """

    def __init__(self, beside: ReadBeside) -> None:
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
            if len(content) > MOST_FILE_BYTES:
                raise InputError(f"the file is larger than {MOST_FILE_BYTES // 1024**2} MB")
        except InputError as error:
            raise node.error(error.message) from None
        path = f"{_FOLDER}/{name}"
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
                named_trace(path, {name: one.file.content for name, one in files.items()})
            except InputError as error:
                raise node.error(error.message) from None
