"""The files of a study: its own, its text, and all that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.bundles.record import STUDY
from longfat.common.zip_archive import Member
from longfat.engine.images.archive import is_layout
from longfat.errors import InputError
from longfat.study import STUDY_FILE, read_study
from longfat.study.document import find_document
from longfat.study.file_reader import folder_reader
from longfat.study.text import ANY, LanguageChoice, find_texts

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.model.host_root import HostRoot
    from longfat.study import Study


class RecordingReader:
    """A `FileReader` of a folder, which records what is read.

    Args:
        folder: the study's folder.

    Attributes:
        members: the files that were read, by their paths below the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = folder_reader(folder)
        self.members: dict[str, Member] = {}

    def __call__(self, path: str, /) -> bytes:
        """See `FileReader`."""
        content = self._read(path)
        self.members[_normal(path)] = Member(content=content)
        return content

    def image(self, path: str, /) -> HostRoot:
        """See `FileReader`."""
        root = self._read.image(path)
        image, name = self._folder / path, _normal(path)
        if image.is_dir() and not is_layout(image):
            raise InputError(
                f"the image {path!r} is a folder, which can hold links and devices that a bundle"
                f" cannot: pack it (tar -C {path} -cf {path}.tar .) and name the file in the study"
            )
        files = [image] if image.is_file() else sorted(image.rglob("*"))
        for file in files:
            if file.is_file() and not file.is_symlink():
                below = "" if file == image else f"/{file.relative_to(image).as_posix()}"
                self.members[f"{name}{below}"] = Member(content=file)
        return root


def _normal(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def read_with_files(
    path: Path, *, language: LanguageChoice = ANY
) -> tuple[Study, str, dict[str, Member]]:
    """Read a study and all files that belong to it.

    Args:
        path: the study file, or its folder.
        language: the preferred language of its text.

    Returns:
        The study, the name of its file in a bundle, and the members of a bundle.

    Raises:
        InputError: as `read_study`; or an image of it cannot be in a bundle.
        HostError: an image cannot be unpacked.
    """
    file = find_document(path, STUDY_FILE)
    reader = RecordingReader(file.parent)
    study = read_study(file, beside=reader, language=language)
    # The folder is the name of a study whose file is called `study.yaml`.
    folder = f"{STUDY}/{study.name}" if file.name == STUDY_FILE else STUDY
    texts = find_texts(file.parent).values() if file.name == STUDY_FILE else ()
    members = {f"{folder}/{name}": member for name, member in reader.members.items()}
    members |= {f"{folder}/{text.name}": Member(content=text.read_bytes()) for text in texts}
    name = f"{folder}/{file.name}"
    return study, name, members | {name: Member(content=file.read_bytes())}
