"""A program of the host that reads untrusted input, isolated from the host: a decoder, for example.

It has what a machine's process has, except for the kernel's own needs: the minimal view of
the host's files, namespaces without a network, no capabilities, the system call filter, and
its own limits. It has no write access. Unlike a machine it does without `confine`, which is
built with a kernel, and so needs a host with namespaces.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from longfat.common.file_size import file_size_limit
from longfat.common.guard import FIRST_INHERITED, Guarded
from longfat.engine.sandbox.access import check_access
from longfat.engine.sandbox.confinement import HANDOVER
from longfat.engine.sandbox.namespaces import bwrap_command
from longfat.engine.sandbox.sandbox import HOST_ENVIRONMENT
from longfat.engine.sandbox.syscalls import filter_program

_USER = "1000"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLimits:
    """The resource limits of a program.

    Attributes:
        memory_bytes: address space.
        cpu_s: CPU time, in whole seconds.
        output_bytes: the maximum size of each of its outputs.
    """

    memory_bytes: int
    cpu_s: int
    output_bytes: int

    def options(self) -> list[str]:
        """Return them as options of prlimit(1), which cannot raise the limit of file sizes."""
        limit = file_size_limit()
        output_bytes = self.output_bytes if limit is None else min(limit, self.output_bytes)
        return [
            *(f"--as={self.memory_bytes}", f"--cpu={self.cpu_s}"),
            *(f"--fsize={output_bytes}", "--core=0", "--nofile=256"),
            *("--memlock=0", "--msgqueue=0"),
        ]


@contextmanager
def sandboxed_program(
    command: Sequence[str],
    *,
    shown: Mapping[str, Path],
    limits: ProgramLimits,
    stdout: IO[bytes],
    stderr: IO[bytes],
) -> Iterator[Guarded]:
    """Run a program in a sandbox for as long as the context lasts.

    Args:
        command: the program and its arguments; `shown` is below `HANDOVER`.
        shown: files of the host that are visible read-only, by their names there.
        limits: its resource limits.
        stdout: the file for its output.
        stderr: likewise for its standard error.

    Raises:
        HostError: bubblewrap is missing, or it cannot access a file.
    """
    check_access(shown.values())
    rules = os.memfd_create("filter")
    try:
        os.write(rules, filter_program(runs_guest_by_seccomp=False, sees_host=False))
        os.lseek(rules, 0, os.SEEK_SET)
        binds = [
            word
            for name, path in shown.items()
            for word in ("--ro-bind", str(path.resolve()), f"{HANDOVER}/{name}")
        ]
        # Programs that run as root first drop privileges, which needs a system call.
        words = ("--uid", _USER, "--gid", _USER, "--seccomp", str(FIRST_INHERITED))
        with (
            bwrap_command(*binds, *words) as bwrap,
            Guarded(
                ["prlimit", *limits.options(), "--", *bwrap, "--", *command],
                inherited=[rules],
                env=HOST_ENVIRONMENT | {"HOME": "/root"},
                stdout=stdout,
                stderr=stderr,
            ) as process,
        ):
            yield process
    finally:
        os.close(rules)
