"""The host's tools, as a result depends on them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from longfat.execution import tools

# struct vfs_cap_data, revision 2, effective: CAP_NET_RAW permitted, as Debian's ping has it.
_NET_RAW = bytes.fromhex("0100000200200000000000000000000000000000")
_ASK = """
import sys
from pathlib import Path
from longfat.execution.tools import _version
print(_version(Path(sys.argv[1])))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may take a capability away for good")
def test_a_program_whose_capabilities_a_container_lacks_is_known(tmp_path: Path) -> None:
    ping = tmp_path / "ping"
    shutil.copy("/usr/bin/ping", ping)
    os.setxattr(ping, "security.capability", _NET_RAW)
    contained = ["setpriv", "--bounding-set=-net_raw"]
    refused = subprocess.run([*contained, ping, "-V"], capture_output=True, text=True, check=False)
    assert "Operation not permitted" in refused.stderr
    done = subprocess.run(
        [*contained, sys.executable, "-c", _ASK, ping], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("ping from iputils")


def test_all_code_that_decides_a_result_is_found() -> None:
    missing = [pattern for pattern in tools.DECIDING if not list(tools.PACKAGE.glob(pattern))]
    assert missing == []
