"""A pytest plugin: networks for tests, in virtual time.

    def test_reaches(network):
        h1, h2 = network.host("h1"), network.host("h2")
        network.link(h1, h2, delay="10ms")
        assert h1.ping(h2)["loss"] == 0

    @pytest.mark.longfat(kernel="6.12", seeds=20)
    def test_with_any_losses(network): ...

Pytest loads this with every run of every project, so it imports nothing of
longfat before a test wants a network, except for the search for products.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from longfat.common.products import load_object, references_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from longfat.live import LiveLink, Network, Process
    from longfat.live.probes import Series

_MARKER = "longfat"
_OPTIONS = ("kernel", "seed", "seeds", "memory", "pace", "capture", "packages")
_DEFAULT_KEPT = ".longfat"
_DEFAULT_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a test's marker and the command line say of its network."""

    kernel: str | None = None
    seed: int = _DEFAULT_SEED
    memory: Any = None
    pace: float | None = None
    capture: bool = False
    packages: tuple[str | Path, ...] = ()


@dataclass(slots=True)
class _Held:
    """A test's network while it lives, and what it did."""

    seed: int
    processes: list[tuple[str, Process]] = field(default_factory=list)
    captured: list[LiveLink] = field(default_factory=list)
    captures: list[Series] = field(default_factory=list)


_HELD = pytest.StashKey["tuple[Network, _Held]"]()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options, and the plug-ins of products."""
    group = parser.getgroup("longfat", "networks in virtual time")
    group.addoption(
        "--longfat-kernel",
        metavar="VERSION",
        help="the kernel of networks whose test names none, such as 6.12",
    )
    group.addoption(
        "--longfat-seed",
        metavar="N",
        type=int,
        help="the one seed of all networks, in place of their tests'",
    )
    group.addoption(
        "--longfat-seeds",
        metavar="COUNT",
        type=_count,
        help="how many seeds each test has whose marker asks for several",
    )
    group.addoption(
        "--longfat-keep",
        metavar="DIR",
        default=_DEFAULT_KEPT,
        help="where failing tests leave what their network did (default: %(default)s)",
    )
    for module in references_of("pytest_plugin"):
        # Its hooks are called as if pytest had loaded it, this one included.
        pluginmanager.register(load_object(module), module)


def _count(text: str) -> int:
    """Return a number from 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it is a whole number from 1, and here is {text!r}")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "longfat(kernel=None, seed=1, seeds=1, memory=None, pace=None, capture=False, "
        "packages=()): the "
        "network of a test. With several seeds the test runs once with each of them, from "
        "`seed` on; with capture=True a failing test leaves the packets of all links.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with several seeds once with each of them."""
    if "network" not in metafunc.fixturenames:
        return
    options = _marked(metafunc.definition)
    count = options.get("seeds", 1)
    if not isinstance(count, int) or count < 1:
        pytest.fail(
            f"{metafunc.definition.nodeid}: seeds is a whole number from 1, and here is {count!r}",
            pytrace=False,
        )
    if count == 1:
        return
    given = metafunc.config.getoption("--longfat-seeds")
    count = count if given is None else given
    first = options.get("seed", _DEFAULT_SEED)
    only = metafunc.config.getoption("--longfat-seed")
    seeds = range(first, first + count) if only is None else [only]
    # The fixture finds it in the test's parameters; nobody else has to ask for it.
    metafunc.parametrize(
        "network", seeds, ids=[f"seed{seed}" for seed in seeds], indirect=True, scope="function"
    )


@pytest.fixture
def network(request: pytest.FixtureRequest) -> Iterator[Network]:
    """Give a test a live network without nodes; see `longfat.Network`."""
    from longfat.engine.kernel.version import NEWEST  # noqa: PLC0415
    from longfat.errors import HostError, InputError  # noqa: PLC0415  see above
    from longfat.live import Network  # noqa: PLC0415

    wanted = _wanted(request)
    held = _Held(seed=wanted.seed)
    given: dict[str, Any] = {} if wanted.memory is None else {"memory": wanted.memory}
    try:
        live = Network(
            kernel=wanted.kernel or NEWEST,
            seed=held.seed,
            pace=wanted.pace,
            packages=wanted.packages,
            on_command=lambda node, process: held.processes.append((node, process)),
            on_build=functools.partial(_capture, held) if wanted.capture else _nothing,
            **given,
        )
    except (HostError, InputError) as error:
        pytest.fail(f"no network: {error}", pytrace=False)
    with live:
        request.node.stash[_HELD] = (live, held)
        yield live
    del request.node.stash[_HELD]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep what the network of a failing test did, and say how to do it again."""
    report = yield
    held = item.stash.get(_HELD, None)
    if call.when == "call" and report.failed and held is not None:
        report.sections.append(("longfat", _keep(item, *held)))
    return report


def _marked(item: pytest.Item | Any) -> dict[str, Any]:
    """Return what a test's markers say; the nearest one to the test wins."""
    found: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers(_MARKER))):
        found |= mark.kwargs
        unknown = set(mark.kwargs) - set(_OPTIONS)
        if unknown or mark.args:
            what = f"{sorted(unknown)[0]!r}" if unknown else "an argument without a name"
            pytest.fail(
                f"{item.nodeid}: the marker longfat does not know {what}: it takes "
                f"{', '.join(_OPTIONS)}",
                pytrace=False,
            )
    return found


