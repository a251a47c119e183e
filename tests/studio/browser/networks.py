"""Large networks that are written by a program."""

from __future__ import annotations


def star(count: int, *, flow_s: int) -> str:
    """Return a study of so many hosts around ten switches, with flows among some of them."""
    hosts = ", ".join(f"h{n}: 10.0.{n // 200}.{n % 200 + 1}/8" for n in range(count))
    links = [f"    - [h{n}, s{n % 10}, {{rate: 100mbit, delay: 1ms}}]" for n in range(count)]
    links += [f"    - [s{n}, s{n + 1}, {{rate: 1gbit, delay: 1ms}}]" for n in range(9)]
    flows = [f"  f{n}: {{iperf3: h{n} -> h{n + 11}, time: {flow_s}s}}" for n in range(0, 40, 4)]
    switches = ", ".join(f"s{n}" for n in range(10))
    return "\n".join(
        (
            "title: A large network\nmemory: 2GB\nnetwork:",
            f"  hosts: {{{hosts}}}\n  switches: [{switches}]\n  links:",
            *links,
            "flows:",
            *flows,
            "",
        )
    )
