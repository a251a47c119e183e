"""Networks of practice: whole studies of an engineer's questions, to begin with and to change.

Each is a folder of `studies/practice/` with a study file and a text. The study's first comment says
what it is about and what it asks; its claims are the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common import resources

if TYPE_CHECKING:
    from pathlib import Path

_STUDY_FILE = "study.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeNetwork:
    """A network of practice.

    Attributes:
        name: what the command line calls it: its folder's name.
        title: the study's title.
        text: the study file.
    """

    name: str
    title: str
    text: str

    @property
    def question(self) -> str:
        """Return the first comment of the study file."""
        lines = self.text.splitlines()
        end = next(n for n, line in enumerate(lines) if not line.startswith("#"))
        return " ".join(line.strip("# ") for line in lines[:end])


def practice_networks() -> dict[str, PracticeNetwork]:
    """Return the networks of practice by name.

    Raises:
        HostError: the installation is incomplete.
    """
    folders = sorted((resources.folder("studies") / "practice").iterdir())
    return {folder.name: _read(folder) for folder in folders if (folder / _STUDY_FILE).is_file()}


def _read(folder: Path) -> PracticeNetwork:
    path = folder / _STUDY_FILE
    text = path.read_text(encoding="utf-8")
    title = text.partition("\ntitle: ")[2].partition("\n")[0]
    return PracticeNetwork(name=folder.name, title=title, text=text)
