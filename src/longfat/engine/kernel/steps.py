"""The steps of a kernel build: commands with a common log, patches, configuration and compilation.

A kernel patch may change arch/um and nothing else. The configuration is our answers on top of
allnoconfig. Kconfig silently drops an answer if the question does not exist or its
dependencies are not met. Both are detected by comparing: a question that is in no Kconfig file
is *unknown*; one that is, but was answered otherwise, is *rejected*.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from longfat.engine.kernel import toolchain
from longfat.engine.kernel.recipe import parse_answers
from longfat.engine.kernel.version import USUAL, nearest
from longfat.errors import HostError

_LAST_LINES = 12

_FILE = re.compile(r"^(?:---|\+\+\+) (\S+)", re.MULTILINE)
_QUESTION = re.compile(r"^[ \t]*(?:menu)?config[ \t]+(\w+)", re.MULTILINE)

# How many lines of the form `  CC      net/ipv4/tcp.o` a build prints, measured.
_EXPECTED_LINES = {"6.1": 1357, "6.12": 1445, "7.2": 1474}
_REPORT_EVERY_S = 0.1


class CommandFailedError(HostError):
    """A command of a build failed, and not since the disk is full.

    Args:
        message: what failed, with the command's last lines and the path of the log that is kept.
        last: the last lines alone.
    """

    def __init__(self, message: str, *, last: str) -> None:
        super().__init__(message)
        self.last = last


class Log:
    """The log of one build; it runs the commands that fill it.

    Args:
        path: the log while the build runs.
        kept_as: where the parent of the build keeps it if the build fails.
        env: the environment of every command.
    """

    def __init__(self, path: Path, *, kept_as: Path, env: Mapping[str, str]) -> None:
        self._path = path
        self._kept_as = kept_as
        self._env = env

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        doing: str,
        on_line: Callable[[str], None] | None = None,
        out: IO[bytes] | None = None,
    ) -> str:
        """Run a command to its end.

        Args:
            command: the program and its arguments.
            cwd: the folder to run in.
            doing: the purpose of the command, for error messages.
            on_line: called with each line of output as it comes.
            out: where standard output goes, if not into the log.

        Returns:
            Its output.

        Raises:
            CommandFailedError: it failed; the message has its last lines and
                the path of the log that is kept.
            HostError: the disk is full.
        """
        output = []
        with (
            self._path.open("a", encoding="utf-8", errors="replace") as log,
            subprocess.Popen(
                command,
                cwd=cwd,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if out is None else out,
                stderr=subprocess.STDOUT if out is None else subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            ) as process,
        ):
            log.write(f"$ {' '.join(command)}\n")
            stream = process.stdout if out is None else process.stderr
            assert stream is not None
            for line in stream:
                log.write(line)
                output.append(line)
                if on_line is not None:
                    on_line(line)
        if process.returncode != 0:
            raise self._failure(doing, output)
        return "".join(output)

    def _failure(self, doing: str, output: list[str]) -> HostError:
        last = "".join(f"\n    {line.rstrip()}" for line in output[-_LAST_LINES:])
        if any("No space left on device" in line for line in output):
            return HostError(f"{doing} failed: the disk is full ({self._path.parent})")
        message = f"{doing} failed:{last}\n  full log: {self._kept_as}"
        return CommandFailedError(message, last=last)


class DoesNotApplyError(HostError):
    """A patch of longfat's own does not apply to a release, which another may do.

    Args:
        message: which patch, and which part of it.
        release: the release: `6.1.176`.
        hint: what to build instead.
    """

    def __init__(self, message: str, *, release: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.release = release


def patch_command(patch: Path, *, fuzz: int = 0) -> list[str]:
    """Return the command that applies a patch to the tree it runs in.

    Args:
        patch: the patch.
        fuzz: how many lines of a hunk's context may differ.
    """
    return ["patch", "-p1", "--batch", "--forward", f"--fuzz={fuzz}", f"--input={patch}"]


def check_patches(patches: Iterable[Path]) -> None:
    """Check that no patch changes files outside of arch/um.

    The networking code is unmodified Linux; that is what makes the results valid.

    Raises:
        HostError: one does.
    """
    for patch in patches:
        for name in _FILE.findall(patch.read_text(encoding="utf-8", errors="replace")):
            inner = name.partition("/")[2]
            if name != "/dev/null" and (not inner.startswith("arch/um/") or ".." in inner):
                raise HostError(
                    f"{patch}: changes {inner or name}; a kernel patch may change arch/um only"
                )


@dataclass(frozen=True, slots=True)
class RejectedAnswers:
    """The answers that a kernel did not take over.

    Attributes:
        unknown: answers to questions that it does not have.
        refused: answers that it has a question for but did not accept.
    """

    unknown: tuple[str, ...]
    refused: tuple[str, ...]


def compare(wanted: dict[str, str], config: dict[str, str], questions: set[str]) -> RejectedAnswers:
    """Compare the answers that were given with the configuration that came out.

    Args:
        wanted: our answers: `CONFIG_NET` -> `y`.
        config: the resulting configuration, in the same form.
        questions: the names of all questions of the kernel.
    """
    unknown: list[str] = []
    refused: list[str] = []
    for name, value in wanted.items():
        if config.get(name, "n") != value:
            answer = f"{name}={value}"
            (refused if name in questions else unknown).append(answer)
    return RejectedAnswers(unknown=tuple(unknown), refused=tuple(refused))


def rejected_answers(tree: Path, *, answers: Path) -> RejectedAnswers:
    """Return the answers that a configured tree did not take over.

    Args:
        tree: the tree; its `.config` has been written.
        answers: the file of answers that it was configured with.
    """
    return compare(
        parse_answers(answers.read_text("utf-8")),
        parse_answers((tree / ".config").read_text("utf-8")),
        questions(tree),
    )


def questions(tree: Path) -> set[str]:
    """Return the names of all questions of this kernel for ARCH=um."""
    found: set[str] = set()
    for path in tree.rglob("Kconfig*"):
        parts = path.relative_to(tree).parts
        is_for_um = parts[0] != "arch" or parts[1:2] == ("um",) or parts[1:3] == ("x86", "um")
        if (is_for_um or len(parts) == 2) and path.is_file():
            names = _QUESTION.findall(path.read_text(encoding="utf-8", errors="replace"))
            found.update(f"CONFIG_{name}" for name in names)
    return found


def make_command(*arguments: str) -> list[str]:
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


def kernel_version(tree: Path, *, log: Log, source: str) -> str:
    """Return the version of a tree, which need not be configured yet: `6.1.158`.

    Args:
        tree: the kernel's source.
        log: the build's log.
        source: the origin of the tree, for the error.

    Raises:
        HostError: it has none.
    """
    output = log.run(make_command("-s", "kernelversion"), cwd=tree, doing="asking for the version")
    words = output.split()
    if not words:
        raise HostError(f"{source} is not a kernel's source: its Makefile has no version")
    return words[-1]


def configure(tree: Path, *, answers: Path, log: Log) -> None:
    """Write the tree's `.config`: our answers, and no to all other questions.

    Raises:
        HostError: make fails.
    """
    log.run(
        make_command(f"KCONFIG_ALLCONFIG={answers}", "allnoconfig"), cwd=tree, doing="configuring"
    )


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
        make_command(f"-j{jobs}", *words, "linux"),
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
