"""Our commands for tests: a process each, which need not load them anew.

To load what a command needs takes half a second of CPU, longer than what most of them do
then. So one process loads it, and forks for each call: the call has its own working folder,
environment, descriptors and terminal, begins in the entry point of the installed script, and
ends with its exit status. What depends on how a process starts is tested with the script itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from pathlib import Path
from typing import Any

# What commands load late.
_LATE = (
    *("longfat.analysis.compare", "longfat_class.analysis", "longfat_class.output"),
    *("longfat.output.report.page", "longfat.output.report.pdf"),
    *("longfat.output.report.rendering", "longfat.execution.case_runner", "matplotlib.figure"),
    *("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "weasyprint"),
    *("matplotlib.backends.backend_pdf", "pyarrow.compute", "pyarrow.parquet"),
    *("longfat.studio.app", "longfat.studio.serve", "uvicorn.loops.auto", "uvicorn.logging"),
    *("uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto", "uvicorn.lifespan.on"),
)
# The modules whose `main` the scripts call.
_PROGRAMS = {"longfat": "longfat.cli.main", "dask": "dask.__main__"}
_LENGTH, _STATUS = struct.Struct("=Q"), struct.Struct("=i")


class Command(subprocess.Popen[Any]):
    """A process that runs one of our commands; to a test it is what `subprocess.Popen` gives.

    Args:
        arguments: `longfat` or `dask`, and what is typed behind it.
        options: those of `subprocess.Popen` about descriptors, text, working folder, environment
            and `start_new_session`: its standard input is then its controlling terminal.
    """

    def __init__(self, *arguments: str | Path, **options: Any) -> None:
        words = [os.fspath(argument) for argument in arguments]
        super().__init__(words, **options)

    # The process is a child of the server. So three private methods of the standard library's
    # class (the same from Python 3.11 to 3.14) are replaced: by them it begins a process and
    # learns its status.

    def _execute_child(self, *given: Any) -> None:
        arguments, cwd, environment, session = given[0], given[5], given[6], given[21]
        pipes = given[10:16]  # reading and writing end: standard input, output, error
        streams = [pipes[0], pipes[3], pipes[5]]
        order = {
            "arguments": arguments,
            "cwd": os.fspath(cwd or os.getcwd()),
            "environment": dict(os.environ if environment is None else environment),
            "session": session,
        }
        self._line, far = socket.socketpair()
        with far:
            standard = (own if own != -1 else number for number, own in enumerate(streams))
            _SERVER.send(order, [*standard, far.fileno()])
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self.pid = self._read(0)

    def _read(self, flags: int) -> int:
        """Read a number of the server's.

        Raises:
            BlockingIOError: there is none yet.
        """
        data = self._line.recv(_STATUS.size, flags)
        assert data, "the process that begins commands has ended"
        return int(_STATUS.unpack(data)[0])

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        try:
            status = self._read(socket.MSG_DONTWAIT if wait_flags & os.WNOHANG else 0)
        except BlockingIOError:
            return 0, 0
        self._line.close()
        return self.pid, status

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        lock: threading.Lock = self._waitpid_lock  # type: ignore[attr-defined]
        if lock.acquire(blocking=False):  # else another thread waits
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                lock.release()
        return self.returncode


class _Server:
    """The process that forks."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def send(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Have a process begun: its descriptors 0 to 2, and one for its number and status."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._line, far = socket.socketpair()
                with far:
                    self._process = subprocess.Popen(
                        [sys.executable, "-m", "tests.command"],
                        stdin=far.fileno(),
                        cwd=Path(__file__).parents[1],
                        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                    )
            data = json.dumps(order).encode()
            socket.send_fds(self._line, [_LENGTH.pack(len(data))], descriptors)
            self._line.sendall(data)


_SERVER = _Server()


