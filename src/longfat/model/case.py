"""The case: everything that decides a result, as one frozen value.

`run(case)` is a pure function, so two cases that are equal give equal bytes.
The digest names a case: the SHA-256 of its canonical JSON. What does not
decide the result (the case's name, the place of a line in a file) is kept out.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from longfat.common.decoding import Decoder, describe
from longfat.errors import InputError
from longfat.model.events import EVENTS, ClockChange, Event
from longfat.model.network import Network
from longfat.model.packages import PinnedPackage
from longfat.model.probes import PROBES, Probe
from longfat.model.traffic import FLOWS, Bulk, Flow, Ping, Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.errors import LongfatError, Place

P = TypeVar("P", bound=Probe)

CASE_FORMAT = 3
"""The version of the canonical JSON; it changes when the meaning of a field does."""

# Fields of networks, hosts, links and their directions that the first cases had. Each one that
# came later is in a case only if it is set, so that a case without it keeps its digest.
_FIRST = frozenset(
    (
        *("hosts", "switches", "links"),
        *("name", "address", "forwards", "routes"),
        *("a", "b", "a_to_b", "b_to_a", "a_address", "b_address", "mtu_bytes"),
        *("rate_bps", "delay_s", "jitter_s", "loss", "queue_bytes"),
    )
)

# Fields of flows that came later: of all, and of those of a tool.
_LATER_OF_FLOWS = frozenset(("address", "expect", "limit_s"))
_LATER_OF_TOOLS = {"cbr": ("reverse",)}

DEFAULT_MEMORY_BYTES = 2 * 1024**3

# Apart from tab and newline, control characters are in no text that is edited by hand.
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that is run verbatim by a shell.

    Attributes:
        node: the host it is typed at, or `longfat.model.network.ROOT_NAMESPACE`.
        line: the line.
    """

    node: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file that a study puts into the machine.

    Attributes:
        path: where it is in the machine, absolute.
        content: what is in it.
        executable: its mode is 755 and not 644.
    """

    path: str
    content: bytes
    executable: bool = False

    @property
    def text(self) -> str | None:
        """Return the content as text; None where it is not UTF-8, or holds control characters."""
        try:
            text = self.content.decode()
        except UnicodeDecodeError:
            return None
        return None if _NO_TEXT.search(text) else text

    def to_json(self) -> dict[str, Any]:
        """Return the file as plain data: its content as `text`, or else as `base64`."""
        text = self.text
        if text is None:
            content = {"base64": base64.b64encode(self.content).decode("ascii")}
        else:
            content = {"text": text}
        return {"path": self.path, "executable": self.executable, **content}


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenFile:
    """What `File.to_json` writes."""

    path: str
    executable: bool
    text: str | None = None
    base64: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.base64 is None):
            raise ValueError("a file has either text or base64")
        if self.base64 is not None:
            base64.b64decode(self.base64, validate=True)  # ValueError, if it is none

    @property
    def file(self) -> File:
        if self.text is not None:
            content = self.text.encode(errors="surrogatepass")
        else:
            content = base64.b64decode(self.base64 or "")
        return File(path=self.path, content=content, executable=self.executable)


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlaces:
    """Where the parts of a case were written, for messages; nothing where it was written nowhere.

    Attributes:
        setup: of each entry of `Case.setup`.
        events: of each of `Case.events`.
        flows: of each of `Case.flows`.
        packages: of each of `Case.packages`.
        links: of each link of the network, where they are written in the study.
    """

    setup: tuple[Place, ...] = ()
    events: tuple[Place, ...] = ()
    flows: tuple[Place, ...] = ()
    packages: tuple[Place, ...] = ()
    links: tuple[Place, ...] = ()


NOWHERE = CasePlaces()
"""Of a case that was written in no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What to run.

    Attributes:
        kernel: the kernel's version, such as `6.1`.
        network: hosts, switches and links.
        files: the files that are put into the machine before all else, by path.
        packages: the Python packages that its programs may import.
        setup: lines that run in this order before the traffic starts.
        flows: the traffic, in the order of the study.
        probes: what is sampled meanwhile.
        events: what changes meanwhile, in the order of the study.
        seed: decides every random number of the guest kernel, and the flows'
            random starts.
        memory_bytes: the machine's memory.
        untrusted: its files, set-up lines and events are a stranger's, and run apart from the
            programs that measure; see `longfat.guest.apart`.
        untrusted_flows: the flows of such a case that are a stranger's programs, which run
            apart, too.
    """

    kernel: str
    network: Network
    files: tuple[File, ...] = ()
    packages: tuple[PinnedPackage, ...] = ()
    setup: tuple[Command, ...] = ()
    flows: tuple[Flow, ...] = ()
    probes: tuple[Probe, ...] = ()
    events: tuple[Event, ...] = ()
    seed: int = 1
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    untrusted: bool = False
    untrusted_flows: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the case as plain data; flows carry their tool's name, probes their kind."""
        data = dataclasses.asdict(self)
        # What came later: a case without it keeps its digest.
        del data["files"]
        if self.files:
            data["files"] = [file.to_json() for file in self.files]
        for name in ("packages", "untrusted", "untrusted_flows"):
            if not data[name]:
                del data[name]
        del data["events"]
        if self.events:
            data["events"] = [event.to_json() for event in self.events]
        _leave_out_later(data["network"])
        data["flows"] = [_flow_json(flow) for flow in self.flows]
        data["probes"] = [{"kind": one.kind, **dataclasses.asdict(one)} for one in self.probes]
        return {"format": CASE_FORMAT, **data}

    @property
    def wrong_clocks(self) -> tuple[str, ...]:
        """The hosts whose clocks are wrong, from the start or by an event."""
        from_start = (host.name for host in self.network.hosts if host.clock is not None)
        later = (event.host for event in self.events if isinstance(event, ClockChange))
        return tuple(dict.fromkeys((*from_start, *later)))

    @property
    def bulk_flows(self) -> tuple[Bulk, ...]:
        """The flows of bulk traffic."""
        return tuple(flow for flow in self.flows if isinstance(flow, Bulk))

    @property
    def tcp_flows(self) -> tuple[Bulk, ...]:
        """The flows of bulk traffic over TCP."""
        return tuple(flow for flow in self.bulk_flows if flow.has_tcp_sockets)

    @property
    def pings(self) -> tuple[Ping, ...]:
        """The flows of echo requests."""
        return tuple(flow for flow in self.flows if isinstance(flow, Ping))

    @property
    def programs(self) -> tuple[Program, ...]:
        """The flows that are programs of the study."""
        return tuple(flow for flow in self.flows if isinstance(flow, Program))

    def probes_of(self, kind: type[P], *, target: str | None = None) -> tuple[P, ...]:
        """Return the probes of a kind.

        Args:
            kind: their class.
            target: the interface or flow that they must be of; any, if None.
        """
        return tuple(
            probe
            for probe in self.probes
            if isinstance(probe, kind) and (target is None or target in probe.targets)
        )

    @classmethod
    def from_json(
        cls,
        data: Any,
        *,
        where: str = "the case",
        error: Callable[[str], LongfatError] = InputError,
    ) -> Case:
        """Return the case that `to_json` wrote.

        Args:
            data: plain data.
            where: what to call it in messages.
            error: makes the error of a message.

        Raises:
            LongfatError: the data is of another format, or is not what `to_json` writes.
        """
        fields = dict(data) if isinstance(data, dict) else {}
        found = fields.pop("format", None)
        if found != CASE_FORMAT:
            raise error(
                f"{where}: its format is {describe(found)}; this longfat reads {CASE_FORMAT}"
            )
        files = [
            one.file for one in _FILES.decode(fields.pop("files", []), where=where, error=error)
        ]
        return _DECODER.decode(fields, where=where, error=error, given={"files": tuple(files)})

    @property
    def digest(self) -> str:
        """Return the case's name: the SHA-256 of its canonical JSON, in hexadecimal."""
        return digest_of(self.to_json())


