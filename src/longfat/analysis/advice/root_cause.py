"""Root causes: what makes a flow slow, each with the evidence and what would help.

A `Limit` is what TCP waits for at a moment, as the kernel's clocks show it; a root cause is what
a person has to change. A congestion window that losses keep small is a limit; its root cause may
be a policer, a short queue or a firewall.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longfat.analysis.advice.facts import Fact
    from longfat.analysis.advice.recommendation import Recommendation


class RootCause(StrEnum):
    """What makes a flow slow, or that nothing does; the value is what people read."""

    FULL_LINK = "full link"
    STANDING_QUEUE = "standing queue"
    UNRESPONSIVE_TRAFFIC = "unresponsive traffic"
    UNEQUAL_SHARES = "unequal shares"
    POLICER = "policer"
    SENDER_SHAPER = "shaper at the sender"
    ACK_PATH = "congested way back"
    MTU_BLACK_HOLE = "MTU black hole"
    EARLY_DROPS = "queue management drops early"
    SHORT_QUEUE = "short queue"
    NETEM_LIMIT = "netem limit"
    TINY_BURST = "burst below a packet"
    TINY_LIMIT = "limit below a packet"
    RANDOM_LOSS = "random loss"
    CORRUPTION = "corruption"
    REORDERING = "reordering"
    TIMEOUTS = "retransmission timeouts"
    RECEIVE_WINDOW = "receive window"
    STUCK_WINDOW = "receive window does not grow"
    NO_WINDOW_SCALING = "no window scaling"
    SEND_BUFFER = "send buffer"
    APPLICATION = "application"
    SMALL_WRITES = "small writes"
    START_UP = "start-up"
    EARLY_EXIT = "slow start ended early"
    MODEL = "congestion control's model"
    HOST_CPU = "CPU of a host"
    OUTAGE = "outage"
    FIREWALL = "firewall"
    NO_ROUTE = "no route"
    NO_NEIGHBOUR = "no neighbour"
    NOT_FORWARDED = "not forwarded"
    ROUTING_LOOP = "routing loop"
    SOCKET_BUFFER = "socket buffer"
    LISTEN_QUEUE = "listen queue"
    CONNECTION_TABLE = "connection table"
    NO_ECN = "ECN not negotiated or bleached"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A root cause of a flow's rate, with what shows it.

    Attributes:
        cause: the root cause.
        share: the share of the flow's time in which it held it back, or how sure it is where no
            time is known; 0 to 1.
        sentence: what was seen, for a person.
        remedy: what would help.
        evidence: the measurements that show it; empty where the flow's facts do.
        certain: it was measured, and not inferred.
        explains: it shows why, where another source only shows that the cause is there.
    """

    cause: RootCause
    sentence: str
    remedy: Recommendation
    share: float = 0.0
    evidence: tuple[Fact, ...] = ()
    certain: bool = True
    explains: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "cause": self.cause,
            "share": self.share,
            "certain": self.certain,
            "sentence": self.sentence,
            "evidence": {fact.key: fact.value for fact in self.evidence},
            "help": self.remedy.words,
            "lines": [asdict(line) for line in self.remedy.lines],
            "alternatives": [asdict(line) for line in self.remedy.alternatives],
        }
