"""A scheduler and workers that speak TLS: who has a certificate is let in.

The certificates are made here, by openssl(1).
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import dask
import pytest

from longfat.errors import HostError, InputError, LongfatError
from longfat.execution.executor import RunTask
from longfat.execution.runs import load_run
from longfat_cluster.executor import Cluster
from tests.command import longfat
from tests.longfat_cluster.conftest import Hearer, Hosts, Signed

MakeWorks = Callable[..., list[RunTask]]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]


STUDY = """\
title: A ping
kernel: "6.1"
memory: 128MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
"""


def sign(folder: Path, *, ca: str, name: str) -> Signed:
    """Have a CA, which is made if there is none of its name, sign a certificate."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    if not (folder / f"{ca}.pem").exists():
        openssl(
            *("req", "-x509", *new_key, "-keyout", f"{ca}.key", "-out", f"{ca}.pem"),
            *("-days", "2", "-subj", f"/CN={ca}"),
        )
    openssl(
        "req", *new_key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}"
    )
    openssl(
        *("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key"),
        *("-CAcreateserial", "-out", f"{name}.pem", "-days", "2"),
    )
    return Signed(folder / f"{ca}.pem", folder / f"{name}.pem", folder / f"{name}.key")


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pki")


@pytest.fixture(scope="module")
def good(pki: Path) -> Signed:
    return sign(pki, ca="good", name="node")


@pytest.fixture(scope="module")
def evil(pki: Path) -> Signed:
    return sign(pki, ca="evil", name="stranger")


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory, good: Signed) -> Iterator[Hosts]:
    """A scheduler and two workers with TLS."""
    hosts = Hosts(tmp_path_factory.mktemp("secured"), signed=good)
    hosts.worker("a")
    hosts.worker("b")
    hosts.wait_for(2)
    yield hosts
    hosts.close()


def refused(address: str, run_tasks: list[RunTask], **named: Path) -> LongfatError:
    """Return the error of a cluster that cannot be used."""
    security = {name: str(file) for name, file in named.items()}
    cluster = Cluster(scheduler=address, security=security or None)
    with pytest.raises(LongfatError) as caught:
        cluster.execute(run_tasks, listener=Hearer(), stop=threading.Event())
    assert len(caught.value.message.splitlines()) == 1
    return caught.value


def security(signed: Signed, **other: Path) -> dict[str, Path]:
    """Return the arguments of Dask's `Security`."""
    named = {
        "tls_ca_file": signed.ca,
        "tls_client_cert": signed.cert,
        "tls_client_key": signed.key,
    }
    return named | other


def run(*arguments: str, cwd: Path, **variables: Path) -> subprocess.CompletedProcess[str]:
    (cwd / "study.yaml").write_text(STUDY)
    paths = {name: str(path) for name, path in variables.items()}
    return longfat("run", "study.yaml", "--json", "--no-cache", *arguments, cwd=cwd, **paths)


def test_certificates_by_options_and_by_dasks_configuration(
    secured: Hosts, good: Signed, tmp_path: Path
) -> None:
    options = ("--cluster-ca", good.ca, "--cluster-cert", good.cert, "--cluster-key", good.key)
    variables = {
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": good.ca,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": good.cert,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": good.key,
    }
    at = ("--cluster", secured.address, "--out")
    digests = set()
    for name, more, environment in (
        ("options", tuple(str(one) for one in options), {}),
        ("configuration", (), variables),
    ):
        done = run(*at, name, *more, cwd=tmp_path, **environment)
        assert (done.returncode, done.stderr.count("gets no cases")) == (0, 0), done.stderr
        digests.add(load_run(tmp_path / name / "default-seed1").digest)
    done = run("--out", "here", cwd=tmp_path)
    assert done.returncode == 0
    assert digests == {load_run(tmp_path / "here" / "default-seed1").digest}


