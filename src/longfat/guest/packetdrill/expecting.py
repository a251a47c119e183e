"""What the kernel is to send: waited for, put together, and compared with the script."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from longfat.guest.packetdrill import compare, wire
from longfat.guest.packetdrill.failures import FailureError
from longfat.guest.packetdrill.flow import SYN_RECEIVED, SYNACK_SENT, Flow, Flows
from longfat.guest.packetdrill.waiting import Waiting

# How long after its time a packet is waited for.
_PATIENCE_NS = 2_000_000_000
_NEVER_NS = 2**62

Event = dict[str, Any]


@dataclass(frozen=True)
class Times:
    """When a packet is expected, in ns of the script.

    Attributes:
        due_ns: the time that the script says.
        end_ns: the end of its range; the same, if it says none.
        now_ns: what time it is in the script.
        tolerance_ns: how far off it may be.
    """

    due_ns: int
    end_ns: int
    now_ns: int
    tolerance_ns: int


@dataclass(frozen=True)
class Taken:
    """A packet that the kernel sent.

    Attributes:
        sent_ns: when.
        off_ns: how far that is from its time; None if that may be any.
        failure: where it differs from the script; None if it does not.
    """

    sent_ns: int
    off_ns: int | None
    failure: FailureError | None


class Expecting:
    """Takes what the kernel sends.

    Args:
        settings: the tolerances.
        flows: the connections.
        waiting: where packets come from.
    """

    def __init__(self, settings: dict[str, Any], flows: Flows, waiting: Waiting) -> None:
        self._settings = settings
        self._flows = flows
        self._waiting = waiting

    def take(self, event: Event, times: Times, *, until: Callable[..., bool]) -> Taken:
        """Wait for a packet of the script, and compare it.

        Args:
            event: the packet's event.
            times: when it is expected.
            until: lets time pass, see `Waiting.until`.

        Raises:
            FailureError: it does not come, or only parts of it.
        """
        script = event["packet"]
        segment = script["tcp"]
        flow = self._flows.of(script)
        is_any = event["moment"]["kind"] == "any"
        deadline_ns = _NEVER_NS if is_any else max(times.now_ns, times.end_ns) + _PATIENCE_NS
        answers = segment is not None and flow.state == SYN_RECEIVED and segment["flags"] & 18 == 18
        if answers:
            flow.script_isn = segment["sequence"]
        parts: list[wire.Sent] = []
        while True:
            sent = self._next(flow, lambda: until(deadline_ns, done=self._has_packets))
            if sent is None:
                got = sum(len(part.rest) for part in parts)
                more = f"; {got} bytes of it came" if parts else ""
                message = f"the kernel did not send this packet{more}"
                raise FailureError(event["line"], message, expected_ns=times.due_ns)
            if answers and not parts:
                flow.state = SYNACK_SENT
                flow.local_isn = sent.sequence
            compare.to_script(sent, flow)
            parts.append(sent)
            if self._is_whole(event, parts, flow, times):
                return self._judge(event, compare.joined(parts), flow, times)

    def _has_packets(self) -> bool:
        return bool(self._waiting.packets)

    def _next(self, flow: Flow, wait: Callable[[], bool]) -> wire.Sent | None:
        """Return the next packet of a connection that the kernel sends; None if none comes."""
        packets = self._waiting.packets
        while True:
            while packets:
                time_ns, data = packets.popleft()
                try:
                    sent = wire.parse(data, time_ns)
                except wire.NotOursError:
                    continue
                if self._flows.sent(sent) is flow:
                    return sent
            if not wait():
                return None

    def _is_whole(self, event: Event, parts: list[wire.Sent], flow: Flow, times: Times) -> bool:
        """Return whether these are all of a packet of the script's.

        Raises:
            FailureError: the last one cannot be a part of it.
        """
        script = event["packet"]
        wanted = (script["tcp"] or script["udp"] or {"length": 0})["length"]
        is_last = sum(len(part.rest) for part in parts) >= wanted
        is_last = is_last or self._settings["strict_segments"] or script["tcp"] is None
        if len(parts) > 1 and (why := compare.gap(*parts[:-3:-1], is_last=is_last)):
            raise FailureError(
                event["line"],
                f"the kernel did not send this packet, nor parts of it: {why}",
                expected_ns=None if event["moment"]["kind"] == "any" else times.due_ns,
                actual_ns=parts[-1].time_ns,
                sent=compare.shown(parts[-1], script, flow),
            )
        return is_last

    def _judge(self, event: Event, sent: wire.Sent, flow: Flow, times: Times) -> Taken:
        script = event["packet"]
        compare.learn_timestamps(sent, script, flow)
        found = compare.differences(sent, script, flow, most_ticks=self._most_ticks(times))
        off_ns: int | None = sent.time_ns - times.due_ns
        if event["moment"]["kind"] == "any":
            off_ns = None
        elif event["moment"]["end_ns"] is not None:
            off_ns = min(0, sent.time_ns - times.due_ns) + max(0, sent.time_ns - times.end_ns)
        failure = None
        if found or (off_ns is not None and abs(off_ns) > times.tolerance_ns):
            failure = FailureError(
                event["line"],
                f"the kernel sent {'another packet' if found else 'it at another time'}",
                expected_ns=None if off_ns is None else times.due_ns,
                actual_ns=sent.time_ns,
                differences=found,
                sent=compare.shown(sent, script, flow),
            )
        return Taken(sent.time_ns, off_ns, failure)

    def _most_ticks(self, times: Times) -> int | None:
        """Return how far a timestamp may be off; None if they are not looked at."""
        tick_us: int = self._settings["tcp_ts_tick_usecs"]
        if not tick_us:
            return None
        share_ns = round(self._settings["tolerance_percent"] / 100 * times.due_ns)
        most_us: int = max(self._settings["tolerance_ns"], share_ns) // 1000
        return most_us // tick_us
