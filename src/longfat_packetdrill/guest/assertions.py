"""The Python code of a script: what it sees of a connection, and how it is run.

Each piece of code sees TCP_INFO as it was when its time had come; all are run at the end, one
after the other, by an interpreter of their own, so that they can share names and cannot
harm the player. Sources: include/uapi/linux/{tcp,inet_diag,sock_diag}.h.
"""

import ctypes
import json
import struct
import sys
import traceback
from typing import Any

SOL_SOCKET, SOL_TCP = 1, 6
TCP_INFO, TCP_CC_INFO, TCP_CONGESTION, SO_MEMINFO = 11, 26, 13, 55

_libc = ctypes.CDLL(None, use_errno=True)
_MAX_INFO = 1024

_BYTES = (
    *("state", "ca_state", "retransmits", "probes", "backoff", "options", "wscales", "limited"),
)
_WORDS = (
    *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets"),
    *("last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu"),
    *("rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss", "reordering"),
    *("rcv_rtt", "rcv_space", "total_retrans"),
)
# Each with its size in bytes; all are aligned to their sizes.
_LATER = (
    *(("pacing_rate", 8), ("max_pacing_rate", 8), ("bytes_acked", 8), ("bytes_received", 8)),
    *(("segs_out", 4), ("segs_in", 4), ("notsent_bytes", 4), ("min_rtt", 4)),
    *(("data_segs_in", 4), ("data_segs_out", 4), ("delivery_rate", 8), ("busy_time", 8)),
    *(("rwnd_limited", 8), ("sndbuf_limited", 8), ("delivered", 4), ("delivered_ce", 4)),
    *(("bytes_sent", 8), ("bytes_retrans", 8), ("dsack_dups", 4), ("reord_seen", 4)),
    *(("rcv_ooopack", 4), ("snd_wnd", 4), ("rcv_wnd", 4), ("rehash", 4), ("total_rto", 2)),
    *(("total_rto_recoveries", 2), ("total_rto_time", 4), ("received_ce", 4)),
    *(("delivered_e1_bytes", 4), ("delivered_e0_bytes", 4), ("delivered_ce_bytes", 4)),
    *(("received_e1_bytes", 4), ("received_e0_bytes", 4), ("received_ce_bytes", 4)),
    ("accecn_word", 4),
)
_MEMORY = ("RMEM_ALLOC", "RCVBUF", "WMEM_ALLOC", "SNDBUF", "FWD_ALLOC", "WMEM_QUEUED",
           "OPTMEM", "BACKLOG", "DROPS")  # fmt: skip
_STATES = ("ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT",
           "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV")  # fmt: skip
_CA_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
_OPTIONS = ("TIMESTAMPS", "SACK", "WSCALE", "ECN", "ECN_SEEN", "SYN_DATA", "USEC_TS",
            "TFO_CHILD")  # fmt: skip

NAMES = {
    **{f"TCP_{name}": number + 1 for number, name in enumerate(_STATES)},
    **{f"TCP_CA_{name}": number for number, name in enumerate(_CA_STATES)},
    **{f"TCPI_OPT_{name}": 1 << bit for bit, name in enumerate(_OPTIONS)},
}
"""Constants that the code of a script can name."""


def _option(descriptor: int, level: int, name: int) -> bytes:
    memory = ctypes.create_string_buffer(_MAX_INFO)
    length = ctypes.c_uint32(_MAX_INFO)
    if _libc.getsockopt(descriptor, level, name, memory, ctypes.byref(length)):
        return b""
    return memory.raw[: length.value]


def state_of(descriptor: int) -> dict[str, int]:
    """Return what the code of a script sees of a connection; empty if it is none of TCP's.

    What a kernel does not report yet is not there.
    """
    info = _option(descriptor, SOL_TCP, TCP_INFO)
    if not info:
        return {}
    found = {f"tcpi_{name}": info[at] for at, name in enumerate(_BYTES) if at < len(info)}
    scales = found.pop("tcpi_wscales")
    found["tcpi_snd_wscale"], found["tcpi_rcv_wscale"] = scales & 15, scales >> 4
    limited = found.pop("tcpi_limited")
    found["tcpi_delivery_rate_app_limited"] = limited & 1
    found["tcpi_fastopen_client_fail"] = limited >> 1 & 3
    at = len(_BYTES)
    for name, size in (*((name, 4) for name in _WORDS), *_LATER):
        at = -(-at // size) * size
        if at + size > len(info):
            break
        found[f"tcpi_{name}"] = int.from_bytes(info[at : at + size], "little")
        at += size
    if (word := found.pop("tcpi_accecn_word", None)) is not None:
        found["tcpi_ecn_mode"] = word & 3
        found["tcpi_accecn_opt_seen"] = word >> 2 & 3
        found["tcpi_accecn_fail_mode"] = word >> 4 & 15
        found["tcpi_options2"] = word >> 8
    memory = _option(descriptor, SOL_SOCKET, SO_MEMINFO)
    for number, name in enumerate(_MEMORY):
        if 4 * number + 4 <= len(memory):
            found[f"SK_MEMINFO_{name}"] = struct.unpack_from("<I", memory, 4 * number)[0]
    return {**found, **_congestion_control(descriptor)}


def _congestion_control(descriptor: int) -> dict[str, int]:
    name = _option(descriptor, SOL_TCP, TCP_CONGESTION).rstrip(b"\0").decode(errors="replace")
    info = _option(descriptor, SOL_TCP, TCP_CC_INFO)
    if name == "bbr" and len(info) >= 20:
        low, high, rtt, pacing, window = struct.unpack_from("<5I", info)
        return {
            "bbr_bw_lo": low,
            "bbr_bw_hi": high,
            "bbr_bw": high << 32 | low,
            "bbr_min_rtt": rtt,
            "bbr_pacing_gain": pacing,
            "bbr_cwnd_gain": window,
        }
    if name == "dctcp" and len(info) >= 16:
        enabled, state, alpha, marked, total = struct.unpack_from("<HHIII", info)
        return {
            "dctcp_enabled": enabled,
            "dctcp_ce_state": state,
            "dctcp_alpha": alpha,
            "dctcp_ab_ecn": marked,
            "dctcp_ab_tot": total,
        }
    if name == "vegas" and len(info) >= 16:
        enabled, count, rtt, least = struct.unpack_from("<4I", info)
        return {
            "tcpv_enabled": enabled,
            "tcpv_rttcnt": count,
            "tcp_rtt": rtt,
            "tcp_minrtt": least,
        }
    return {}


def main() -> None:
    """Run the pieces of code on standard input; report the first that fails."""
    names: dict[str, Any] = {"__name__": "__main__", **NAMES}
    for piece in json.load(sys.stdin):
        names.update(piece["state"])
        # Line numbers of messages are those of the script.
        source = "\n" * (piece["line"] - 1) + piece["source"] + "\n\n"
        try:
            exec(compile(source, "<script>", "exec"), names)
        except BaseException as error:
            line = piece["line"]
            trace = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in trace if frame.filename == "<script>"]
            if isinstance(error, SyntaxError) and error.lineno:
                lines = [error.lineno]
            words = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
            print(json.dumps({"line": lines[-1] if lines else line, "words": words[:500]}))
            sys.exit(1)


if __name__ == "__main__":
    main()