def test_no_certificate(secured: Hosts, good: Signed, tmp_path: Path) -> None:
    for more in ((), ("--cluster-ca", str(good.ca))):
        done = run("--cluster", secured.address, *more, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(
            f"longfat: cannot connect to '{secured.address}': TLS expects"
        )
        assert "--cluster-ca, --cluster-cert and --cluster-key, or Dask's config" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_file_that_does_not_exist(secured: Hosts, good: Signed, tmp_path: Path) -> None:
    files = ("--cluster-ca", "nowhere.pem", "--cluster-cert", str(good.cert))
    done = run("--cluster", secured.address, *files, "--cluster-key", str(good.key), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"longfat: the certificates for {secured.address} (nowhere.pem, {good.cert}, {good.key})"
        " cannot be used: [Errno 2] No such file or directory; they must be files in PEM, the key"
        " that of the certificate\n"
    )


def test_certificates_of_another_ca(
    secured: Hosts, good: Signed, evil: Signed, make_works: MakeWorks
) -> None:
    run_tasks = make_works(1)
    error = refused(secured.address, run_tasks, **security(good, tls_ca_file=evil.ca))
    assert isinstance(error, HostError)
    assert error.message.startswith(
        f"the connection to the scheduler at {secured.address} was closed: "
    )
    assert "certificate verify failed: self-signed certificate in cert" in error.message
    assert "certificates that its CA has signed: --cluster-ca" in error.hint
    stranger = security(evil, tls_ca_file=good.ca)
    error = refused(secured.address, run_tasks, **stranger)
    assert isinstance(error, HostError)
    assert f"at {secured.address} was closed: " in error.message
    assert "certificates that its CA has signed: --cluster-ca" in error.hint


def test_plain_tcp_to_a_scheduler_that_speaks_tls(secured: Hosts, make_works: MakeWorks) -> None:
    plain = secured.address.replace("tls", "tcp")
    error = refused(plain, make_works(1))
    assert isinstance(error, HostError)
    assert error.message.startswith(f"the connection to the scheduler at {plain} was closed: ")
    assert "one with TLS is at tls://HOST:8786" in error.hint


def test_tls_to_a_scheduler_that_does_not_speak_it(
    hosts: Hosts, good: Signed, make_works: MakeWorks
) -> None:
    run_tasks = make_works(1)
    error = refused(hosts.address.replace("tcp", "tls"), run_tasks, **security(good))
    assert "a scheduler without TLS is at tcp://HOST:8786" in str(error)
    error = refused(hosts.address, run_tasks, **security(good))
    assert isinstance(error, InputError)
    assert "a scheduler without TLS is at tcp://HOST:8786" in error.message
    with dask.config.set({"distributed.comm.require-encryption": True}):
        error = refused(hosts.address, run_tasks)
    assert "encryption required by Dask configuration" in error.message
    assert "one with TLS is at tls://HOST:8786" in error.message


def test_files_that_are_no_certificates(
    secured: Hosts, good: Signed, evil: Signed, tmp_path: Path, make_works: MakeWorks
) -> None:
    run_tasks = make_works(1)
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nonsense")
    for wrong in (
        {"tls_client_cert": tmp_path / "nowhere.pem"},
        {"tls_ca_file": nonsense},
        {"tls_client_cert": nonsense},
        {"tls_client_key": evil.key},
        {"no_such_option": nonsense},
    ):
        error = refused(secured.address, run_tasks, **security(good, **wrong))
        assert isinstance(error, InputError)
        assert error.message.startswith(f"the certificates for {secured.address} (")
        assert all(str(file) in error.message for file in wrong.values())


def test_a_worker_of_another_ca_is_not_let_in(
    secured: Hosts, good: Signed, evil: Signed, tmp_path: Path
) -> None:
    stranger = subprocess.Popen(
        [
            *(sys.executable, str(Path(sys.executable).with_name("dask")), "worker"),
            *(secured.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"),
            *("--local-directory", str(tmp_path / "stranger")),
            *("--tls-ca-file", str(good.ca)),
            *("--tls-cert", str(evil.cert), "--tls-key", str(evil.key)),
            *("--death-timeout", "3"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert stranger.wait(120) != 0
    finally:
        stranger.kill()
