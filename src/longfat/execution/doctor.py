"""Tests whether the host meets longfat's requirements, with a command that fixes each failure.

Each check does the thing itself where it can (creates a sandbox, traces a
process, boots a machine) instead of deriving it from versions and settings.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from longfat.common.extras import MissingExtraError, all_extras, need
from longfat.common.guard import scratch_folder
from longfat.common.installing import install_command
from longfat.engine import kernel, toolset
from longfat.engine.kernel import toolchain
from longfat.engine.kernel.locate import local_series
from longfat.engine.kernel.version import USUAL
from longfat.engine.machine import current_sandbox, landlock_version
from longfat.engine.sandbox.sandbox import SANDBOXES, Sandbox
from longfat.errors import HostError, InputError, LongfatError
from longfat.execution import run_case
from longfat.model.case import DEFAULT_MEMORY_BYTES, Case
from longfat.model.network import Network

_PTRACE_TRACEME = 0
# What Landlock handles, and since which version: landlock(7).
_LANDLOCK_SINCE = {"truncation": 3, "TCP": 4, "abstract sockets and signals": 6}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check.

    Attributes:
        subject: what was checked.
        good: whether the requirement is met; None where longfat works without.
        words: the result as text.
        hint: the command that fixes it, or an empty string.
    """

    subject: str
    good: bool | None
    words: str
    hint: str = ""


def examine() -> list[Finding]:
    """Check this host, quick checks first."""
    return [
        _processor(),
        _python(),
        *(_extra(name) for name in all_extras()),
        _toolset(),
        *_sandbox(),
        _tracing(),
        _memory(),
        _compilers(),
        _sources(),
        *_kernels(),
    ]


def _processor() -> Finding:
    system, machine = platform.system(), platform.machine()
    good = (system, machine) == ("Linux", "x86_64")
    return Finding(
        "host", good, f"{system} on {machine}" + ("" if good else "; it must be Linux on x86-64")
    )


def _python() -> Finding:
    good = sys.version_info >= (3, 11)
    hint = "" if good else install_command("python3.11", "python3.11-venv")
    return Finding("python", good, f"{platform.python_version()} (3.11 or later is needed)", hint)


def _extra(name: str) -> Finding:
    try:
        need(name)
    except MissingExtraError as error:
        return Finding(f"extra {name}", None, error.message, error.hint)
    extra = all_extras()[name]
    if missing := [library for library in extra.libraries if not _loads(library)]:
        words = f"the library {missing[0]} is not installed, needed {extra.feature}"
        return Finding(f"extra {name}", None, words, install_command(*extra.packages))
    return Finding(f"extra {name}", True, f"everything is installed {extra.feature}")


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _sandbox() -> list[Finding]:
    """Check each layer around a machine; see docs/security.md."""
    try:
        current = current_sandbox()
        found = Finding("sandbox", True, f"{current.name}: {current.words}")
        if SANDBOXES[0].name != current.name:
            found = _lesser(found, SANDBOXES[0])
    except (InputError, HostError) as error:
        found = Finding("sandbox", False, error.message, error.hint)
    return [found, _landlock(), _filters()]


def _lesser(found: Finding, better: Sandbox) -> Finding:
    """Return a finding with the reason why a better sandbox is not available, if it is not."""
    try:
        better.check()
    except HostError as error:
        words = f"{found.words}; not {better.name}: {error.message}"
        return Finding(found.subject, None, words, error.hint)
    return found


def _landlock() -> Finding:
    version = landlock_version()
    if version == 0:
        words = "not available: a machine's sandbox lacks its second layer"
        return Finding("landlock", None, words, "Linux 5.13 or later, booted with lsm=landlock,...")
    unsupported = [what for what, since in _LANDLOCK_SINCE.items() if version < since]
    return Finding(
        "landlock",
        None if unsupported else True,
        f"version {version}"
        + (f"; too old to handle {', '.join(unsupported)}" if unsupported else ""),
    )


