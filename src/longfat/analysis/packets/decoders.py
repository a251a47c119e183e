"""Decoders of captures, each in a process of its own within limits.

Captured bytes are not trusted: a dissector that they exploit, or that never ends, must not
run in our process. tshark, which is written in C, runs in the sandbox that a machine's
kernel process has (`engine.sandbox.program`); where no such sandbox can be made it is not
used. dpkt is pure Python, and needs only the guard and the limits.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from longfat.analysis.packets.capture import MAX_PACKETS, Capture
from longfat.analysis.packets.columns import COLUMNS
from longfat.analysis.packets.records import PacketDecoder
from longfat.analysis.packets.table import PacketTable, parse_lines
from longfat.common.file_size import SIGNAL_STATUS, file_size_error, file_size_limit
from longfat.common.guard import Guarded, scratch_folder
from longfat.common.installing import install_command
from longfat.engine.sandbox.confinement import HANDOVER
from longfat.engine.sandbox.namespaces import Namespaces
from longfat.engine.sandbox.program import ProgramLimits, sandboxed_program
from longfat.errors import HostError, InputError, LongfatError

_PROCESS = Path(__file__).with_name("_decode_process.py")
_CAPTURE = "capture"
_LIMITS = ProgramLimits(memory_bytes=1 << 30, cpu_s=120, output_bytes=256 << 20)
_WITHIN_S = 300.0
_MAX_WORDS = 600

_LACKS_OF_DPKT = (
    "It decodes Ethernet, ARP, IP, ICMP, UDP, TCP and SCTP, and no protocol above them. Display"
    " filters have the fields of these. tshark decodes all that Wireshark does: apt-get install"
    " tshark"
)
_LACKS_OF_TSHARK = (
    "What TCP did (retransmissions, round-trip times) is longfat's own analysis, not Wireshark's;"
    " for TCP within tunnels it is Wireshark's"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """What decodes a capture.

    Attributes:
        name: `tshark` or `dpkt`.
        version: its version.
        lacks: what it cannot do, for people.
        why: why it is this one; empty for the better one.
    """

    name: str
    version: str
    lacks: str
    why: str = ""

    @property
    def is_tshark(self) -> bool:
        """Whether it is tshark."""
        return self.name == "tshark"

    def to_json(self) -> PacketDecoder:
        """Return it as plain data."""
        return {"name": self.name, "version": self.version, "lacks": self.lacks, "why": self.why}


def choose_decoder(wanted: str | None = None) -> Decoder:
    """Return the best decoder of this host, or the requested one.

    Args:
        wanted: `tshark` or `dpkt`; None for the best.

    Raises:
        HostError: the requested one is not available.
        InputError: there is none of that name.
    """
    if wanted not in (None, "tshark", "dpkt"):
        raise InputError(f"there is no decoder {wanted!r}: there are tshark and dpkt")
    found = None if wanted == "dpkt" else _tshark()
    if isinstance(found, Decoder):
        return found
    if wanted == "tshark":
        raise HostError(f"tshark cannot be used: {found}", hint=install_command("tshark"))
    import dpkt  # noqa: PLC0415  it is slow to load

    version = str(dpkt.__version__)
    return Decoder(name="dpkt", version=version, lacks=_LACKS_OF_DPKT, why=found or "")


@functools.cache
def _tshark() -> Decoder | str:
    """Return tshark, or why it cannot be used."""
    path = shutil.which("tshark", path="/usr/local/bin:/usr/bin:/bin")
    if path is None:
        return "tshark is not installed"
    try:
        Namespaces().check()
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except (HostError, OSError) as error:
        return f"tshark is installed, but cannot be put into a sandbox: {error}"
    version = re.search(r"\d+\.\d+\.\d+", done.stdout)
    if done.returncode != 0 or version is None:
        return "tshark is installed, but does not run"
    return Decoder(name="tshark", version=version[0], lacks=_LACKS_OF_TSHARK)


def decode(capture: Capture, *, decoder: Decoder, count: int = MAX_PACKETS) -> PacketTable:
    """Decode a capture's first packets, at most `MAX_PACKETS`.

    What TCP did is our own analysis for both decoders: Wireshark's takes a segment that fills a
    gap soon for one that came late, so it counts fewer retransmissions than the kernel has made.

    Raises:
        InputError: it is no whole capture, or takes more than the decoder may.
        MachineError: the decoder's output cannot be read.
    """
    if not decoder.is_tshark:
        return _decode_ourselves(capture, count)
    with ThreadPoolExecutor(1) as pool:
        own = pool.submit(_decode_ourselves, capture, count)
        options = [word for one in COLUMNS for word in ("-e", one.name)]
        argv = ["-c", str(count), "-T", "fields", "-E", "separator=/t", *options]
        with _output(capture, decoder, tshark=argv, own=[]) as lines:
            found = parse_lines(lines, name=capture.name)
        return found.with_analysis_of(own.result())


def _decode_ourselves(capture: Capture, count: int) -> PacketTable:
    with _output(capture, None, tshark=[], own=["lines", str(count)]) as lines:
        return parse_lines(lines, name=capture.name)


def filtered_by_tshark(capture: Capture, text: str, *, decoder: Decoder) -> list[int]:
    """Return the numbers of the packets that pass a display filter of Wireshark's.

    Raises:
        InputError: it is no filter.
    """
    argv = ["-c", str(MAX_PACKETS), "-Y", text, "-T", "fields", "-e", "frame.number"]
    # With -c tshark counts the packets that pass, so those behind the last one are left out here.
    with _output(capture, decoder, tshark=argv, own=[], about="filter") as lines:
        numbers = [int(line) for line in lines if line.strip().isdecimal()]
    return [number for number in numbers if number <= MAX_PACKETS]


def details(capture: Capture, number: int, *, decoder: Decoder) -> str:
    """Return all that is known of a packet, as lines that are indented by four blanks a level.

    Raises:
        InputError: there is no such packet, or it cannot be decoded.
    """
    only = f"frame.number == {number}"
    with _output(
        capture, decoder, tshark=["-Y", only, "-V", "-x"], own=["details", str(number)]
    ) as lines:
        return "".join(lines)


def followed(capture: Capture, stream: int, *, decoder: Decoder) -> list[str]:
    """Return the payload of a TCP stream: a line for each piece, as JSON.

    dpkt does it for both decoders: it needs no more than headers.
    """
    del decoder
    with _output(capture, None, tshark=[], own=["follow", str(stream)]) as lines:
        return list(lines)


@contextmanager
def _output(
    capture: Capture,
    decoder: Decoder | None,
    *,
    tshark: Sequence[str],
    own: Sequence[str],
    about: str = "",
) -> Iterator[Iterator[str]]:
    """Run a decoder, and give the lines of its output."""
    with scratch_folder() as folder, (folder / "out").open("w+b") as out:
        with (folder / "said").open("w+b") as errors:
            if decoder is not None and decoder.is_tshark:
                status = _run_tshark(capture, tshark, out, errors)
            else:
                status = _run_own(capture, own, out, errors)
            errors.seek(0)
            words = errors.read(8192).decode(errors="replace").strip()
        # A capture that is being written ends in the middle of a packet, which is no failure.
        is_cut = "cut short" in words or "end in the middle" in words
        if status != 0 and not is_cut:
            raise _failure(capture, status, words, about)
        out.seek(0)
        yield (line.decode(errors="replace") for line in out)


def _run_tshark(
    capture: Capture, options: Sequence[str], out: IO[bytes], errors: IO[bytes]
) -> int | None:
    # -n disables name resolution; the sandbox has none either.
    opaque = [
        word
        for port in capture.opaque_ports
        for transport in ("tcp", "udp")
        for word in ("-d", f"{transport}.port=={port},data")
    ]
    command = ["tshark", "-n", "-r", f"{HANDOVER}/{_CAPTURE}", *opaque, *options]
    with sandboxed_program(
        command, shown={_CAPTURE: capture.path}, limits=_LIMITS, stdout=out, stderr=errors
    ) as process:
        return process.wait(timeout_s=_WITHIN_S)


def _run_own(
    capture: Capture, options: Sequence[str], out: IO[bytes], errors: IO[bytes]
) -> int | None:
    command = [sys.executable, "-I", str(_PROCESS), str(capture.path), *options]
    with Guarded(
        ["prlimit", *_LIMITS.options(), "--", *command],
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        stdout=out,
        stderr=errors,
    ) as process:
        return process.wait(timeout_s=_WITHIN_S)


def _failure(capture: Capture, status: int | None, words: str, about: str) -> LongfatError:
    if about == "filter" and status == 2:
        # Below it stands the filter once more, with a caret.
        lines = (line for line in words.splitlines() if not line.startswith("Running as user"))
        return InputError(f"no display filter: {next(lines, '').removeprefix('tshark: ')}"[:400])
    if status == SIGNAL_STATUS and file_size_limit() is not None:
        return file_size_error(f"{capture.name}: the decoder ended")
    if status is None or status >= 128 or "MemoryError" in words:
        return InputError(
            f"{capture.name}: decoding it takes more than {_LIMITS.cpu_s} s of CPU time or"
            f" {_LIMITS.memory_bytes >> 20} MB of memory: capture fewer packets, or a filter's"
        )
    last = words.splitlines()[-1] if words else f"the decoder ended with {status}"
    return InputError(f"{capture.name}: {last.removeprefix('tshark: ')}"[:_MAX_WORDS])
