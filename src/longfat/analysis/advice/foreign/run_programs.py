"""Programs in runs of longfat: the rules for captures, on a capture beside the program.

A flow of an unmodified program has no report that could be read. With a tcp probe of it, it is
diagnosed as bulk traffic is; without, a capture beside it (`capture: {of: INTERFACE}`) shows as
much as tcpdump does of a stranger's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.analysis.advice.foreign.capture import diagnose_capture
from longfat.analysis.advice.foreign.combine import combine
from longfat.analysis.packets.decoded_capture import capture_path, captures_of
from longfat.model.network.routing import target_addresses

if TYPE_CHECKING:
    from longfat.analysis.advice.foreign.foreign_diagnosis import ForeignDiagnosis
    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow


def captured_connections(run: Run, flow: Flow) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited the connections of a flow that captures of a run have seen.

    Args:
        run: the run.
        flow: the flow.

    Returns:
        One for each connection between its hosts; none without a capture.

    Raises:
        InputError: a file of the run is missing or broken.
    """
    return combine(
        [
            connection
            for probe in captures_of(run)
            for connection in diagnose_capture(capture_path(run, probe), name=probe)
            if _is_of(connection, run, flow)
        ]
    )


def _is_of(diagnosis: ForeignDiagnosis, run: Run, flow: Flow) -> bool:
    """Return whether a captured connection is between the hosts of a flow."""
    ends = {address for key in diagnosis.connections for address, _ in key}
    network = run.case.network
    return all(ends & set(target_addresses(network, host)) for host in (flow.source, flow.target))
