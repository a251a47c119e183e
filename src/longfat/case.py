"""The case: everything that decides a result, as one frozen value.

`run(case)` is a pure function, so two cases that are equal give equal bytes.
The digest names a case: the SHA-256 of its canonical JSON. What does not
decide the result (the case's name, the place of a line in a file) is kept out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from longfat.network import Network
from longfat.traffic import Flow

CASE_FORMAT = 1
"""The version of the canonical JSON; it changes when the meaning of a field does."""

DEFAULT_MEMORY_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A line that a person typed, run verbatim by a shell.

    Attributes:
        node: the host it is typed at, or `longfat.network.ROOT`.
        line: the line.
    """

    node: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What to run.

    Attributes:
        kernel: the kernel's version, such as `6.1`.
        network: hosts, switches and links.
        setup: lines that run in this order before the traffic starts.
        flows: the traffic, in the order of the study.
        seed: decides every random number of the guest kernel.
        memory_bytes: the machine's memory.
    """

    kernel: str
    network: Network
    setup: tuple[Command, ...] = ()
    flows: tuple[Flow, ...] = ()
    seed: int = 1
    memory_bytes: int = DEFAULT_MEMORY_BYTES

    def to_json(self) -> dict[str, Any]:
        """Return the case as plain data; flows carry their tool's name."""
        data = dataclasses.asdict(self)
        data["flows"] = [{"tool": flow.tool, **dataclasses.asdict(flow)} for flow in self.flows]
        return {"format": CASE_FORMAT, **data}

    @property
    def digest(self) -> str:
        """Return the case's name: the SHA-256 of its canonical JSON, in hexadecimal."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()
