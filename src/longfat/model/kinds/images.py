"""The kind of images: files and folders that are a host's root file system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from longfat.model.host_root import HostRoot
from longfat.model.kinds.kind import Kind, WrongKindError


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageName(Kind[HostRoot]):
    """The name of a file or folder that is an image; its contents are not checked here."""

    form: ClassVar[str] = "text"
    what: str = "an image's file or folder (such as server.tar)"
    example: str = "server.tar"

    def parse(self, text: str) -> HostRoot:
        name = text.strip()
        if not name or not name.isprintable():
            raise WrongKindError(f"{text!r} is not {self.what}")
        return HostRoot(image=name)

    def of(self, value: object) -> HostRoot:
        return value if isinstance(value, HostRoot) else Kind.of(self, value)

    def text(self, value: HostRoot) -> str:
        return value.image

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "examples": [self.example]}
