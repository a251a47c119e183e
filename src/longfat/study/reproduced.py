"""Published experiments that come with longfat as studies, found by name from anywhere.

An experiment is a folder of `studies/reproduced/` that holds a study file with published
figures and their source, and a text on what is known of its set-up.
"""

from __future__ import annotations

from longfat.common import resources
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.study import STUDY_FILE
from longfat.study.labs import StudyFolder


def all_experiments() -> dict[str, StudyFolder]:
    """Return the published experiments by name, in the order of their names.

    Raises:
        HostError: the installation is incomplete.
    """
    folders = sorted((resources.folder("studies") / "reproduced").iterdir())
    return {
        folder.name: StudyFolder(name=folder.name, folder=folder)
        for folder in folders
        if (folder / STUDY_FILE).is_file()
    }


def find_experiments(names: tuple[str, ...]) -> tuple[StudyFolder, ...]:
    """Return the experiments of these names, each once, in the order of the names.

    Raises:
        InputError: there is none of a name.
        HostError: the installation is incomplete.
    """
    known = all_experiments()
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no published experiment {name!r}{nearest(name, known)} "
                f"(there are: {listed(known)})"
            )
    return tuple(known[name] for name in dict.fromkeys(names))
