"""Archives of packages and mirrors of kernel.org, made for tests: small, and really signed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Key:
    """A key to sign with.

    Attributes:
        home: gpg's folder, with the secret key.
        fingerprint: the key's.
        public: the public key, as apt wants it.
    """

    home: Path
    fingerprint: str
    public: Path

    def gpg(self, *arguments: str, text: bytes = b"") -> bytes:
        env = {**os.environ, "GNUPGHOME": str(self.home)}
        command = ["gpg", "--batch", "--quiet", *arguments]
        return subprocess.run(command, input=text, capture_output=True, check=True, env=env).stdout

    def signed(self, text: str) -> bytes:
        """Return the text with a signature in it."""
        return self.gpg("--clearsign", "--output", "-", text=text.encode())


def make_key(home: Path) -> Key:
    """Make a key; its agent is to be ended with `end_agent`."""
    home.mkdir(mode=0o700)
    key = Key(home=home, fingerprint="", public=home / "public.gpg")
    name = "tester@example.org"
    key.gpg("--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never")
    listing = key.gpg("--with-colons", "--list-keys", name).decode()
    fingerprint = next(line for line in listing.splitlines() if line.startswith("fpr:"))
    key.public.write_bytes(key.gpg("--export", name))
    return Key(home=home, fingerprint=fingerprint.split(":")[9], public=key.public)


def end_agent(key: Key) -> None:
    """End the process that holds the key."""
    env = {**os.environ, "GNUPGHOME": str(key.home)}
    subprocess.run(["gpgconf", "--kill", "all"], check=True, env=env)


def content_of(package: str, version: str) -> bytes:
    """Return what is in the tarball of a package."""
    return f"the source in {package} {version}".encode()


def make_archive(
    root: Path,
    suites: Mapping[str, Sequence[tuple[str, str]]],
    *,
    key: Key,
    contents: Mapping[str, tuple[str, bytes]] = MappingProxyType({}),
) -> None:
    """Make an archive of packages.

    Args:
        root: its folder.
        suites: the names and versions of the packages of each suite; a name may begin with its
            component and a slash.
        key: signs its lists.
        contents: the path and the content of the file in some packages; in others it is
            a tarball.
    """
    for suite, packages in suites.items():
        listings = {"main": ""}
        for named, version in packages:
            component, _, name = named.rpartition("/")
            file = contents.get(name, (f"usr/src/{name}.tar.xz", content_of(name, version)))
            component = component or "main"
            listings.setdefault(component, "")
            listings[component] += _package(root, name, version, file)
        place = root / "dists" / suite
        sums = ""
        for component, listing in listings.items():
            packages_file = place / component / "binary-amd64/Packages"
            packages_file.parent.mkdir(parents=True)
            packages_file.write_text(listing)
            digest = hashlib.sha256(listing.encode()).hexdigest()
            sums += f" {digest} {len(listing)} {component}/binary-amd64/Packages\n"
        codename = suite.removesuffix("-backports")
        release = (
            f"Origin: Test\nSuite: {suite}\nCodename: {codename}\nArchitectures: amd64\n"
            f"Components: {' '.join(listings)}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n"
        )
        (place / "InRelease").write_bytes(key.signed(release + sums))


def _package(root: Path, name: str, version: str, file: tuple[str, bytes]) -> str:
    """Make a package with a file in it, and return its entry in a list of packages."""
    tree = root / "trees" / f"{name}_{version}"
    path, content = file
    (tree / path).parent.mkdir(parents=True)
    (tree / path).write_bytes(content)
    about = (
        f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
        "Maintainer: Nobody <nobody@example.org>\nDescription: a kernel's source\n"
    )
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(about)
    (root / "pool").mkdir(exist_ok=True)
    package = root / "pool" / f"{name}_{version}_all.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(package)]
    subprocess.run(command, check=True, capture_output=True)
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    place = f"Filename: pool/{package.name}\nSize: {package.stat().st_size}\nSHA256: {digest}\n"
    return f"{about}{place}\n"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(folder: Path, *, handler: type[SimpleHTTPRequestHandler] = _Quiet) -> Iterator[str]:
    """Serve a folder by HTTP, and give its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