def _filters() -> Finding:
    """Query the actions that a system call filter needs, by seccomp(2)."""
    path = Path("/proc/sys/kernel/seccomp/actions_avail")
    try:
        actions = path.read_text(encoding="ascii").split()
    except OSError:
        actions = []
    good = {"kill_process", "errno", "allow"} <= set(actions)
    words = "this host can filter system calls" if good else f"{path}: no system call filters here"
    return Finding("seccomp", good, words, "" if good else "a kernel with CONFIG_SECCOMP_FILTER")


def _tracing() -> Finding:
    """Try ptrace(2), with which a kernel of the 6.x series runs the processes of its guest."""
    pid = os.fork()
    if pid == 0:
        allowed = ctypes.CDLL(None).ptrace(_PTRACE_TRACEME, 0, 0, 0) == 0
        if allowed:
            os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0 if allowed else 1)
    _, status = os.waitpid(pid, os.WUNTRACED)
    stopped = os.WIFSTOPPED(status)
    if stopped:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return Finding("ptrace", True, "a process may trace its children")
    return Finding(
        "ptrace",
        False,
        "forbidden here (a security module or a container's seccomp profile)",
        "sudo sysctl -w kernel.yama.ptrace_scope=1 (in a container: --cap-add SYS_PTRACE)",
    )


def _memory() -> Finding:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    total, free = (int(fields[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    # A machine's memory is a file in a tmpfs of its sandbox, which Linux sizes at half
    # of the host's; how large /dev/shm is outside does not matter.
    usable = min(free, total // 2)
    words = (
        f"{usable / 1024**3:.1f} GB for machines; each takes up to"
        f" {DEFAULT_MEMORY_BYTES / 1024**3:.0f} GB unless its study specifies otherwise"
    )
    good = usable >= DEFAULT_MEMORY_BYTES
    return Finding("memory", good, words, "" if good else "write `memory: 512MB` in the study")


def _compilers() -> Finding:
    try:
        toolchain.check()
    except HostError as error:
        good = None if kernel.kernels() else False
        return Finding("compilers", good, error.message, error.hint)
    return Finding("compilers", True, "all that a kernel's build needs")


def _sources() -> Finding:
    """Report the kernel sources on this host; others can be downloaded, if there is a network."""
    found = local_series()
    return Finding(
        "kernel sources",
        True if found else None,
        (f"{', '.join(found)} here" if found else "none here")
        + "; `longfat kernel build` downloads missing ones"
        + (" (by apt-get, or from kernel.org)" if shutil.which("apt-get") else " (kernel.org)"),
    )


def _kernels() -> list[Finding]:
    built = kernel.kernels()
    findings = [_boots(found) for found in built if kernel.fits(found)]
    if not findings:
        hint = f"longfat kernel build {USUAL}"
        findings = [Finding("kernel", False, "none is built from the current recipe", hint)]
    return findings + [
        Finding(
            f"kernel {found.release} ({found.digest[:12]})",
            None,
            "built from an older recipe, and not used any more",
            f"pip uninstall {wheel}"
            if (wheel := kernel.wheel_of(found))
            else f"longfat kernel remove {found.digest[:12]}",
        )
        for found in built
        if not kernel.fits(found)
    ]


def _toolset() -> Finding:
    try:
        tools = toolset.find()
    except HostError as error:
        return Finding("pinned tools", False, error.message, error.hint)
    return Finding("pinned tools", True, f"{tools.digest[:12]}, {len(tools.versions)} packages")


def _boots(found: kernel.Kernel) -> Finding:
    subject = f"kernel {found.release}"
    case = Case(kernel=found.release, network=Network(hosts=(), switches=(), links=()))
    try:
        with scratch_folder() as folder:
            started_s = time.monotonic()
            run_case(case, name="doctor", out=folder)
            return Finding(subject, True, f"boots and ends in {time.monotonic() - started_s:.2f} s")
    except LongfatError as error:
        return Finding(subject, False, error.message, error.hint)
