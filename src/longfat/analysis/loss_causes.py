"""Why packets were lost: causes to act on, from the kernel's reasons for its drops."""

from __future__ import annotations

from enum import StrEnum

from longfat.guest.drops import MANAGING_FUNCTIONS


class Cause(StrEnum):
    """Why packets did not arrive."""

    QUEUE_FULL = "queue full"
    BURST_TOO_SMALL = "burst too small"
    LIMIT_TOO_SMALL = "limit too small"
    QUEUE_MANAGEMENT = "queue management"
    NETEM_LOSS = "netem loss"
    NETEM_LIMIT = "netem limit"
    FILTER = "filter"
    FIREWALL = "firewall"
    CONNECTION_TABLE = "connection table"
    TOO_LARGE = "too large"
    HOP_LIMIT = "hop limit"
    NO_ROUTE = "no route"
    NO_NEIGHBOUR = "no neighbour"
    NO_REPLY = "no reply"
    NOT_FORWARDED = "not forwarded"
    WRONG_MAC = "wrong MAC address"
    INTERFACE_DOWN = "interface down"
    CORRUPTED = "corrupted"
    SOCKET_BUFFER = "socket buffer"
    LISTEN_QUEUE = "listen queue"
    CLOSED = "closed"
    DUPLICATE = "duplicate"
    OTHER = "other"

    @property
    def help(self) -> str:
        """What it means, in a sentence."""
        return _HELP[self]

    @property
    def is_loss(self) -> bool:
        """Whether the receiver would have had a use for the packets."""
        return self not in (Cause.DUPLICATE, Cause.CLOSED)


_HELP = {
    Cause.QUEUE_FULL: "the queue held as much as its limit allows",
    Cause.BURST_TOO_SMALL: "the packet is larger than tbf's `burst`, so it never fits",
    Cause.LIMIT_TOO_SMALL: "the packet is larger than the queue's `limit`, so it never fits",
    Cause.QUEUE_MANAGEMENT: "the queue drops before it is full, as RED, CoDel and PIE do",
    Cause.NETEM_LOSS: "netem drops at random, as it was set to",
    Cause.NETEM_LIMIT: "netem held as many packets as its `limit` allows, those that it delays too",
    Cause.FILTER: "a filter or a policer of tc drops what it matches",
    Cause.FIREWALL: "a rule of the firewall drops it",
    Cause.CONNECTION_TABLE: "the table of connections was full",
    Cause.TOO_LARGE: "the packet is larger than the next link's MTU and may not be fragmented",
    Cause.HOP_LIMIT: "its TTL or hop limit was used up, as in a loop of routes",
    Cause.NO_ROUTE: "there is no route to its destination",
    Cause.NO_NEIGHBOUR: "nobody answered the ARP or neighbour request for the next hop",
    Cause.NO_REPLY: "the host made none to an echo request: it has no route back, or ignores them",
    Cause.NOT_FORWARDED: "it is not for this host, which does not forward it",
    Cause.WRONG_MAC: "the MAC address that it was sent to is not that of this interface",
    Cause.INTERFACE_DOWN: "the interface was down, or the qdisc that held it was removed",
    Cause.CORRUPTED: "its checksum or a header was wrong",
    Cause.SOCKET_BUFFER: "the receiving socket's buffer was full",
    Cause.LISTEN_QUEUE: "the listening socket had too many connections that wait",
    Cause.CLOSED: "the connection was closed, or nobody listened",
    Cause.DUPLICATE: "the receiver had it already, or it was outside of its window",
    Cause.OTHER: "see the kernel's reason",
}

