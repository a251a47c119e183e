"""A built kernel, and the manifest of what it was built from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from longfat.common.decoding import decode, read_json
from longfat.engine.kernel.version import sort_key
from longfat.errors import InputError

FILE = "manifest.json"
_FORMAT = 2
# From here on UML runs guest processes under seccomp, not ptrace: twice as fast.
_FIRST_WITH_SECCOMP = (6, 16)
_BOOT_ARGUMENTS = (
    # A dump of the sockets walks the whole hash table, whose default size depends on memory.
    "thash_entries=1024",
    # The tick stops in idle times and comes back when a process wakes, also one
    # that only observes: then timers with slack would fire with it. It costs nothing.
    "nohz=off",
    # Built-in drivers that create devices unasked.
    "dummy.numdummies=0",
    "ifb.numifbs=0",
    "bonding.max_bonds=0",
    "fb_tunnels=none",
    # It gathers randomness from the jitter of the clock, which has none: 6.12 would never finish.
    "initcall_blacklist=jent_mod_init",
    # Traces of events: see kernel/patches/all/85-trace-clock.patch.
    "trace_clock=virtual",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A built kernel.

    Attributes:
        digest: identifies the kernel: source, recipe and compiler, in hex.
        release: its `uname -r`.
        series: the first two numbers of the release.
        folder: the folder of its files.
        binary_sha256: the digest of the binary itself.
    """

    digest: str
    release: str
    series: str
    folder: Path
    binary_sha256: str

    @property
    def binary(self) -> Path:
        """The kernel, a program with its symbol table."""
        return self.folder / "linux"

    @property
    def shims(self) -> tuple[str, ...]:
        """The libraries in its folder, without `.so`, to preload into it.

        `entropy` needs `LONGFAT_SEED`.
        """
        return ("entropy", "heap", "xstate", *(("stub",) if self.runs_guest_by_seccomp else ()))

    @property
    def launcher(self) -> Path:
        """The program that starts it with fewer rights: kernel/launcher/confine.c."""
        return self.folder / "confine"

    @property
    def runs_guest_by_seccomp(self) -> bool:
        """Whether it runs the processes of its guest by seccomp, not by ptrace."""
        return sort_key(self.series)[0] >= _FIRST_WITH_SECCOMP

    @property
    def boot_arguments(self) -> tuple[str, ...]:
        """The kernel command line arguments of every machine with this kernel."""
        faster = ("seccomp=on",) if self.runs_guest_by_seccomp else ()
        return (*_BOOT_ARGUMENTS, *faster)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a kernel was built from.

    Attributes:
        digest: identifies the kernel, in hex.
        release: its `uname -r`.
        series: the first two numbers of the release.
        binary_sha256: the digest of the binary.
        binary_key: the digest of all inputs of the binary; kernels that
            differ in their shims alone share it.
        recipe_digest: the digest of answers, patches and shims.
        source_name: the file or folder name of the source.
        source_digest: the digest of the source.
        tools: the version lines of compiler and linker.
        patches: the names of the patches, in order.
        shims: the names of the shims.
        unknown_answers: answers to questions that this kernel does not have.
        refused_answers: answers that this kernel has a question for but did not accept.
        lines: the number of lines of make's output while it compiled.
    """

    digest: str
    release: str
    series: str
    binary_sha256: str
    binary_key: str
    recipe_digest: str
    source_name: str
    source_digest: str
    tools: tuple[str, ...]
    patches: tuple[str, ...]
    shims: tuple[str, ...]
    unknown_answers: tuple[str, ...]
    refused_answers: tuple[str, ...]
    lines: int

    def kernel(self, folder: Path) -> Kernel:
        """Return the kernel that this manifest, found in `folder`, describes."""
        return Kernel(
            digest=self.digest,
            release=self.release,
            series=self.series,
            folder=folder,
            binary_sha256=self.binary_sha256,
        )


def write(manifest: Manifest, folder: Path) -> None:
    """Write a manifest into a kernel's folder."""
    document = {"format": _FORMAT, **asdict(manifest)}
    (folder / FILE).write_text(json.dumps(document, indent=2) + "\n", "utf-8")


def read(folder: Path) -> Manifest | None:
    """Read the manifest of a kernel's folder; None if it contains none of this format."""
    path = folder / FILE
    try:
        document = read_json(path)
        if not isinstance(document, dict) or document.pop("format", None) != _FORMAT:
            return None
        return decode(Manifest, document, where=str(path))
    except (OSError, InputError):
        return None
