"""The process that decodes a capture by dpkt: see `decoders`.

    _decode_process.py CAPTURE lines COUNT | details NUMBER | follow STREAM

It prints lines to standard output; what is wrong goes to standard error, with status 1.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

from longfat.analysis.packets.capture import Capture, frames_of
from longfat.analysis.packets.follow import follow
from longfat.analysis.packets.headers import describe, lines_of
from longfat.errors import LongfatError


def main() -> int:
    """Run the command line."""
    path, what, *numbers = sys.argv[1:]
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    frames = frames_of(Capture(path=Path(path), name=Path(path).name))
    try:
        if what == "details":
            sys.stdout.writelines(f"{line}\n" for line in describe(frames, int(numbers[0])))
        elif what == "follow":
            pieces = follow(frames, int(numbers[0]))
            sys.stdout.writelines(f"{json.dumps(one)}\n" for one in pieces)
        else:
            sys.stdout.writelines(
                f"{line}\n" for line in lines_of(itertools.islice(frames, int(numbers[0])))
            )
    except LongfatError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
