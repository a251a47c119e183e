"""A study with more hosts than a process may have files open, by two sockets of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import longfat

HOSTS = 520


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_study_of_more_hosts_than_descriptors(tmp_path: Path) -> None:
    hosts = ", ".join(
        f"h{number}: 10.0.{number // 250}.{number % 250 + 1}/16" for number in range(HOSTS)
    )
    links = ", ".join(f"[h{number}, s1]" for number in range(HOSTS))
    (tmp_path / "study.yaml").write_text(
        f"title: many hosts\nkernel: '7.2'\nnetwork:\n  hosts: {{{hosts}}}\n  switches: [s1]\n"
        f"  links: [{links}]\nflows:\n  p: {{ping: h0 -> h{HOSTS - 1}, count: 1}}\n"
    )
    done = longfat("run", "study.yaml", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
