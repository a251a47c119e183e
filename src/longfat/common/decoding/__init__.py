"""Data from a disk or a guest, read into our own values: what does not fit is an error.

Whatever comes from outside this process may be cut, damaged or forged. So JSON
is read within a limit of bytes (`read_json`), and becomes a value by the type
annotations of its dataclass alone (`decode`): every field is there, none is
unknown, and each has its declared type. Numbers are finite and fit into 64
bits, texts can be encoded. An error names the file, the field, what was found
and what is needed:

    runs/a-seed1/manifest.json: metrics.bulk.receiver_bps: found a text, needed is a number

How deep data may be nested follows from the types: what no type asks for is
never walked through. The caller chooses the class of the error: what a guest
wrote is the machine's fault, what lies on the disk is the reader's input.

msgspec and pydantic were tried in place of `decode`. Both take unknown fields
of dataclasses and repeated names in silence, cannot tell flows and probes by
their tool and kind, and msgspec's errors do not name the key of a mapping; they
add 27 and 95 ms to a start of 80 ms.
"""

from longfat.common.decoding._decoding import Decoder, decode, describe
from longfat.common.decoding._reading import (
    MOST_BYTES,
    MOST_RAW_BYTES,
    open_regular,
    parse_json,
    quoted,
    read_bytes,
    read_json,
)

__all__ = [
    "MOST_BYTES",
    "MOST_RAW_BYTES",
    "Decoder",
    "decode",
    "describe",
    "open_regular",
    "parse_json",
    "quoted",
    "read_bytes",
    "read_json",
]
