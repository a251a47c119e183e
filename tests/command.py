"""The `longfat` command for tests: a process each, which need not import longfat anew.

To load what a command needs takes half a second of CPU, longer than what most of them do
then. So one process loads it, and forks for each call: the call has its own working folder,
environment and output, begins in the entry point of the installed script, and ends with its
exit status. What depends on how a process starts is tested with the script itself.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

# What commands load late.
_LATE = (
    *("longfat.analysis.compare", "longfat.analysis.grading", "longfat.output.grading"),
    *("longfat.output.report.page", "longfat.output.report.pdf"),
    *("longfat.output.report.rendering", "longfat.execution.case_runner", "matplotlib.figure"),
    *("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "weasyprint"),
    *("matplotlib.backends.backend_pdf", "pyarrow.compute", "pyarrow.parquet"),
)


class _Server:
    """The process that forks."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def call(self, order: dict[str, Any]) -> int:
        """Have a call made; return its exit status, negative for a signal."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.command"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    cwd=Path(__file__).parents[1],
                    env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                    text=True,
                )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())


_SERVER = _Server()


def longfat(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `longfat` with these arguments and return its exit status and what it printed.

    Args:
        arguments: what is typed behind `longfat`.
        cwd: its working folder.
        environment: what its environment has besides ours.
    """
    with tempfile.TemporaryDirectory() as name:
        out, errors = Path(name, "out"), Path(name, "errors")
        order: dict[str, Any] = {
            "arguments": arguments,
            "cwd": str(cwd),
            "environment": {**os.environ, **environment},
            "out": str(out),
            "errors": str(errors),
        }
        status = _SERVER.call(order)
        return subprocess.CompletedProcess(
            ["longfat", *arguments], status, out.read_text("utf-8"), errors.read_text("utf-8")
        )


def _warm_up() -> None:
    """Load longfat, and do what each call does again.

    What stays of that is by the content of files: the parser of claims, the digests of kernels
    and programs, and what ldd and the programs themselves say, which takes a process each.
    """
    from longfat.cli.main import COMMANDS

    late = [f"longfat.cli.{name}" for name in COMMANDS]
    for name in (*late, *_LATE):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)

    from longfat.engine import kernel as kernels
    from longfat.errors import LongfatError
    from longfat.execution.tools import Toolbox
    from longfat.study import read_study
    from longfat.study.labs import find_lab
    from tests.kernels import KERNELS

    toolbox = Toolbox()
    for planned in read_study(find_lab("lab08").study_file).cases.values():
        with contextlib.suppress(LongfatError):
            toolbox.of(planned.case)
    for kernel in KERNELS:
        with contextlib.suppress(LongfatError):
            kernels.find(kernel)


def _serve() -> None:
    """Fork for each order; it ends with its standard input."""
    _warm_up()
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run(order)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(order: dict[str, Any]) -> None:
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for path, number in ((order["out"], 1), (order["errors"], 2)):
        os.dup2(os.open(path, flags, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["longfat", *order["arguments"]]
    from longfat.cli.main import main

    status = 1
    try:
        main()
    except SystemExit as ending:
        status = int(ending.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
