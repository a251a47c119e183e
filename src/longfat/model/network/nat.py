"""Routers that translate addresses and drop unsolicited packets, as lines of `nft`.

What goes out there
gets the router's address; what comes in is let in if it belongs to something that went out,
and else dropped without an answer. The kinds differ in these:

* `home`: Linux's masquerading, which keeps a port if it is free. So a host's port looks the same
  to all of the world, and two hosts behind two such routers can meet in the middle (hole
  punching): mapping independent of the endpoint, filtering by address and port (RFC 4787,
  sections 4.1 and 5). Mappings of UDP end after 30 s, or 120 s once there was an answer.
* `cgnat`: the same of a provider, whose mappings live as long as RFC 4787 (REQ-5: UDP, 5
  minutes) and RFC 5382 (REQ-5: TCP, 2 hours and 4 minutes) ask for. Behind it there
  is often a `home` router with an address of 100.64.0.0/10 (RFC 6598) outside.
* `symmetric`: each destination sees another, random port: no other host can answer to it.
* `corporate`: symmetric, and only TCP to the ports 80 and 443, DNS and pings may go out.

Sources: nft(8); Documentation/networking/nf_conntrack-sysctl.rst for the timeouts.
"""

from __future__ import annotations

from collections.abc import Mapping

_FORWARD = "nft add rule inet filter forward"
_CONNTRACK = "sysctl -qw net.netfilter.nf_conntrack_"

_MASQUERADE: Mapping[str, str] = {
    "home": "masquerade",
    "cgnat": "masquerade",
    "symmetric": "masquerade fully-random",
    "corporate": "masquerade fully-random",
}
NATS = tuple(_MASQUERADE)
"""The kinds that there are."""

_MORE: Mapping[str, tuple[str, ...]] = {
    "cgnat": (
        f"{_CONNTRACK}udp_timeout=300",
        f"{_CONNTRACK}udp_timeout_stream=300",
        f"{_CONNTRACK}tcp_timeout_established=7440",
    ),
    "corporate": (
        f"{_FORWARD} ct state established,related accept",
        f"{_FORWARD} 'tcp dport {{ 53, 80, 443 }} accept'",
        f"{_FORWARD} udp dport 53 accept",
        f"{_FORWARD} icmp type echo-request accept",
        f"{_FORWARD} drop",
    ),
}


def nat_problem(words: str) -> str | None:
    """Return why words are no kind of address translation; None if they are one."""
    if words in NATS:
        return None
    return f"{words!r} is no kind of address translation: write one of {', '.join(NATS)}"


def nat_lines(kind: str, outside: str) -> tuple[str, ...]:
    """Return the lines that make a router translate, in their order.

    Args:
        kind: one of `NATS`.
        outside: its interface that leads to the world.
    """
    replies = f"iifname {outside} ct state established,related accept"
    return (
        "nft add table ip nat",
        "nft 'add chain ip nat out { type nat hook postrouting priority srcnat; }'",
        f"nft add rule ip nat out oifname {outside} {_MASQUERADE[kind]}",
        "nft add table inet filter",
        # A reply to an unsolicited packet would leave a conntrack entry that blocks solicited ones.
        "nft 'add chain inet filter input { type filter hook input priority filter; }'",
        f"nft add rule inet filter input {replies}",
        f"nft add rule inet filter input iifname {outside} meta l4proto '{{ tcp, udp }}' drop",
        "nft 'add chain inet filter forward { type filter hook forward priority filter; }'",
        f"{_FORWARD} {replies}",
        f"{_FORWARD} iifname {outside} drop",
        *_MORE.get(kind, ()),
    )
