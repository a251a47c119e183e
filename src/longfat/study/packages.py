"""The field `packages`: the Python packages that a study's programs import.

    packages: requirements.lock

or

    packages:
      - pylsqpack==0.3.24 --hash=sha256:5df8...

Nothing is installed by reading: the case that is run has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.packages import (
    PinnedPackage,
    add_package,
    pinned_package,
    pinned_packages,
)

if TYPE_CHECKING:
    from longfat.errors import Place
    from longfat.study.files import ReadBeside
    from longfat.study.node import Node

_FORM = "a lock file beside the study, or a list of NAME==VERSION --hash=sha256:DIGEST"

MOST_PACKAGES = 200


def read_packages(
    node: Node, *, read: ReadBeside
) -> tuple[tuple[PinnedPackage, ...], tuple[Place, ...]]:
    """Read the field.

    Args:
        node: its value; nothing means none.
        read: reads the lock file.

    Returns:
        The packages in their order, and where each was written: for those of a lock file,
        where the file is named.

    Raises:
        InputError: one is not pinned by version and hash, or the file cannot be read.
    """
    if node.is_null:
        return (), ()
    if not node.is_sequence:
        name = node.line(_FORM)
        try:
            lines = read(name).decode().splitlines()
            found = pinned_packages(lines, name=name) if lines else ()
        except InputError as error:
            raise error if error.place else node.error(error.message) from None
        except UnicodeDecodeError:
            raise node.error(f"{name!r} is not text in UTF-8") from None
        places = (node.place,) * len(found)
    else:
        named: dict[str, PinnedPackage] = {}
        at = []
        for one in node.sequence(_FORM):
            try:
                add_package(named, pinned_package(one.line(_FORM)))
            except InputError as error:
                raise error if error.place else one.error(error.message) from None
            at.append(one.place)
        found, places = tuple(named.values()), tuple(at)
    if len(found) > MOST_PACKAGES:
        raise node.error(f"{len(found)} packages are too many: {MOST_PACKAGES} at most")
    return found, places
