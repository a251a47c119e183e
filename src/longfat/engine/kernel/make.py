"""The calls of `make` and the compiler."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from longfat.engine.kernel import toolchain
from longfat.engine.kernel.commands import Log
from longfat.engine.kernel.version import USUAL, nearest
from longfat.errors import HostError

# How many lines of the form `  CC      net/ipv4/tcp.o` a build prints, measured.
_EXPECTED_LINES = {"6.1": 1357, "6.12": 1445, "7.2": 1474}

_REPORT_EVERY_S = 0.1


def command(*arguments: str) -> list[str]:
    """Return a make command for User-Mode Linux.

    Rust and BTF are disabled, so a host that has them gives the same
    configuration as one without.
    """
    compiler = toolchain.compiler()
    return [
        *("make", "ARCH=um", f"CC={compiler}", f"HOSTCC={compiler}"),
        *("LOCALVERSION=", "RUSTC=false", "PAHOLE=false", *arguments),
    ]


def expected_lines(series: str) -> int:
    """Return how many lines `compile_kernel` will probably count."""
    return _EXPECTED_LINES[nearest(series, list(_EXPECTED_LINES)) or USUAL]


def version(tree: Path, *, log: Log, source: str) -> str:
    """Return the version of a tree, which need not be configured yet: `6.1.158`.

    Args:
        tree: the kernel's source.
        log: the build's log.
        source: the origin of the tree, for the error.

    Raises:
        HostError: it has none.
    """
    output = log.run(command("-s", "kernelversion"), cwd=tree, doing="asking for the version")
    words = output.split()
    if not words:
        raise HostError(f"{source} is not a kernel's source: its Makefile has no version")
    return words[-1]


def configure(tree: Path, *, answers: Path, log: Log) -> None:
    """Write the tree's `.config`: our answers, and no to all other questions.

    Raises:
        HostError: make fails.
    """
    log.run(command(f"KCONFIG_ALLCONFIG={answers}", "allnoconfig"), cwd=tree, doing="configuring")


def compile_kernel(
    tree: Path, *, variant: str, jobs: int, log: Log, report: Callable[[int], None]
) -> int:
    """Compile the kernel in a configured tree.

    Args:
        tree: the kernel's source.
        variant: the suffix of its release; empty for none.
        jobs: how many compilers run at once.
        log: the build's log.
        report: called now and then with the number of lines of make's output.

    Returns:
        The number of lines of make's output.

    Raises:
        HostError: make fails.
    """
    count, reported_s = 0, time.monotonic()

    def on_line(line: str) -> None:
        nonlocal count, reported_s
        if line.startswith("  "):
            count += 1
            if time.monotonic() - reported_s >= _REPORT_EVERY_S:
                reported_s = time.monotonic()
                report(count)

    # Of two values of a variable make takes the last.
    words = [f"LOCALVERSION=+{variant}"] if variant else []
    log.run(
        command(f"-j{jobs}", *words, "linux"),
        cwd=tree,
        doing="compiling the kernel",
        on_line=on_line,
    )
    return count


def compile_shim(shim: Path, *, to: Path, log: Log) -> None:
    """Compile a C file into a library that can be preloaded.

    Raises:
        HostError: the compiler fails.
    """
    _compile(shim, "-fPIC", "-shared", to=to, log=log)


def compile_program(source: Path, *, to: Path, log: Log) -> None:
    """Compile a C file into a program.

    Raises:
        HostError: the compiler fails.
    """
    _compile(source, to=to, log=log)


def _compile(source: Path, *flags: str, to: Path, log: Log) -> None:
    log.run(
        # By its bare name, so that no path gets into the output.
        ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-s", *flags, "-o", str(to), source.name],
        cwd=source.parent,
        doing=f"compiling {source.name}",
    )
