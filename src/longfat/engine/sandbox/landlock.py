"""The sandbox without namespaces: Landlock and the system call filter alone.

It needs no privilege and works where a host allows no namespaces, like most
containers. The kernel's process stays among the host's processes, and its paths
lead to the host's files. Landlock allows it to read the view, and the filter allows no
socket, no other process's memory, and no change of a file's owner, mode or times.

The guest sees the same as in namespaces, at the same paths: the
kernel's process opens files by `kernel/shims/view.c`, and the additions of the view to
the host's own files are in a folder that is created for it.

Its weaknesses are listed in docs/security.md: the existence and
size of every file are visible; and before version 6 of Landlock (Linux
6.12) signals can be sent to the user's other processes.

Source: landlock(7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from longfat.common.guard import scratch_folder
from longfat.engine.sandbox.confinement import (
    HANDOVER,
    LOADER,
    MEMORY_FOLDER,
    SMALL_FOLDER,
    Contents,
    Sandboxed,
    landlock_version,
)
from longfat.engine.sandbox.view import Shown, own_files, view
from longfat.errors import HostError


class Landlocked:
    """See `longfat.engine.sandbox.sandbox.Sandbox`."""

    name = "landlock"
    words = "Landlock and a system call filter, without namespaces"

    def check(self) -> None:
        """Check whether this host has Landlock.

        Raises:
            HostError: it does not.
        """
        if landlock_version() == 0:
            raise HostError(
                "this host has no Landlock, or does not allow it",
                hint="Linux 5.13 or later, booted with lsm=landlock,...; in a container,"
                " a runtime whose seccomp profile allows landlock_create_ruleset",
            )

    @contextmanager
    def around(self, contents: Contents) -> Iterator[Sandboxed]:
        """Create one, with a folder for the additions of the view to the host's files.

        Raises:
            OSError: that folder cannot be created.
            HostError: a folder has a name that cannot be passed on.
        """
        kernel = contents.kernel
        with scratch_folder() as scratch, own_files() as own:
            root = scratch / "root"
            # By a link, since a folder's name may contain separators of LD_PRELOAD.
            kernel_link = scratch / "kernel"
            kernel_link.symlink_to(kernel.folder.resolve())
            places = (*contents.places, MEMORY_FOLDER, SMALL_FOLDER, HANDOVER)
            entries = view(own, places=places, tools=contents.tools)
            folders = {"kernel": kernel.folder, **contents.shown, **contents.writable}
            entries += [Shown(f"{HANDOVER}/{name}", path) for name, path in folders.items()]
            for entry in entries:
                entry.put_into(root)
            for path in (root, *root.rglob("*")):
                if not path.is_symlink():  # otherwise it has the umask's mode
                    path.chmod(0o755 if path.is_dir() else 0o644)
            shown = {one.place: one.path.resolve() for one in entries if one.path is not None}
            writable = [path.resolve() for path in contents.writable.values()]
            small = root / SMALL_FOLDER[1:]
            _check_names([*shown.values()], preloaded=kernel_link)
            command = contents.confined(
                *("--landlock", "yes", "--file", f"LONGFAT_MEMORY_FILE={contents.file_bytes}"),
                *(word for path in [root, *shown.values()] for word in ("--read", str(path))),
                *("--execute", str(kernel.folder.resolve()), "--execute", LOADER),
                *("--write-own", str(small)),
                *(word for path in writable for word in ("--write", str(path))),
                kernel_folder=str(kernel_link),
                shims=(*kernel.shims, "view"),
                sees_host=True,
                LONGFAT_VIEW="\n".join(
                    f"{place}\t{path}" for place, path in [*shown.items(), ("/", root)]
                ),
            )
            yield Sandboxed(command=command, folders=(small,))


def _check_names(paths: Sequence[Path], *, preloaded: Path) -> None:
    """Check that folders can be listed in LONGFAT_VIEW and LD_PRELOAD.

    A library that is not found is not preloaded, and the kernel would start without it.

    Raises:
        HostError: one cannot.
    """
    if set(str(preloaded)) & set(" :\t\n"):
        raise HostError(
            f"{str(preloaded.parent)!r}: a folder for temporary files must have no spaces and"
            " colons in its name",
            hint="TMPDIR=/tmp longfat ...",
        )
    for path in paths:
        if set(str(path)) & set("\t\n"):
            raise HostError(
                f"{str(path)!r}: a folder that a machine sees must have no tabs and line breaks"
                " in its name where there are no namespaces",
                hint="give it another name",
            )
