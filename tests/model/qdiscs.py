"""Random qdiscs that tc takes."""

from __future__ import annotations

from hypothesis import strategies as st

from longfat.model.network.tc import OPTIONS, SHARE, Option, Qdisc, Value

RATES = st.integers(8_000, 10**11)
TIMES = st.integers(1, 2 * 10**6).map(lambda us: us / 1e6)
SHARES = st.integers(1, 10**4).map(lambda parts: parts / 1e4)
COUNTS = st.integers(1, 10**5)
SHARE_OPTIONS = [name for name, values in OPTIONS["netem"].items() if values == (SHARE, SHARE)]


@st.composite
def netems(draw: st.DrawFn) -> list[Option]:
    options = [Option("limit", (draw(COUNTS),))]
    delay: tuple[Value, ...] = (draw(TIMES), draw(TIMES), draw(SHARES))[: draw(st.integers(1, 3))]
    options.append(Option("delay", delay))
    if len(delay) > 1 and draw(st.booleans()):
        options.append(Option("distribution normal"))
    # tc takes one kind of loss.
    without = draw(st.sampled_from(("loss", "loss random")))
    for name in SHARE_OPTIONS:
        if name != without and draw(st.booleans()):
            options.append(Option(name, (draw(SHARES), draw(SHARES))[: draw(st.integers(1, 2))]))
    if draw(st.booleans()):
        options.append(Option("rate", (draw(RATES),)))
    return options


@st.composite
def tbfs(draw: st.DrawFn) -> list[Option]:
    rate = Option("rate", (draw(RATES),))
    burst = draw(st.integers(1_600, 10**5))
    room = Option("limit", (burst + draw(st.integers(10**4, 10**7)),))
    latency = Option("latency", (draw(st.integers(1, 500)) / 1e3,))
    return [rate, Option("burst", (burst,)), draw(st.sampled_from((room, latency)))]


@st.composite
def wires(draw: st.DrawFn) -> list[Option]:
    options = [Option("rate", (draw(RATES),)), Option("limit", (draw(st.integers(2_000, 10**9)),))]
    if draw(st.booleans()):
        options.append(Option("cut", (draw(st.integers(1_518, 65_535)),)))
    return [*options, Option("through")] if draw(st.booleans()) else options


@st.composite
def reds(draw: st.DrawFn) -> list[Option]:
    minimum = draw(st.integers(10_000, 50_000))
    maximum = minimum * draw(st.integers(2, 4))
    numbers = {"limit": maximum * 4, "min": minimum, "max": maximum, "avpkt": 1000, "burst": 60}
    options = [Option(name, (number,)) for name, number in numbers.items()]
    bandwidth = Option(
        "bandwidth", (draw(st.integers(8_000, 8 * (2**32 - 1))),)
    )  # 32 bits of bytes
    options += [Option("probability", ("0.1",)), bandwidth]
    return [*options, Option("ecn")] if draw(st.booleans()) else options


def _options(**values: st.SearchStrategy[Value]) -> st.SearchStrategy[list[Option]]:
    found = {name: value.map(lambda number: (number,)) for name, value in values.items()}
    return st.fixed_dictionaries(found).map(
        lambda chosen: [Option(name, numbers) for name, numbers in chosen.items()]
    )


_CODEL = {"limit": COUNTS, "target": TIMES, "interval": TIMES}
_KINDS: dict[str, st.SearchStrategy[list[Option]]] = {
    "netem": netems(),
    "tbf": tbfs(),
    "wire": wires(),
    "red": reds(),
    "bfifo": _options(limit=st.integers(2_000, 10**9)),
    "pfifo": _options(limit=COUNTS),
    "pfifo_head_drop": _options(limit=COUNTS),
    "codel": _options(**_CODEL),
    "fq_codel": _options(**_CODEL, quantum=st.integers(300, 9000)),
    "fq": _options(limit=COUNTS, flow_limit=COUNTS, quantum=st.integers(300, 9000), maxrate=RATES),
    "pie": _options(limit=COUNTS, target=TIMES),
    "cake": _options(bandwidth=RATES, rtt=TIMES),
}


KINDS = tuple(_KINDS)
"""The kinds whose options are known."""


@st.composite
def qdiscs(draw: st.DrawFn, *, kinds: tuple[str, ...] = KINDS) -> Qdisc:
    """Return a qdisc of one of some kinds, at the root."""
    kind = draw(st.sampled_from(kinds))
    return Qdisc(kind=kind, handle="1:", options=tuple(draw(_KINDS[kind])))
