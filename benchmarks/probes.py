"""What looking costs: Lab 16's RED case with probes and without, in CPU seconds.

    .venv/bin/python benchmarks/probes.py [--repeat N] [--every S]

The case is 90 virtual seconds of one flow at 1 Gbit/s and a ping beside it. With
queue and tcp probes and without, in turns; the least of each counts, as the least
disturbed. Decoding on the host is told apart: it comes after the machine.
"""

from __future__ import annotations

import argparse
import dataclasses
import resource
import tempfile
import time
from pathlib import Path

from longfat.common import resources
from longfat.execution import run_case
from longfat.model.case import Case
from longfat.model.probes import Queue, Tcp
from longfat.study import read_study


def cost_s(case: Case) -> tuple[float, float]:
    """Return the CPU seconds of the machine and of this process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    own_s = time.process_time()
    with tempfile.TemporaryDirectory() as out:
        run_case(case, name="probed", out=Path(out))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    machine_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return machine_s, time.process_time() - own_s


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--every", type=float, default=0.1, help="seconds between two samples")
    options = parser.parse_args()
    case = read_study(resources.folder("labs") / "lab16").cases["red"].case
    probes = (
        Queue(name="queue", of=("s2-eth2",), every_s=options.every),
        Tcp(name="tcp", of=("bulk",), every_s=options.every),
    )
    bare, probed = (dataclasses.replace(case, probes=chosen) for chosen in ((), probes))
    turns = [(cost_s(bare), cost_s(probed)) for _ in range(options.repeat)]
    without_s = min(machine_s for (machine_s, _), _ in turns)
    with_s = min(machine_s for _, (machine_s, _) in turns)
    decoding_s = min(own_s for _, (_, own_s) in turns) - min(own_s for (_, own_s), _ in turns)
    print(f"machine without probes  {without_s:6.2f} CPU s")
    print(f"machine with probes     {with_s:6.2f} CPU s  {with_s / without_s - 1:+.1%}")
    print(f"decoding on the host    {decoding_s:6.2f} CPU s  {decoding_s / without_s:+.1%}")


if __name__ == "__main__":
    main()
