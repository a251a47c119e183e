"""A bulk TCP transfer: one end of it, as a program of its own.

    transfer.py listen|connect ADDRESS PORT send|receive [--OPTION VALUE]...

Options of both ends: parallel (streams), interval (seconds), window and mss (bytes); of the
sending end: time (seconds) or bytes, congestion (a name), rate (bit/s of each stream).

A transfer goes like this, and these are its times:

* The client connects all streams. When the server has all of them, and is to receive, it says
  so by a byte on the first one that it accepted, for which a client that is to send waits: so all
  streams begin at once.
* `sending_us` is from then until nothing more is written: the time is over, or the last byte
  was handed to the kernel.
* What was written until then still goes out, to the last byte. `receiving_us` is from that
  byte of the server's, or from the last connection of a client that receives, until the last
  stream has ended. A stream's end follows on its last byte.
* The receiver closes each stream at its end, and the sender ends when all are closed.

What traffic costs in a machine is its system calls, so there are few. Each stream has a
thread. A sender's lies in sendfile(2), which hands out references to pages of zeros; a
receiver's in recv(2), with the flags to wait until much has come (MSG_WAITALL) and to throw it
away (MSG_TRUNC). Both wait in the kernel, and come back after megabytes. The main thread
sleeps, looks at each stream's tcp_info once in an interval, and ends the sending by shutdown(2),
which wakes the others.

The report is JSON on standard output; sizes are in bytes, times in microseconds. What a row
says of bytes and retransmissions counts from the start.

Source of the calls, options and numbers: sendfile(2), recv(2), tcp(7), socket(7) and
include/uapi/linux/tcp.h.
"""

import os
import sys

# As for `main`: nothing else of longfat is there in a machine.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../.."))
from longfat.guest import transfer_ends, transfer_streams


def main(words: list[str]) -> None:
    """Do what the command line says; `words` are those after the program's name."""
    try:
        print(transfer_streams.as_json(transfer_streams.transfer(transfer_ends.Options(words))))
    except (OSError, ValueError, transfer_ends.TransferError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        sys.exit(f"{' '.join(words[:3])}: {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
