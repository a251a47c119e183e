"""Python packages for machines: installed from wheels by hash, once, and checked."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

import pytest

from longfat.engine import toolset as toolsets
from longfat.engine.packages import InstalledPackages, install_packages
from longfat.errors import HostError, InputError, Place
from longfat.model.packages import PACKAGES_PLACE, pinned_package
from tests.packages import WheelFolder

TOOLSET = functools.cache(toolsets.find)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WheelFolder:
    TOOLSET.cache_clear()
    TOOLSET()
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    return WheelFolder(tmp_path / "wheels", monkeypatch)


def install(*lines: str) -> InstalledPackages:
    places = [Place("study.yaml", 3 + n, 5, f"packages[{n}]") for n in range(len(lines))]
    return install_packages([pinned_package(x) for x in lines], toolset=TOOLSET(), places=places)


def wrong(*lines: str) -> tuple[int, str]:
    with pytest.raises(InputError) as caught:
        install(*lines)
    assert caught.value.place is not None
    return caught.value.place.line, caught.value.message


def test_a_compiled_package_is_installed_once_and_names_no_host(
    wheels: WheelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = wheels.add_compiled(), wheels.add("plain", {"plain.py": "WHERE = __file__\n"})
    old = os.umask(0o077)
    try:
        found = install(*lines)
    finally:
        os.umask(old)
    assert found.versions == "fast 1.0, plain 1.0"
    names = {path.relative_to(found.folder).as_posix() for path in found.folder.rglob("*")}
    assert {"fast/_fast.abi3.so", "fast/template.py", "plain.py"} < names
    left_out = {"bin", "fast-1.0.dist-info/RECORD", "fast-1.0.dist-info/INSTALLER"}
    assert not left_out & names
    for path in found.folder.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644)
        if path.is_file():
            assert str(tmp_path).encode() not in path.read_bytes()
    (bytecode,) = (found.folder / "__pycache__").glob("plain.*.pyc")
    assert bytecode.read_bytes()[4:8] == b"\x01\0\0\0"  # PEP 552: by hash, and unchecked
    assert f"{PACKAGES_PLACE}/plain.py".encode() in bytecode.read_bytes()

    code = "import fast, plain; print(fast.answer(), plain.WHERE)"
    environment = {"PYTHONPATH": str(found.folder)}
    argv = [*TOOLSET().on_host("python3"), "-B", "-c", code]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"42 {found.folder}/plain.py\n"

    wheels.close()  # whoever has them asks no index again
    assert install(*lines) == found
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "other"))
    assert wrong(*lines)[0] == 3


def test_equal_packages_have_equal_digests_wherever_they_are_installed(
    wheels: WheelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, other = wheels.add_compiled(), wheels.add("other", {"other.py": ""})
    digests = {install(line).digest}
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "elsewhere" / "cache"))
    digests.add(install(line).digest)
    assert len(digests) == 1
    assert install(line, other).digest not in digests


def test_a_changed_file_is_found(wheels: WheelFolder) -> None:
    line = wheels.add("plain", {"plain.py": "x = 1\n"})
    found = install(line)
    before = (found.folder / "plain.py").read_bytes()
    (found.folder / "plain.py").write_text("x = 2\n")
    with pytest.raises(HostError, match=r"damaged: .*plain\.py: its bytes") as caught:
        install(line)
    assert caught.value.hint == f"run rm -r {found.folder.parent} to have them reinstalled"

    # With the checksum changed, too, the folder has another name than it should.
    sums = found.folder.parent / "SHA256SUMS"
    done = subprocess.run(
        ["sha256sum", "packages/plain.py"],
        cwd=found.folder.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    good = sums.read_text()
    lines = [done.stdout if "/plain.py" in x else f"{x}\n" for x in good.splitlines()]
    sums.write_text("".join(lines))
    with pytest.raises(HostError, match=r"damaged: .*does not match the installed packages"):
        install(line)

    sums.write_text(good)
    (found.folder / "plain.py").write_bytes(before)
    assert install(line) == found
    (found.folder / "more.py").write_text("")
    with pytest.raises(HostError, match="damaged"):
        install(line)


def test_what_cannot_be_installed_is_told_of_where_it_is_named(wheels: WheelFolder) -> None:
    plain = wheels.add("plain", {"plain.py": ""})
    needy = wheels.add("needy", {"needy.py": ""}, needs=["other>=2"])
    wheels.add("other", {"other.py": ""}, version="2.0")
    line, words = wrong(plain, needy)
    assert line == 4
    assert "needy==1.0 needs other>=2, which is not among the packages" in words

    line, words = wrong(f"plain==1.0 --hash=sha256:{'0' * 64}")
    assert line == 3
    assert "plain==1.0: the file" in words
    assert "has none of the specified hashes" in words

    foreign = wheels.add("foreign", {"foreign.py": ""}, tag="cp27-cp27m-win32")
    line, words = wrong(plain, foreign)
    assert line == 4
    assert "foreign==1.0: the index has no wheel of it for CPython 3." in words
    (wheels.folder / "source-1.0.tar.gz").write_bytes(b"setup.py must not run")
    assert "source==1.0: the index has no" in wrong(f"source==1.0 --hash=sha256:{'1' * 64}")[1]


def test_without_an_index_nothing_can_be_had(
    wheels: WheelFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = wheels.add("plain", {"plain.py": ""})
    wheels.close()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(HostError, match="the index does not answer"):
        install(line)
