"""The kernel's own packetdrill tests: what others wrote down of Linux, and the check of ours.

They are the kernel's (GPL-2.0) and not in here: they are taken out of its source, where
`longfat kernel build` has downloaded that. To run all of them, see docs/packetdrill.md.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from longfat.common.folder_store import cache_root
from longfat.engine import kernel as kernels
from longfat_packetdrill.find import find_scripts
from longfat_packetdrill.options import Settings
from longfat_packetdrill.parser import parse_script
from longfat_packetdrill.run import run_script

pytestmark = pytest.mark.slow

FOLDER = "tools/testing/selftests/net/packetdrill"
# A few of each subject: all of them take some minutes.
CHOSEN = {
    "6.12": ("tcp_inq_*", "tcp_slow_start_slow-start-ack-per-[12]pkt", "tcp_zerocopy_b*"),
    "7.2": (
        *("tcp_accecn_2nd_data_as_first", "tcp_blocking_*", "tcp_close_*", "tcp_cubic_*bdp*"),
        *("tcp_fast_retransmit_*4pkt*", "tcp_fastopen_server_basic-rw", "tcp_limited_*"),
        *("tcp_mtu_probe_basic-v[46]", "tcp_sack_sack-shift-sacked-2-6*", "tcp_splice_*"),
        *("tcp_timestamping_partial", "tcp_tcp_info_*", "tcp_user_timeout_*"),
    ),
}


# One process unpacks a series, which takes longer than the tests.
GROUPED = [pytest.param(name, marks=pytest.mark.xdist_group(f"Linux {name}")) for name in CHOSEN]


@pytest.fixture(params=GROUPED, scope="module")
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    series = request.param
    sources = cache_root() / "sources"
    tarballs = sorted(sources.glob(f"*/linux-source-{series}.tar.*"))
    if not tarballs:
        pytest.skip(f"no source of Linux {series} in {sources}: longfat kernel build {series}")
    folder: Path = tmp_path_factory.mktemp(f"linux-{series}")
    command = ["tar", "-xf", str(tarballs[-1]), "-C", str(folder), "--strip-components=1"]
    subprocess.run([*command, "--wildcards", f"*/{FOLDER}/*"], check=True)
    return folder


def test_they_pass(unpacked: Path) -> None:
    series = next(name for name in CHOSEN if unpacked.name.startswith(f"linux-{name}"))
    folder = unpacked / FOLDER
    kernel = kernels.find(series)
    chosen = {path for name in CHOSEN[series] for path in folder.glob(f"{name}.pkt")}
    assert len(chosen) >= len(CHOSEN[series])
    failed = []
    for script in find_scripts(sorted(chosen), root=folder):
        version = script.ip_version() or "ipv4"
        settings = Settings(ip_version=version).with_kselftest()
        parsed = parse_script(script.read(), file=str(script.path), settings=settings)
        result = run_script(parsed, root=folder, kernel=kernel)
        if not result.passed:
            failed.append((script.path.name, result.failure))
    assert failed == []


def test_all_of_them_can_be_read(unpacked: Path) -> None:
    scripts = find_scripts([unpacked / FOLDER])
    assert len(scripts) > 20
    for script in scripts:
        settings = Settings(ip_version=script.ip_version() or "ipv4").with_kselftest()
        parse_script(script.read(), file=str(script.path), settings=settings).plan()
