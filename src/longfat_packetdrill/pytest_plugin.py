"""A part of longfat's pytest plug-in: packetdrill scripts as tests.

Pytest loads this with every run of every project, so it imports nothing of longfat before a
script runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest._code.code import TerminalRepr

_DEFAULT_SEED = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("longfat").addoption(
        "--longfat-packetdrill",
        action="store_true",
        help="collect packetdrill scripts (*.pkt), too",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect packetdrill scripts, if the option is given."""
    if file_path.suffix != ".pkt" or not parent.config.getoption("--longfat-packetdrill"):
        return None
    scripts: pytest.Collector = _Scripts.from_parent(parent, path=file_path)
    return scripts


class _Scripts(pytest.File):
    """A file with a packetdrill script, which is one test."""

    def collect(self) -> Iterator[pytest.Item]:
        yield _ScriptItem.from_parent(self, name=self.path.stem)


class _ScriptFailedError(Exception):
    """The kernel did not do what a script says; the message is what the command prints."""


class _ScriptItem(pytest.Item):
    """A packetdrill script, run as `longfat packetdrill` runs it. docs/packetdrill.md."""

    def runtest(self) -> None:
        from longfat.engine import kernel as kernels  # noqa: PLC0415  see above
        from longfat.engine.kernel.version import NEWEST  # noqa: PLC0415
        from longfat_packetdrill.options import Settings  # noqa: PLC0415
        from longfat_packetdrill.parser import parse_script  # noqa: PLC0415
        from longfat_packetdrill.run import explain, run_script  # noqa: PLC0415

        text = self.path.read_text(encoding="utf-8", errors="surrogateescape")
        script = parse_script(text, file=str(self.path), settings=Settings())
        kernel = kernels.find(self.config.getoption("--longfat-kernel") or NEWEST)
        seed = self.config.getoption("--longfat-seed")
        result = run_script(
            script,
            root=self.path.parent,
            kernel=kernel,
            seed=_DEFAULT_SEED if seed is None else seed,
        )
        if result.failure is not None:
            raise _ScriptFailedError("\n".join(explain(script, result.failure)))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        """Return an error of the script without our own traceback."""
        from longfat.errors import LongfatError  # noqa: PLC0415  see above

        if isinstance(excinfo.value, _ScriptFailedError | LongfatError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where it stands."""
        return self.path, 0, self.name
