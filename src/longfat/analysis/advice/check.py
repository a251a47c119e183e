"""Does the advice hold? The same path in two machines: as the kernel comes, and tuned.

The network is that of Lab 8: two hosts, two switches, and between them an
interface that delays, loses and limits. netem loses whole packets, and with
segmentation offload a packet is up to 45 frames; so where there is loss, the
hosts send single frames, as the formulas suppose.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.arithmetic import FRAME_BYTES, MAX_STREAMS
from longfat.analysis.advice.diagnosis import Diagnosis, diagnose
from longfat.analysis.advice.tuning import HOSTS
from longfat.model.case import DEFAULT_MEMORY_BYTES, Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Queue, Tcp
from longfat.model.traffic import Iperf3
from longfat.theory import buffers, tbf

if TYPE_CHECKING:
    from longfat.analysis.advice.tuning import Tuning
    from longfat.execution.runs import Run

DEFAULT, TUNED = "default", "tuned"
ENOUGH = 0.85
"""A tuned flow that has this share of what was expected is good, whatever the default reached."""

_FLOW, _BOTTLENECK = "bulk", "s1-eth2"
_TIME_S = 10.0
_HOST_NAMES = ("h1", "h2")
_HZ = 250
_MIN_BURST_BYTES = 65536
_EVERY_S = 0.1

# TCP's memory is a sixteenth of the machine's, and each end of a stream has a buffer.
_MEMORY_FACTOR = 2 * 16
_MAX_MEMORY_BYTES = 64 * 1024**3

# netem holds what is on the line, and counts it in packets.
_NETEM_SPARE = 4
_MIN_NETEM = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What came of a check.

    Attributes:
        tuning: the advice.
        runs: the two runs, by `DEFAULT` and `TUNED`.
        diagnoses: what limited their flows.
    """

    tuning: Tuning
    runs: dict[str, Run]
    diagnoses: dict[str, Diagnosis]

    def goodput_bps(self, name: str) -> float:
        """Return what arrived in a run, in bit/s of payload."""
        return self.runs[name].metrics[f"{_FLOW}.receiver_bps"]

    def metric(self, name: str, metric: str) -> float | None:
        """Return a metric of a run's flow."""
        return self.runs[name].metrics.get(f"{_FLOW}.{metric}")

    @property
    def gain(self) -> float:
        """Return by what factor tuning is better; infinite where nothing arrived before."""
        before = self.goodput_bps(DEFAULT)
        return self.goodput_bps(TUNED) / before if before else math.inf

    @property
    def filled(self) -> float:
        """Return which share of the expected the tuned flow reached."""
        return self.goodput_bps(TUNED) / self.tuning.need.expected_bps

    @property
    def good(self) -> bool:
        """Return whether the advice held: it is better, or as good as can be expected."""
        return self.gain > 1 or self.filled >= ENOUGH

    def to_json(self) -> dict[str, Any]:
        """Return what came of it as plain data, numbers in base units."""
        return {
            "good": self.good,
            "gain": self.gain,
            "filled": self.filled,
            "expected_bps": self.tuning.need.expected_bps,
            "cases": {
                name: {
                    "goodput_bps": self.goodput_bps(name),
                    "mean_rtt_s": self.metric(name, "mean_rtt_s"),
                    "retransmits": self.metric(name, "retransmits"),
                    "limit": self.diagnoses[name].limit,
                    "run_dir": str(run.folder),
                }
                for name, run in self.runs.items()
            },
        }


def check_cases(tuning: Tuning) -> dict[str, Case]:
    """Return the two cases that show what the advice is worth."""
    need = tuning.need
    flow = Iperf3(
        name=_FLOW,
        source=_HOST_NAMES[0],
        target=_HOST_NAMES[1],
        time_s=_TIME_S,
        omit_s=_start_s(need.path.rtt_s),
    )
    memory_bytes = max(DEFAULT_MEMORY_BYTES, _MEMORY_FACTOR * need.buffer_bytes)
    plain = Case(
        kernel=need.path.kernel,
        network=Network(
            hosts=tuple(
                Host(name=name, address=f"10.0.0.{number}/8")
                for number, name in enumerate(_HOST_NAMES, start=1)
            ),
            switches=(Switch(name="s1"), Switch(name="s2")),
            links=(Link(a="h1", b="s1"), Link(a="s1", b="s2"), Link(a="h2", b="s2")),
        ),
        setup=_path_lines(tuning),
        flows=(flow,),
        probes=(
            Tcp(name="tcp", of=(_FLOW,), every_s=_EVERY_S),
            Queue(name="queue", of=(_BOTTLENECK,), every_s=_EVERY_S),
        ),
        memory_bytes=min(memory_bytes, _MAX_MEMORY_BYTES),
    )
    tuned = dataclasses.replace(
        plain,
        setup=plain.setup + _tuned_lines(tuning),
        flows=(dataclasses.replace(flow, parallel=min(need.streams, MAX_STREAMS)),),
    )
    return {DEFAULT: plain, TUNED: tuned}


def _start_s(rtt_s: float) -> float:
    """Return how long to wait until windows have grown: some tens of round trips."""
    return float(min(60, math.ceil(40 * rtt_s)))


def _path_lines(tuning: Tuning) -> tuple[Command, ...]:
    need = tuning.need
    path = need.path
    burst = max(_MIN_BURST_BYTES, tbf.burst_bytes(rate_bps=path.rate_bps, hz=_HZ))
    limit = max(
        burst, buffers.router_buffer_bytes(rate_bps=path.rate_bps, rtt_s=path.rtt_s, flows=1)
    )
    packets = max(_MIN_NETEM, math.ceil(_NETEM_SPARE * path.bdp_bytes / FRAME_BYTES))
    lost = f" loss {need.loss * 100:.10g}%" if need.loss else ""
    delay = f"delay {path.rtt_s * 1e6:.0f}us limit {packets}{lost}"
    lines = [
        Command(
            node=ROOT_NAMESPACE, line=f"tc qdisc add dev {_BOTTLENECK} root handle 1: netem {delay}"
        ),
        Command(
            node=ROOT_NAMESPACE,
            line=f"tc qdisc add dev {_BOTTLENECK} parent 1: handle 2: tbf rate {path.rate_bps}bit "
            f"burst {burst:.0f} limit {limit:.0f}",
        ),
    ]
    if need.loss:
        lines += [
            Command(node=host, line=f"ip link set dev {host}-eth0 gso_max_segs 1")
            for host in _HOST_NAMES
        ]
    return tuple(lines)


def _tuned_lines(tuning: Tuning) -> tuple[Command, ...]:
    # net.core's limits are the whole machine's, and iperf3 requests no size here.
    lines = [one.text for one in tuning.lines if one.node == HOSTS and "net.core." not in one.text]
    return tuple(Command(node=host, line=line) for host in _HOST_NAMES for line in lines)


def judge_check(tuning: Tuning, runs: dict[str, Run]) -> Checked:
    """Put the two runs side by side.

    Args:
        tuning: the advice.
        runs: the runs of `check_cases`, by name.

    Raises:
        InputError, MachineError: a run cannot be read.
    """
    return Checked(
        tuning=tuning,
        runs=runs,
        diagnoses={name: diagnose(run, _FLOW)[0] for name, run in runs.items()},
    )
