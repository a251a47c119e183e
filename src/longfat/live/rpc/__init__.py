"""Live networks for programs in any language: JSON-RPC 2.0, a message on each line.

A program starts `longfat session` and writes requests to its standard input; answers come from
its standard output. Each call is a method of the Python API, with the same names and units.

* `calls`: the available methods, with their results; parameters follow from their signatures
* `parameters`: how parameters are read from JSON, and their JSON Schema
* `requests`: lines as requests, within limits; the JSON Schema of all lines
* `server`: executes requests one after the other, and answers them
"""

from longfat.live.rpc.requests import PROTOCOL_VERSION, read_request, session_schema
from longfat.live.rpc.server import serve

__all__ = ["PROTOCOL_VERSION", "read_request", "serve", "session_schema"]
