"""What runs with a host's own root, and what its programs get."""

from __future__ import annotations

import pytest

from longfat.errors import InputError
from longfat.model.host_root import HostRoot

ROOT = HostRoot(
    image="app.tar",
    digest="0" * 64,
    environment=("PATH=/app/bin", "MODE=fast"),
    command=("serve", "--name", "a b"),
)


@pytest.mark.parametrize(
    ("argv", "rooted", "started"),
    [
        (["app"], True, ["app"]),
        (["ip", "link"], False, None),
        (["/bin/sh", "-c", "ip link"], False, None),
        (["/bin/sh", "-c", "ip link; app"], True, ["/bin/sh", "-c", "ip link; app"]),
        (
            ["/bin/sh", "-c", "entrypoint --port 80"],
            True,
            ["/bin/sh", "-c", "serve --name 'a b' --port 80"],
        ),
        (["/bin/sh", "-c", "echo $0", "entrypoint"], True, None),
        ([], False, None),
    ],
)
def test_commands(argv: list[str], rooted: bool, started: list[str] | None) -> None:
    assert ROOT.runs(argv) is rooted
    if rooted:
        assert ROOT.arguments(argv) == (started or argv)


def test_an_image_without_a_command() -> None:
    with pytest.raises(InputError, match="neither an Entrypoint nor a Cmd"):
        HostRoot(image="x", digest="0" * 64).arguments(["/bin/sh", "-c", "entrypoint"])


def test_what_the_caller_gave_stays() -> None:
    default = {"PATH": "/usr/bin", "LC_ALL": "C.UTF-8"}
    assert ROOT.environment_of(default, default=default) == {
        "PATH": "/app/bin",
        "LC_ALL": "C.UTF-8",
        "MODE": "fast",
        "SHELL": "/bin/sh",
    }
    given = {**default, "PATH": "/own", "MODE": "slow"}
    assert ROOT.environment_of(given, default=default) == {**given, "SHELL": "/bin/sh"}
