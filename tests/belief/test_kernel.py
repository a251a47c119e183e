"""What the code believes of User-Mode Linux."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import pytest

from longfat.engine import kernel as kernels
from longfat.engine.kernel import Kernel

Boot = Callable[..., str]


def test_reading_the_clock_costs_256_ns_and_nothing_else_costs_time(
    boot: Boot, each_kernel: Kernel
) -> None:
    said = boot(
        each_kernel,
        """python3 -I -S -c '
import time
times = [time.monotonic_ns() for _ in range(1000)]
print({b - a for a, b in zip(times, times[1:])})
start = time.monotonic_ns()
sum(i * i for i in range(300_000))
print(time.monotonic_ns() - start)
'""",
    )
    assert said.splitlines() == ["{256}", "256"]


def test_a_system_call_that_fails_costs_a_microsecond(boot: Boot, each_kernel: Kernel) -> None:
    # So that a program which asks again and again gets somewhere: handle_syscall() of arch/um.
    said = boot(
        each_kernel,
        """python3 -I -S -c '
import os, time
start = time.monotonic_ns()
for _ in range(100):
    os.access("/nowhere", 0)
between = time.monotonic_ns()
for _ in range(100):
    os.access("/", 0)
print(between - start, time.monotonic_ns() - between)
'""",
    )
    failing, well = map(int, said.split())
    assert well == 256
    assert 100_000 <= failing <= 200_000


def test_addresses_would_decide_the_size_of_memory(boot: Boot, kernel: Kernel) -> None:
    # The kernel counts the gap between its data and its heap as memory; TCP sizes its
    # buffers by memory. So the machine must fix addresses: two boots must agree.
    sizes = {boot(kernel, "grep MemTotal /proc/meminfo; cat /proc/sys/net/ipv4/tcp_mem")}
    sizes |= {boot(kernel, "grep MemTotal /proc/meminfo; cat /proc/sys/net/ipv4/tcp_mem")}
    assert len(sizes) == 1


def test_the_socket_hash_table_is_small(boot: Boot, kernel: Kernel) -> None:
    assert re.search(r"established hash table entries: 1024 ", boot(kernel, "dmesg"))


def test_there_are_no_devices_but_those_that_were_asked_for(boot: Boot, kernel: Kernel) -> None:
    # `bonding_masters` is there too, and is no device.
    found = boot(kernel, "cd /sys/class/net; ls -d */").split()
    assert {name.removesuffix("/") for name in found} <= {"lo", "teql0"}


def test_the_first_reader_of_randomness_does_not_wait(boot: Boot, each_kernel: Kernel) -> None:
    script = "python3 -I -S -c 'import os, time; os.getrandom(8); print(time.monotonic())'"
    assert float(boot(each_kernel, script)) < 0.1


def test_the_seed_alone_decides_random_numbers(boot: Boot, each_kernel: Kernel) -> None:
    # Neither what was drawn before, nor memory, nor how long processes ran, nor when interrupts
    # came. The kernel takes a new key for its random numbers now and then, also within these 9 s.
    def numbers(*, reads: int, processes: int, memory_bytes: int = 256 << 20, seed: int = 7) -> str:
        return boot(
            each_kernel,
            f"""python3 -I -S -c '
import fcntl, os, time
for _ in range({processes}):
    if os.fork() == 0:
        os.getrandom(8)
        os.stat("/")
        os._exit(0)
    os.wait()
fcntl.ioctl(os.open("/dev/urandom", os.O_RDONLY), 0x5207)  # RNDRESEEDCRNG of random(4)
for second in range(1, 10):
    for _ in range({reads}):
        time.monotonic()
    time.sleep(0.005)  # whose end is an interrupt
    time.sleep(second - time.monotonic())
    print(os.urandom(8).hex())
'""",
            memory_bytes=memory_bytes,
            seed=seed,
        )

    expected = numbers(reads=1, processes=1)
    assert numbers(reads=9, processes=1) == expected
    assert numbers(reads=9, processes=4, memory_bytes=512 << 20) == expected
    assert numbers(reads=1, processes=1, seed=8) != expected


def test_a_jiffy_is_10_ms(each_kernel: Kernel) -> None:
    config = (each_kernel.folder / "config").read_text()
    assert re.search(r"^CONFIG_HZ=100$", config, re.MULTILINE)


def test_a_read_only_root_protects_nothing(boot: Boot, kernel: Kernel) -> None:
    assert "rw" in boot(kernel, "mount -o remount,rw / && grep ' / hostfs' /proc/mounts").split()[3]


def test_the_binary_has_fixed_addresses_and_its_symbols(each_kernel: Kernel) -> None:
    head = each_kernel.binary.read_bytes()[:20]
    assert struct.unpack_from("<H", head, 16)[0] == 2  # ET_EXEC


@pytest.mark.slow
def test_newer_kernels_run_their_guest_by_seccomp(boot: Boot) -> None:
    newest = kernels.find("7.2")
    # With this, it ends at once where that does not work.
    assert "seccomp=on" in newest.boot_arguments
    assert boot(newest, "uname -r").strip() == newest.release
