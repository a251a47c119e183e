"""The end of a test of iperf3 that does not keep to its protocol, played by a socket.

Run as a program, with the other end's address, the port and the name of a misbehaviour. It
prints the states that the other end sent, and how the connection ended.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

_COOKIE = b"abcdefghijklmnopqrstuvwxyz234567abcd\0"
_PARAMETERS = json.loads("""
{
    "tcp": true, "omit": 0, "time": 2, "num": 0, "blockcount": 0, "parallel": 1,
    "len": 131072, "pacing_timer": 1000, "client_version": "3.12"
}
""")
_TEST_START, _TEST_RUNNING, _TEST_END, _CLIENT_TERMINATE = b"\x01", b"\x02", b"\x04", b"\x0c"
_PARAM_EXCHANGE, _CREATE_STREAMS, _SERVER_TERMINATE = b"\x09", b"\x0a", b"\x0b"
_ACCESS_DENIED, _UNKNOWN = b"\xff", b"\x63"
_MAX_WAIT_S = 5


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _send_text(connection: socket.socket, text: bytes) -> None:
    connection.sendall(struct.pack("!I", len(text)) + text)


def _print_states(connection: socket.socket) -> None:
    """Print the states until the end of the connection; how it ends is a matter of timing."""
    try:
        while state := connection.recv(1):
            print(state.hex())
    except TimeoutError:
        print("open")
    except ConnectionError:
        pass


class _Client:
    def __init__(self, address: str, port: int) -> None:
        self._target = (address, port)
        self.control = socket.create_connection(self._target, timeout=_MAX_WAIT_S)

    def send_parameters(self, *, reverse: bool = False) -> None:
        self.control.sendall(_COOKIE)
        assert self.control.recv(1) == _PARAM_EXCHANGE
        _send_text(self.control, json.dumps({**_PARAMETERS, "reverse": reverse}).encode())
        assert self.control.recv(1) == _CREATE_STREAMS

    def connect_data(self, cookie: bytes = _COOKIE) -> socket.socket:
        data = socket.create_connection(self._target, timeout=_MAX_WAIT_S)
        data.sendall(cookie)
        return data

    def start(self, *, reverse: bool = False) -> socket.socket:
        """Begin a test; return its data connection."""
        self.send_parameters(reverse=reverse)
        data = self.connect_data()
        assert self.control.recv(1) == _TEST_START
        assert self.control.recv(1) == _TEST_RUNNING
        return data


def _misbehave_before_a_test(client: _Client, misbehaviour: str) -> None:
    control = client.control
    match misbehaviour.split(", "):
        case ["connected", "closes"]:
            control.close()
        case ["connected", "resets"]:
            _reset(control)
        case ["short cookie"]:
            control.sendall(_COOKIE[:5])
            control.shutdown(socket.SHUT_WR)
            _print_states(control)
        case ["zero bytes"]:
            control.sendall(bytes(100))
            control.shutdown(socket.SHUT_WR)
            _print_states(control)
        case ["parameters are no JSON"]:
            control.sendall(_COOKIE)
            assert control.recv(1) == _PARAM_EXCHANGE
            _send_text(control, b"no JSON")
            _print_states(control)
        case ["cookie of another test"]:
            client.send_parameters()
            _print_states(client.connect_data(_COOKIE[-2::-1] + b"\0"))
        case ["parameters", "closes"]:
            client.send_parameters()
            control.close()
        case _:
            raise SystemExit(misbehaviour)


def _misbehave_in_a_test(client: _Client, misbehaviour: str) -> None:
    control = client.control
    data = client.start(reverse=misbehaviour.startswith("reversed"))
    match misbehaviour.split(", "):
        case ["running", "closes"]:
            control.close()
            time.sleep(1)
            data.close()
        case ["running", "closes data"]:
            # The server has nothing to read any more, and no end of the test.
            data.sendall(bytes(100_000))
            data.close()
            time.sleep(1.5)
            control.sendall(_TEST_END)
            _print_states(control)
        case ["running", "terminates"]:
            time.sleep(1.2)  # before its first interval the server reports a wrong time
            control.sendall(_CLIENT_TERMINATE)
            _print_states(control)
        case ["running", "unknown state"]:
            control.sendall(_UNKNOWN)
            _print_states(control)
        case ["running", "starts again"]:
            control.sendall(_TEST_RUNNING)
            _print_states(control)
        case ["ended", "closes"]:
            control.sendall(_TEST_END)
            assert control.recv(1)
        case ["ended", "results are no JSON"]:
            control.sendall(_TEST_END)
            assert control.recv(1)
            _send_text(control, b"{")
            _print_states(control)
        case ["reversed", "resets"]:
            time.sleep(0.7)
            _reset(control)
            _reset(data)
        case _:
            raise SystemExit(misbehaviour)


def _be_client(address: str, port: int, misbehaviour: str) -> None:
    client = _Client(address, port)
    if misbehaviour.startswith(("running", "reversed", "ended")):
        _misbehave_in_a_test(client, misbehaviour)
    else:
        _misbehave_before_a_test(client, misbehaviour)


def _be_server(address: str, port: int, misbehaviour: str) -> None:
    listener = socket.create_server((address, port))
    control, _ = listener.accept()
    control.recv(len(_COOKIE))
    if misbehaviour == "closes":
        control.close()
        return
    if misbehaviour == "denies":
        control.sendall(_ACCESS_DENIED)
    elif misbehaviour == "unknown state":
        control.sendall(_UNKNOWN)
    elif misbehaviour == "error":
        control.sendall(b"\xfe" + struct.pack("!II", 121, 0))
    else:
        control.sendall(_PARAM_EXCHANGE)
        (size,) = struct.unpack("!I", control.recv(4))
        control.recv(size)
        if misbehaviour == "closes after parameters":
            control.close()
            return
        control.sendall(_CREATE_STREAMS)
        data, _ = listener.accept()
        data.recv(len(_COOKIE))
        control.sendall(_TEST_START)
        time.sleep(0.1)
        control.sendall(_TEST_RUNNING)
        time.sleep(1.6)
        if misbehaviour == "terminates":
            control.sendall(_SERVER_TERMINATE)
        else:
            assert misbehaviour == "closes during the test"
            control.close()
            time.sleep(1)
            return
    time.sleep(1)


if __name__ == "__main__":
    _address, _port, _role, _misbehaviour = sys.argv[1:]
    (_be_server if _role == "server" else _be_client)(_address, int(_port), _misbehaviour)
