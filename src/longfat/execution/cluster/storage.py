"""Results in storage that client and workers share, specified by an fsspec URL.

    URL/ab/KEY/DIGEST.tar.gz   a packed run: KEY is `Run.key`, DIGEST the run's digest

A result appears there whole. Two digests under one key are a disagreement: such
a key counts as unknown, and rerunning it reports the disagreement.
Options of a protocol (keys, endpoints) come from fsspec's own configuration, so
that no secret is on a command line. Source: fsspec's "Configuration".
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from longfat.errors import HostError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDING = ".tar.gz"
_TOKENS = ".longfat-look"


def check_url(url: str) -> None:
    """Check that a URL can specify storage that several hosts share.

    Raises:
        InputError: it cannot.
    """
    protocol, separator, path = url.partition("://")
    if not separator:
        raise InputError(
            f"storage {url!r} is not a URL; write file:///FOLDER for a folder that all workers"
            " see, or s3://BUCKET/PREFIX"
        )
    if protocol == "memory":
        raise InputError("storage memory:// is separate in each process; nothing would arrive")
    if protocol in ("file", "local") and not path.startswith("/"):
        raise InputError(f"storage {url!r} must be an absolute path: file:///FOLDER")


class Storage:
    """Shared storage; its methods may be called from several threads.

    Args:
        url: an fsspec URL that `check_url` accepts.

    Raises:
        HostError: a library for its protocol is missing, or its options are wrong.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._system, root = fsspec.core.url_to_fs(url)
        except ImportError as error:
            raise HostError(
                f"storage {url}: {error}", hint=f"pip install 'fsspec[{url.partition(':')[0]}]'"
            ) from error
        except Exception as error:
            raise self._error("cannot be used", error) from error
        self._root = PurePosixPath(root)

    def digests(self, key: str) -> tuple[str, ...]:
        """Return the digests of all stored results of a key."""
        with self._wrapped_errors("cannot be listed"):
            # Listings are cached, and others write here too.
            self._system.invalidate_cache()
            names = [PurePosixPath(path).name for path in self._system.find(str(self._place(key)))]
        return tuple(
            sorted(
                name.removesuffix(_ENDING)
                for name in names
                if name.endswith(_ENDING) and not name.startswith(".")
            )
        )

    def put(self, block: Path, *, key: str, digest: str) -> None:
        """Write a packed run."""
        place = self._place(key) / f"{digest}{_ENDING}"
        with self._wrapped_errors(f"{place} cannot be written"):
            if isinstance(self._system, LocalFileSystem):
                _copy_whole(block, Path(place))
            else:
                # Object stores show an object when all of it is stored; a half-written
                # object in another kind of storage does not unpack.
                self._system.put_file(str(block), str(place))

    def fetch(self, target: Path, *, key: str, digest: str) -> None:
        """Read a packed run into a file."""
        place = self._place(key) / f"{digest}{_ENDING}"
        with self._wrapped_errors(f"{place} cannot be read"):
            self._system.invalidate_cache()
            self._system.get_file(str(place), str(target))

    def remove(self, *, key: str, digest: str) -> None:
        """Remove a packed run."""
        with self._wrapped_errors("cannot be written to"):
            self._system.rm_file(str(self._place(key) / f"{digest}{_ENDING}"))

    def write_token(self, name: str) -> None:
        """Write a small file, with which others can check that they see the same storage."""
        place = self._root / _TOKENS / name
        with self._wrapped_errors(f"{place} cannot be written"):
            if isinstance(self._system, LocalFileSystem):
                Path(place.parent).mkdir(parents=True, exist_ok=True)
            self._system.pipe_file(str(place), name.encode())

    def has_token(self, name: str) -> bool:
        """Return whether there is a token of this name."""
        with self._wrapped_errors("cannot be listed"):
            self._system.invalidate_cache()
            return bool(self._system.exists(str(self._root / _TOKENS / name)))

    def remove_token(self, name: str) -> None:
        """Remove a token; it may not exist."""
        with contextlib.suppress(Exception):
            self._system.rm_file(str(self._root / _TOKENS / name))

    def _place(self, key: str) -> PurePosixPath:
        return self._root / key[:2] / key

    @contextlib.contextmanager
    def _wrapped_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # a protocol's library may raise anything
            raise self._error(what, error) from error

    def _error(self, what: str, error: Exception) -> HostError:
        text: Any = error.strerror if isinstance(error, OSError) and error.strerror else error
        return HostError(f"storage {self._url}: {what}: {text or type(error).__name__}")


def _copy_whole(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    try:
        shutil.copyfile(source, partial)
        partial.replace(place)
    finally:
        partial.unlink(missing_ok=True)
