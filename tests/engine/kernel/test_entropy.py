from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from longfat.engine.kernel import recipe, steps, toolchain
from longfat.engine.kernel.steps import Log

# Asks for bytes as the kernel does, in pieces of odd sizes too.
_ASKER = """
#include <stdio.h>
#include <sys/random.h>
int main(void)
{
    unsigned char bytes[1000];
    static const size_t sizes[] = {8, 16, 1, 3, 0, 1000};
    for (int i = 0; i < 6; i++) {
        if (getrandom(bytes, sizes[i], GRND_NONBLOCK) != (ssize_t)sizes[i])
            return 1;
        for (size_t j = 0; j < sizes[i]; j++)
            printf("%02x", bytes[j]);
        printf("\\n");
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("entropy")
    env = toolchain.environment(temporary=folder, objects=folder)
    log = Log(folder / "log", kept_as=folder / "kept", env=env)
    (shim,) = [path for path in recipe.load("6.1").shims if path.stem == "entropy"]
    steps.compile_shim(shim, to=folder / "entropy.so", log=log)
    assert "warning" not in (folder / "log").read_text()
    subprocess.run(
        ["gcc", "-x", "c", "-o", folder / "asker", "-"], input=_ASKER, text=True, check=True
    )
    return folder


def _ask(folder: Path, seed: str | None) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "LONGFAT_SEED"}
    env["LD_PRELOAD"] = str(folder / "entropy.so")
    if seed is not None:
        env["LONGFAT_SEED"] = seed
    return subprocess.run([folder / "asker"], env=env, capture_output=True, text=True, check=False)


def test_one_seed_gives_one_stream(folder: Path) -> None:
    assert _ask(folder, "7").stdout == _ask(folder, "7").stdout
    assert _ask(folder, "7").stdout != _ask(folder, "8").stdout


def test_the_stream_is_splitmix64(folder: Path) -> None:
    first = _ask(folder, "1234567").stdout.split()[0]
    # The first number of the reference implementation for this seed.
    assert int.from_bytes(bytes.fromhex(first), "little") == 6457827717110365317


def test_every_byte_is_filled(folder: Path) -> None:
    last = bytes.fromhex(_ask(folder, "0").stdout.split("\n")[5])
    assert len(last) == 1000
    assert all(len(set(last[start : start + 100])) > 50 for start in range(0, 1000, 100))


@pytest.mark.parametrize(
    "seed", [None, "", "x", "-1", " 1", "1 ", "0x1", "+1", str(2**64), "1" * 100]
)
def test_without_a_good_seed_nothing_starts(folder: Path, seed: str | None) -> None:
    answer = _ask(folder, seed)
    assert answer.returncode == 126
    assert answer.stdout == ""
    assert "LONGFAT_SEED is not" in answer.stderr


def test_the_largest_seed_is_good(folder: Path) -> None:
    assert _ask(folder, str(2**64 - 1)).returncode == 0


def test_the_same_source_gives_the_same_library(folder: Path, tmp_path: Path) -> None:
    log = Log(
        tmp_path / "log",
        kept_as=tmp_path / "kept",
        env=toolchain.environment(temporary=tmp_path, objects=tmp_path),
    )
    for shim in recipe.load("6.1").shims:
        steps.compile_shim(shim, to=tmp_path / f"{shim.stem}.so", log=log)
    assert (tmp_path / "entropy.so").read_bytes() == (folder / "entropy.so").read_bytes()
