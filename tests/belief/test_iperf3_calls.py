"""What longfat's changes of iperf3 believe of the kernel: toolset/iperf3."""

from __future__ import annotations

from collections.abc import Callable

from longfat.engine.kernel import Kernel

Boot = Callable[..., str]

SOCKETS = """
import ctypes, select, socket, time

listener = socket.create_server(("127.0.0.1", 5000))
sender = socket.create_connection(("127.0.0.1", 5000))
receiver, _ = listener.accept()
receiver.setblocking(False)
"""


def python(boot: Boot, kernel: Kernel, lines: str) -> str:
    return boot(kernel, f"ip link set lo up\npython3 - <<'END'\n{SOCKETS}{lines}END").strip()


def test_tcp_discards_what_is_not_to_be_copied(boot: Boot, each_kernel: Kernel) -> None:
    lines = """
sender.sendall(b"x" * 100_000)
time.sleep(1)
buffer = bytearray(60_000)
print(receiver.recv_into(buffer, 60_000, socket.MSG_TRUNC), buffer.count(b"x"))
print(receiver.recv_into(buffer, 60_000), buffer.count(b"x"))
"""
    assert python(boot, each_kernel, lines).split("\n") == ["60000 0", "40000 40000"]


def test_a_read_that_was_not_filled_has_emptied_the_socket(boot: Boot, each_kernel: Kernel) -> None:
    lines = """
for flags in (0, socket.MSG_TRUNC):
    sender.sendall(b"x" * 1000)
    time.sleep(1)
    print(len(receiver.recv(5000, flags)), select.select([receiver], [], [], 0)[0])
"""
    # With MSG_TRUNC Python takes what is returned for what was copied.
    assert python(boot, each_kernel, lines).split("\n") == ["1000 []", "1000 []"]


def test_a_select_says_how_much_of_its_time_is_left(boot: Boot, each_kernel: Kernel) -> None:
    lines = """
import os, threading

class Time(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]

left, reads = Time(5, 0), (ctypes.c_ulong * 16)()
reads[receiver.fileno() // 64] = 1 << receiver.fileno() % 64
threading.Timer(2, lambda: sender.send(b"x")).start()
before_ns = time.monotonic_ns()
PSELECT6 = 270
print(ctypes.CDLL(None).syscall(PSELECT6, 64, reads, None, None, ctypes.byref(left), None))
waited_ns = 5 * 10**9 - left.s * 10**9 - left.ns
print(abs(time.monotonic_ns() - before_ns - waited_ns) < 20_000, 2 < waited_ns / 10**9 < 2.1)
"""
    assert python(boot, each_kernel, lines).split("\n") == ["1", "True True"]