def run_command(
    *arguments: str, given: str | bytes = b"", **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run one of our commands, give it all that it may read, and return what it printed.

    Args:
        arguments: as of `Command`.
        given: its standard input; text, if it is one, as what it prints is then.
        options: as of `Command`.
    """
    standard: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    if isinstance(given, str):
        standard["encoding"] = "utf-8"
    with Command(*arguments, **{**standard, **options}) as command:
        out, errors = command.communicate(given if command.stdin is not None else None)
    return subprocess.CompletedProcess(command.args, command.returncode, out, errors)


def longfat(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `longfat` with these arguments and return its exit status and what it printed.

    Args:
        arguments: what is typed behind `longfat`.
        cwd: its working folder.
        environment: what its environment has besides ours.
    """
    return run_command(
        *("longfat", *arguments),
        given="",
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )


def _warm_up() -> None:
    """Load longfat, and do what each call does again.

    What stays of that is by the content of files: the parser of claims, the digests of kernels
    and programs, and what the loader and the programs themselves say, which takes a process each.
    """
    from longfat.cli.main import command_modules

    for name in (*command_modules().values(), *_LATE):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)

    from longfat.engine import kernel as kernels
    from longfat.errors import LongfatError
    from longfat.execution.tools import Toolbox
    from longfat.study import read_study
    from longfat.study.labs import find_lab
    from tests.kernels import MAIN_KERNEL

    toolbox = Toolbox()
    for planned in read_study(find_lab("lab08").study_file).cases.values():
        with contextlib.suppress(LongfatError):
            toolbox.of(planned.case)
    with contextlib.suppress(LongfatError):
        kernels.find(MAIN_KERNEL)


def _receive(line: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Read an order; None at the end."""
    head, descriptors, _, _ = socket.recv_fds(line, _LENGTH.size, 4)
    if not head:
        return None
    data = line.recv(_LENGTH.unpack(head)[0], socket.MSG_WAITALL)
    return json.loads(data), descriptors


def _serve() -> None:
    """Fork for each order, and report the status of each process; it ends with the line."""
    _warm_up()
    line = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    woken, wakes = socket.socketpair()
    woken.setblocking(False)
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(line, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if woken in ready:
                woken.recv(4096)
                _report_ended(running)
            if line in ready:
                received = _receive(line)
                if received is None:
                    return
                order, descriptors = received
                importlib.import_module(_PROGRAMS[order["arguments"][0]])  # whoever needs it first
                gc.freeze()  # so that no collection writes to pages that both have
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    selector.close()
                    for own in (line, woken, wakes, *running.values()):
                        own.close()
                    _run(order, descriptors)
                for descriptor in descriptors[:3]:
                    os.close(descriptor)
                running[pid] = socket.socket(fileno=descriptors[3])
                with contextlib.suppress(OSError):
                    running[pid].send(_STATUS.pack(pid))


def _report_ended(running: dict[int, socket.socket]) -> None:
    """Report the statuses of all that have ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with running.pop(pid) as line, contextlib.suppress(OSError):
            line.send(_STATUS.pack(status))


def _run(order: dict[str, Any], descriptors: list[int]) -> None:
    """Be the process that was ordered."""
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    if order["session"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    # Each is what the interpreter makes of a descriptor when it starts: a terminal has lines.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for name, number in (("stdout", 1), ("stderr", 2)):
        by_line = number == 2 or os.isatty(number)
        errors = "backslashreplace" if number == 2 else "strict"
        stream = open(  # noqa: SIM115
            number,
            "w",
            encoding="utf-8",
            errors=errors,
            buffering=1 if by_line else -1,
            closefd=False,
        )
        setattr(sys, name, stream)
    # What has read the environment before.
    tempfile.tempdir = None
    if (dask := sys.modules.get("dask")) is not None:
        dask.config.refresh()
    sys.argv = order["arguments"]
    sys.modules["__main__"].__package__ = None  # else it is called `python -m`
    main = importlib.import_module(_PROGRAMS[sys.argv[0]]).main
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