# Names of the kernel's enum skb_drop_reason, of the series that longfat knows: where one ends with
# an asterisk, all that begin so. Source: include/net/dropreason-core.h.
_REASONS = {
    Cause.QUEUE_FULL: ("QDISC_DROP", "QDISC_BURST_DROP", "FQ_*"),
    Cause.FILTER: ("TC_INGRESS", "TC_EGRESS", "XDP", "TC_CHAIN_NOTFOUND", "SOCKET_FILTER"),
    Cause.FIREWALL: ("NETFILTER_DROP", "XFRM_POLICY", "BPF_CGROUP_EGRESS"),
    Cause.TOO_LARGE: ("PKT_TOO_BIG",),
    Cause.HOP_LIMIT: ("IP_INHDR", "IPV6_NDISC_HOP_LIMIT"),
    Cause.NO_ROUTE: ("IP_INNOROUTES", "IP_OUTNOROUTES", "IP_INVALID_*", "IP_RPFILTER"),
    Cause.NO_NEIGHBOUR: ("NEIGH_*",),
    Cause.NOT_FORWARDED: ("IP_INADDRERRORS", "BRIDGE_*"),
    Cause.WRONG_MAC: ("OTHERHOST", "UNICAST_IN_L2_MULTICAST"),
    Cause.INTERFACE_DOWN: ("DEV_READY", "DEV_HDR"),
    Cause.CORRUPTED: ("TCP_CSUM", "UDP_CSUM", "IP_CSUM", "ICMP_CSUM", "SKB_CSUM", "PKT_TOO_SMALL"),
    Cause.SOCKET_BUFFER: (
        *("SOCKET_RCVBUFF", "PROTO_MEM", "SOCKET_BACKLOG", "TCP_ZEROWINDOW", "TCP_OFO_QUEUE_PRUNE"),
        *("CPU_BACKLOG", "FULL_RING"),
    ),
    Cause.LISTEN_QUEUE: ("TCP_LISTEN_OVERFLOW",),
    Cause.CLOSED: (
        *("NO_SOCKET", "TCP_CLOSE", "TCP_ABORT*", "TCP_RESET", "SOCKET_CLOSE", "TCP_FASTOPEN"),
        *("QUEUE_PURGE", "TCP_FLAGS"),
    ),
    Cause.DUPLICATE: (
        *("TCP_OLD_DATA", "TCP_OVERWINDOW", "TCP_OFOMERGE", "TCP_OLD_ACK", "TCP_OLD_SEQUENCE"),
        *("TCP_INVALID_SEQUENCE", "TCP_INVALID_SYN", "TCP_INVALID_END_SEQUENCE"),
        *("TCP_INVALID_ACK*", "TCP_TOO_OLD_ACK", "TCP_ACK_UNSENT_DATA", "TCP_RFC7323_*"),
        *("TCP_OFO_DROP", "DUP_FRAG"),
    ),
}
_CAUSES = {reason: cause for cause, reasons in _REASONS.items() for reason in reasons}

# Where the kernel gives no reason, its function that drops.
_FUNCTIONS = {
    **dict.fromkeys(MANAGING_FUNCTIONS, Cause.QUEUE_MANAGEMENT),
    **dict.fromkeys(("ip_error", "ip6_pkt_drop", "dst_discard_out"), Cause.NO_ROUTE),
    "__rtnl_unlock": Cause.INTERFACE_DOWN,
    "wire_reset": Cause.INTERFACE_DOWN,
    "br_handle_frame_finish": Cause.INTERFACE_DOWN,
    "tcp_v4_do_rcv": Cause.CLOSED,
    "tcp_v6_do_rcv": Cause.CLOSED,
    "tcp_v4_rcv": Cause.CLOSED,
    "tcp_v6_rcv": Cause.CLOSED,
    "sk_stream_kill_queues": Cause.CLOSED,
    "inet_sock_destruct": Cause.CLOSED,
    "udp_destruct_common": Cause.CLOSED,
    "skb_rbtree_purge": Cause.CLOSED,
    "skb_queue_purge": Cause.CLOSED,
    "skb_queue_purge_reason": Cause.CLOSED,
}


def cause_of(reason: str, function: str) -> Cause:
    """Return the cause of drops, as far as the kernel's reason and function say it.

    Args:
        reason: the kernel's reason, a name of its enum skb_drop_reason.
        function: the kernel's function that dropped.
    """
    if cause := _CAUSES.get(reason):
        return cause
    for pattern, cause in _CAUSES.items():
        if pattern.endswith("*") and reason.startswith(pattern[:-1]):
            return cause
    return _FUNCTIONS.get(function, Cause.OTHER)
