"""What Raft promises, of pysyncobj's cluster of five, tested in virtual time.

    pytest examples/raft                           # a few seeds
    pytest examples/raft --longfat-seeds 200 -n 4  # 200 of them

Each seed has other election timeouts, other losses and other delays. A test that fails prints
the line that runs it again with the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import longfat

HERE = Path(__file__).parent
PYTHON = "/usr/bin/python3"  # the machine's own
NODES = ["n1", "n2", "n3", "n4", "n5"]

# A follower waits up to 1.4 s before it stands for election, and some elections are split.
ELECTED_WITHIN_S = 10.0
# A client then has to find a node that can write.
SERVED_WITHIN_S = 12.0
# A node that was cut off looks for the others every second, and TCP repeats a lost SYN after one.
REJOINED_WITHIN_S = 10.0
# What it missed comes later: with one seed of the first 200 more than 14 s after it was healed.
CAUGHT_UP_WITHIN_S = 60.0

pytestmark = [
    pytest.mark.longfat(seeds=2, packages=["pysyncobj"], memory="512MB"),
]


class Cluster:
    """Five nodes at a switch, over links that lose and delay packets."""

    def __init__(self, network: longfat.Network) -> None:
        self.network = network
        switch = network.switch("s1")
        for name in (*NODES, "user"):
            network.link(network.host(name), switch, delay="5ms", jitter="2ms", loss="0.5%")
        for file in ("node.py", "client.py"):
            network.write_file(f"/tmp/{file}", (HERE / file).read_bytes())
        self.runs: dict[str, list[longfat.Process]] = {name: [] for name in NODES}
        for name in NODES:
            others = [other for other in NODES if other != name]
            self.runs[name].append(network[name].spawn([PYTHON, "/tmp/node.py", name, *others]))
        self.await_leader(since_s=0)

    def roles(self) -> list[tuple[float, str, str, int]]:
        """Return all changes of roles: time, node, role and term, in their order."""
        found = []
        for name, runs in self.runs.items():
            for run in runs:
                for line in run.stdout.splitlines()[1:]:
                    time_s, role, term = line.split()
                    found.append((float(time_s), name, role, int(term)))
        return sorted(found)

    def leaders(self, since_s: float) -> list[tuple[float, str, int]]:
        """Return who became leader since then: time, node and term."""
        return [
            (time_s, name, term)
            for time_s, name, role, term in self.roles()
            if role == "leader" and time_s >= since_s
        ]

    def leader(self) -> tuple[str, int]:
        """Return who leads now, and in which term."""
        last = {name: (term, role) for _, name, role, term in self.roles()}
        leading = [(term, name) for name, (term, role) in last.items() if role == "leader"]
        assert leading, "nobody leads"
        term, name = max(leading)
        return name, term

    def await_leader(self, *, since_s: float) -> tuple[float, str, int]:
        """Let time pass until somebody has become leader since then."""
        until_s = max(since_s, self.network.clock.now) + ELECTED_WITHIN_S
        while not (found := self.leaders(since_s)):
            assert self.network.clock.now < until_s, f"no leader within {ELECTED_WITHIN_S:g} s"
            self.network.sleep(0.25)
        return found[0]

    def start_client(self, host: str, prefix: str, nodes: list[str]) -> longfat.Process:
        """Start to write at a host."""
        return self.network[host].spawn([PYTHON, "/tmp/client.py", prefix, *nodes])

    def check(self, clients: list[longfat.Process]) -> None:
        """Check what holds at the end of every history."""
        terms: dict[int, set[str]] = {}
        for _, name, term in self.leaders(0):
            terms.setdefault(term, set()).add(name)
        assert all(len(names) == 1 for names in terms.values()), f"two leaders: {terms}"
        for client in clients:
            client.terminate()
        until_s = self.network.clock.now + CAUGHT_UP_WITHIN_S
        while len(set((applied := self.applied()).values())) > 1:
            assert self.network.clock.now < until_s, f"they do not agree: {applied}"
            self.network.sleep(5)
        written = {text for client in clients for _, text in acknowledged(client)}
        assert written <= set(applied["n1"]), "a write that was acknowledged is lost"

    def applied(self) -> dict[str, tuple[str, ...]]:
        """Return what each node has applied, in its order."""
        reading = [PYTHON, "/tmp/client.py", "--read"]
        return {
            name: tuple(self.network[name].run([*reading, name], check=True).stdout.split())
            for name in NODES
        }


def acknowledged(client: longfat.Process) -> list[tuple[float, str]]:
    """Return a client's writes that were acknowledged, with their times."""
    lines = (line.split() for line in client.stdout.splitlines())
    return [(float(time_s), text) for time_s, text in lines]


@pytest.fixture
def cluster(network: longfat.Network) -> Cluster:
    """Give a test a cluster that has a leader."""
    return Cluster(network)


def test_a_leader_that_is_cut_off(cluster: Cluster) -> None:
    network = cluster.network
    client = cluster.start_client("user", "many", list(NODES))
    network.sleep(3)  # which is time for another election, if the first leader was not heard
    leader, term = cluster.leader()
    cut_s = network.clock.now
    network.partition([leader], ["s1"])
    lonely = cluster.start_client(leader, "lonely", [leader])
    elected_s, new_leader, new_term = cluster.await_leader(since_s=cut_s)
    assert new_leader != leader
    assert new_term > term
    assert elected_s - cut_s < ELECTED_WITHIN_S
    network.sleep(SERVED_WITHIN_S)
    # The many write again; who is alone cannot, and keeps its role or has given it up.
    served_s = [time_s for time_s, _ in acknowledged(client) if time_s > elected_s]
    assert served_s, "no write after the election"
    assert served_s[0] - cut_s < SERVED_WITHIN_S
    assert not acknowledged(lonely)

    healed_s = network.clock.now
    network.heal()
    network.sleep(REJOINED_WITHIN_S)
    stepped_down = [
        (time_s, to)
        for time_s, name, role, to in cluster.roles()
        if name == leader and role == "follower" and time_s > cut_s
    ]
    assert stepped_down, f"{leader} leads on, {REJOINED_WITHIN_S:g} s after it was healed"
    assert stepped_down[0][1] >= term
    assert stepped_down[0][0] - healed_s < REJOINED_WITHIN_S
    cluster.check([client, lonely])


def test_a_leader_that_crashes_and_comes_back(cluster: Cluster) -> None:
    network = cluster.network
    client = cluster.start_client("user", "many", list(NODES))
    network.sleep(3)
    leader, _ = cluster.leader()
    crashed_s = network.clock.now
    (host,) = (host for host in network.hosts if host.name == leader)
    host.kill()
    elected_s, new_leader, _ = cluster.await_leader(since_s=crashed_s)
    assert new_leader != leader
    network.sleep(SERVED_WITHIN_S)
    served_s = [time_s for time_s, _ in acknowledged(client) if time_s > elected_s]
    assert served_s, "no write after the election"
    assert served_s[0] - crashed_s < SERVED_WITHIN_S
    cluster.runs[leader] += host.restart()
    network.sleep(REJOINED_WITHIN_S)
    cluster.check([client])