def _wanted(request: pytest.FixtureRequest) -> _Wanted:
    options = _marked(request.node)
    only = request.config.getoption("--longfat-seed")
    seed = options.get("seed", _DEFAULT_SEED) if only is None else only
    return _Wanted(
        kernel=options.get("kernel") or request.config.getoption("--longfat-kernel"),
        seed=getattr(request, "param", seed),
        memory=options.get("memory"),
        pace=options.get("pace"),
        capture=bool(options.get("capture", False)),
        packages=tuple(options.get("packages", ())),
    )


def _nothing(network: Network) -> None:
    """Do nothing when a network is built."""


def _capture(held: _Held, network: Network) -> None:
    """Capture on all links from the first moment at which there are any, or more than before."""
    new = [link for link in network.links if link not in held.captured]
    if new:
        held.captured += new
        series = network.probe(capture=new)
        held.captures.append(series.__enter__())


def _keep(item: pytest.Item, network: Network, held: _Held) -> str:
    """Write what a network did into a folder; return what to tell of it."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid.partition("[")[0]).strip("-")
    kept = Path(item.config.getoption("--longfat-keep"))
    folder = (item.config.rootpath / kept) / f"{name}-seed{held.seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "commands.sh").write_text(network.record.text, encoding="utf-8")
    with (folder / "outputs.jsonl").open("w", encoding="utf-8") as file:
        for node, process in held.processes:
            file.write(json.dumps({"node": node, **_process_json(process)}) + "\n")
    (folder / "console.log").write_text(network.session.console(), encoding="utf-8")
    lost = _keep_captures(held, folder)
    release = network.session.kernel.release
    again = ["pytest", item.nodeid, "--longfat-kernel", release]
    lines = [
        f"network: Linux {release}, seed {held.seed}, at {network.clock.now:.6f} s of virtual time",
        f"kept in: {folder}",
        *lost,
        f"reproduce: {shlex.join([*again, '--longfat-seed', str(held.seed)])}",
    ]
    return "\n".join(lines)


def _process_json(process: Process) -> dict[str, Any]:
    args = process.args
    return {
        "command": args if isinstance(args, str) else list(args),
        "started_s": process.started_s,
        "returncode": process.returncode,
        "stdout": process.stdout,
        "stderr": process.stderr,
    }


def _keep_captures(held: _Held, folder: Path) -> list[str]:
    from longfat.errors import LongfatError  # noqa: PLC0415  see above

    try:
        for series in held.captures:
            series.__exit__(None, None, None)
            for interface, data in series.captures.items():
                (folder / f"{interface}.pcap").write_bytes(data)
    except LongfatError as error:  # the machine may be what failed
        return [f"no captures: {error}"]
    return []
