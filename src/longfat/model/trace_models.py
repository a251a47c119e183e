"""Made-up traces, for links that change as mobile, satellite and wireless ones do.

They are no recordings. Each is made from a few random processes whose parameters are
defined here, with a seed of its own, and is the same everywhere: only `random.random()` is
drawn from, whose numbers Python promises to keep.

* `lte-like`: the moments at which a base station serves one of its users. The rate wanders about
  12 Mbit/s (an Ornstein-Uhlenbeck process of its logarithm, with a standard deviation of 0.6 and
  a memory of 1 s), three in ten subframes of 1 ms are this user's, and about every 20 s, at a
  handover, nothing comes for 150 ms. Such a process models the traces in Winstein,
  Sivaraman, Balakrishnan, "Stochastic Forecasts" (NSDI 2013), which found rates that vary
  by an order of magnitude within seconds.
* `leo-like`: a path over low satellites that are reassigned every 15 s (Mohan et al., "A
  Multifaceted Look at Starlink Performance", WWW 2024): each assignment has a delay between 15
  and 35 ms and a rate between 50 and 200 Mbit/s, and begins with 100 ms in which nothing
  passes; 0.1 % of the packets are lost.
* `wifi-like`: a station of 802.11n with one antenna and channels of 20 MHz, whose rate moves from
  one of the standard's to the next, faster or slower, about twice a second. 65 % of it is left
  to packets; retries take up to 8 ms.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping

LENGTH_S = 60
"""How long each of them is, in seconds."""

_OPPORTUNITY_BITS = 1504 * 8


def make_trace(name: str) -> bytes:
    """Return a made-up trace, in a form that `longfat.model.trace` reads.

    Args:
        name: one of `MODELS`.

    Raises:
        KeyError: there is no such one.
    """
    # A seed of text is hashed by SHA-512, the same everywhere.
    draws = random.Random(f"longfat {name}")
    return "".join(f"{line}\n" for line in MODELS[name](draws)).encode()


def _normal(draws: random.Random) -> float:
    """Draw from the standard normal distribution (Box and Muller)."""
    return math.sqrt(-2 * math.log(1 - draws.random())) * math.cos(2 * math.pi * draws.random())


def _lte(draws: random.Random) -> Iterator[str]:
    share, memory_ms, spread, outage_ms = 0.3, 1000, 0.6, 150
    level = bits = 0.0
    out_until_ms = 0
    for now_ms in range(1, LENGTH_S * 1000):
        level += -level / memory_ms + spread * math.sqrt(2 / memory_ms) * _normal(draws)
        bits += 12e6 * math.exp(level) / 1000
        if draws.random() < 1 / 20_000:
            out_until_ms = now_ms + outage_ms
        if now_ms < out_until_ms:
            bits = 0.0
        elif draws.random() < share:
            for _ in range(int(bits / _OPPORTUNITY_BITS)):
                yield str(now_ms)
            bits %= _OPPORTUNITY_BITS
    yield str(LENGTH_S * 1000)


def _leo(draws: random.Random) -> Iterator[str]:
    yield "time_ms,rate_mbps,delay_ms,loss"
    for start_s in range(0, LENGTH_S, 15):
        delay_ms, rate_mbps = 15 + 20 * draws.random(), 50 + 150 * draws.random()
        yield f"{start_s * 1000},0,{delay_ms:.3f},0"
        for step in range(1, 150):
            now = rate_mbps * (0.9 + 0.2 * draws.random())
            yield f"{start_s * 1000 + step * 100},{now:.3f},{delay_ms:.3f},0.001"


_MCS_MBPS = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)


def _wifi(draws: random.Random) -> Iterator[str]:
    yield "time_ms,rate_mbps,delay_ms"
    at = 5
    for now_ms in range(0, LENGTH_S * 1000, 50):
        if draws.random() < 0.1:
            at = min(max(at + (1 if draws.random() < 0.5 else -1), 0), len(_MCS_MBPS) - 1)
        retries_ms = 8 * draws.random() ** 4
        yield f"{now_ms},{0.65 * _MCS_MBPS[at]:.3f},{1 + retries_ms:.3f}"


MODELS: Mapping[str, Callable[[random.Random], Iterator[str]]] = {
    "lte-like": _lte,
    "leo-like": _leo,
    "wifi-like": _wifi,
}
"""The traces that there are, by their names."""