def _leave_out_later(network: dict[str, Any]) -> None:
    """Leave out of a network's plain data what came later and is not set: see `_FIRST`."""
    directions = [link[way] for link in network["links"] for way in ("a_to_b", "b_to_a")]
    for part in (network, *network["hosts"], *network["links"], *directions):
        for name in part.keys() - _FIRST:
            value = part[name]
            if value is None or value is False or value in ("", ()):  # 0.0 is set
                del part[name]
    for host in network["hosts"]:
        for route in host["routes"]:
            if not route["others"]:
                del route["others"]


def _flow_json(flow: Flow) -> dict[str, Any]:
    later = _LATER_OF_FLOWS.union(_LATER_OF_TOOLS.get(flow.tool, ()))
    data = {"tool": flow.tool, **dataclasses.asdict(flow)}
    for field in dataclasses.fields(flow):
        if field.name in later and data[field.name] == field.default:
            del data[field.name]
    return data


def digest_of(data: Any) -> str:
    """Return the SHA-256 of the canonical JSON of plain data, in hexadecimal.

    Args:
        data: what `Case.to_json` returned.
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


_FILES = Decoder(list[_WrittenFile])
_DECODER = Decoder(
    Case,
    tagged={Flow: ("tool", FLOWS), Probe: ("kind", PROBES), Event: ("kind", EVENTS)},
    given=("files",),
)
