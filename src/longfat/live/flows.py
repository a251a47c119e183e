"""Measured traffic in a live network: the same tools and figures as a study's flows."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from longfat.common.guard import scratch_folder
from longfat.live.process import CommandFailed, Completed, OutputTooLargeError, TimedOut
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.live.process import Process
    from longfat.live.session import Session
    from longfat.live.task import Task
    from longfat.model.traffic import Flow
    from longfat.model.traffic.flow import Process as Planned

# A server writes its report after its client has ended.
_SERVER_GRACE_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Measured(Mapping[str, float]):
    """The result of a flow: a mapping of its metrics by full name, in base units.

    Attributes:
        flow: the flow.
        metrics: its metrics by full name, in base units.
        raw: the output of its tools, by the name of the file that a study keeps it in.
    """

    flow: Flow
    metrics: Mapping[str, float]
    raw: Mapping[str, str]

    def __getitem__(self, name: str) -> float:
        """Return a metric by its name, such as `receiver_bps`."""
        return self.metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __repr__(self) -> str:
        shown = ", ".join(f"{title} {text}" for title, text in self._rows())
        return f"<{self.flow.tool} {self.flow.source} -> {self.flow.target}: {shown}>"

    def _repr_html_(self) -> str:
        """Return the metrics as a table, for a notebook."""
        rows = "".join(
            f"<tr><td>{escape(title)}</td><td style='text-align:right'>{escape(text)}</td></tr>"
            for title, text in self._rows()
        )
        head = escape(f"{self.flow.tool} {self.flow.source} -> {self.flow.target}")
        return f"<table><caption>{head}</caption>{rows}</table>"

    def _rows(self) -> Iterator[tuple[str, str]]:
        for metric in self.flow.metrics:
            if metric.name in self.metrics:
                yield metric.title, format_quantity(self.metrics[metric.name], metric.unit)

    @property
    def json(self) -> Any:
        """The client's report, where the tool writes JSON (iperf3).

        Raises:
            ValueError: the tool writes none.
        """
        try:
            return json.loads(list(self.raw.values())[-1])
        except RecursionError:
            raise ValueError("JSON that is nested too deep") from None


class Started:
    """Traffic that was started and continues while time passes.

    Attributes:
        server: the address and the port of its server.
    """

    def __init__(
        self,
        session: Session,
        flow: Flow,
        processes: Sequence[tuple[Planned, Process]],
        *,
        server: tuple[str, int],
    ) -> None:
        self.server = server
        self._session = session
        self._flow = flow
        self._servers = processes[:-1]
        self._client_plan, self._client = processes[-1]

    @property
    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self._client.returncode is not None

    @property
    def client(self) -> Process:
        """The process whose end is the flow's."""
        return self._client

    @property
    def awaited(self) -> list[Task]:
        """The processes to wait for now: the client, and then servers that write their report."""
        if not self.is_over:
            return [self._client.task]
        return [server.task for _, server in self._servers if server.returncode is None]

    @property
    def grace_s(self) -> float:
        """How long servers are waited for after the client's end, in seconds."""
        good = self._client.returncode in self._flow.good_statuses
        return _SERVER_GRACE_S if good else 0.0

    def kill(self) -> None:
        """End it, without a result; the processes are gone when time passes again."""
        for process in self._processes():
            if process.returncode is None:
                process.kill()

    def drop(self) -> None:
        """End it at this moment, and release its processes."""
        self.kill()
        for process in self._processes():
            with contextlib.suppress(OutputTooLargeError):  # which is of no interest any more
                process.wait()

    def result(self) -> Measured:
        """Let time pass until it has ended, and measure it.

        Raises:
            CommandFailed: the tool failed.
        """
        client = self._client.complete()
        raw = {}
        servers = []
        for plan, server in self._servers:
            servers.append(self._end(server))
            raw[plan.output] = servers[-1].stdout
        if client.returncode not in self._flow.good_statuses:
            # A client fails when its server does.
            failed = next((one for one in servers if one.returncode > 0), client)
            raise CommandFailed(_with_words(failed, self._flow))
        if client.stderr:
            raw[f"{self._client_plan.output}.err"] = client.stderr
        raw[self._client_plan.output] = client.stdout
        with scratch_folder() as folder:
            for name, text in raw.items():
                (folder / name).write_text(text, encoding="utf-8")
            metrics = self._flow.measure(folder)
        return Measured(flow=self._flow, metrics=metrics, raw=raw)

    def _processes(self) -> list[Process]:
        return [*(server for _, server in self._servers), self._client]

    def _end(self, server: Process) -> Completed:
        try:
            return server.complete(_SERVER_GRACE_S)
        except TimedOut:
            server.terminate()
        try:
            return server.complete(_SERVER_GRACE_S)
        except TimedOut:
            server.kill()
            return server.complete()


def _with_words(done: Completed, flow: Flow) -> Completed:
    """Return a failed client with the tool's own words for the reason."""
    words = flow.failure(done.stderr.strip() or done.stdout)
    return replace(done, stderr=words)
