"""The client of requests: it asks at its times, and notes when answers are whole.

See `longfat.guest.requests`.
"""

from __future__ import annotations

# `socket` brings others in.
import _socket
import contextlib
import errno
import heapq
import itertools
import mmap
import os
import select
import time

from longfat.guest import system
from longfat.guest.requests_server import CLOSE, END, HEADER, STAY
from longfat.guest.sizes import POINTS, Draws, Sizes, SizesError, named, parse

_TAKE_BYTES = 64 << 20
_MSG_TRUNC = 0x20
_MAX_REQUESTS = 500_000
_LAST_WAIT_S = 1.0
# Nothing comes of asking again.
_HOPELESS = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL)

_BEGIN, _STOP, _GIVE_UP = range(3)


class RequestsError(Exception):
    """Why there were no requests, in words."""


class _Options:
    """What the command line says; `longfat.guest.requests` lists the options."""

    def __init__(self, words: list[str]) -> None:
        self.time_s = 10.0
        self.drain_s = 0.0
        self.size = ""
        self.request = HEADER.size
        self.fresh = 0
        self.load = 0.0
        self.every_s = 0.0
        self.clients = 1
        self.think_s = 0.0
        names = {
            "--time": ("time_s", float),
            "--drain": ("drain_s", float),
            "--size": ("size", str),
            "--request": ("request", int),
            "--fresh": ("fresh", int),
            "--load": ("load", float),
            "--every": ("every_s", float),
            "--clients": ("clients", int),
            "--think": ("think_s", float),
        }
        for word, value in itertools.zip_longest(words[::2], words[1::2]):
            if word not in names or value is None:
                raise RequestsError(f"{word}: no such option, or it has no value")
            name, kind = names[word]
            setattr(self, name, kind(value))


class _Connection:
    """A connection: what is to be sent on it, and what is to come."""

    def __init__(self, socket: _socket.socket, *, number: int, unsent: bytes, left: int) -> None:
        self.socket = socket
        self.number = number
        self.unsent = unsent
        self.left = left


def ask(address: str, port: int, name: str, words: list[str]) -> str:
    """Ask as the options say, and return the report.

    Raises:
        OSError: the network or the kernel refused.
        RequestsError: an option is wrong, or there are too many requests.
        SizesError: the file holds no distribution.
    """
    options = _Options(words)
    sizes = _sizes(options.size)
    return _Client(address, port, name, options, sizes).run()


def _sizes(text: str) -> Sizes:
    if text in POINTS or text.isdigit():
        return named(text)
    try:
        with open(text, encoding="utf-8", errors="replace") as file:
            return parse(file.read())
    except OSError as error:
        raise SizesError(f"{text}: {error.strerror}") from None
    except SizesError as error:
        raise SizesError(f"{text}: {error}") from None


class _Client:
    """All requests, and the connections that they go over."""

    def __init__(self, address: str, port: int, name: str, options: _Options, sizes: Sizes) -> None:
        self._server = address, port
        self._options = options
        self._sizes = sizes
        seed = os.environ.get("LONGFAT_SEED", "1")
        self._times = Draws(f"{seed} {name} times")
        self._draws = Draws(f"{seed} {name} sizes")
        self._gap_s = options.every_s
        if options.load:
            self._gap_s = sizes.mean_bytes * 8 / options.load
        # It takes no memory: nothing is ever written to it.
        self._buffer = mmap.mmap(-1, _TAKE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._fill = bytes(max(0, options.request - HEADER.size))
        self._epoll = select.epoll()
        self._timer = system.timer_descriptor()
        self._armed_ns = 0
        self._due: list[tuple[int, int]] = []
        self._connections: dict[int, _Connection] = {}
        self._idle: list[_Connection] = []
        self._open = 0
        self._is_stopping = False
        self._ports: list[int] = []
        # Of each request: when it began, how large its response is, and when that was whole.
        self._began_ns: list[int] = []
        self._bytes: list[int] = []
        self._ended_ns: list[int] = []

    def run(self) -> str:
        """Ask until the time is over, and return the report."""
        self._epoll.register(self._timer, select.EPOLLIN)
        self._start_ns = time.monotonic_ns()
        self._push(round(self._options.time_s * 1e9), _STOP)
        if self._gap_s:
            self._push(self._next_ns(0), _BEGIN)
        else:
            for _ in range(self._options.clients):
                self._push(self._thought_ns(0), _BEGIN)
        now_ns = 0
        while self._do_due(now_ns):
            self._arm()
            events = self._epoll.poll()
            now_ns = time.monotonic_ns() - self._start_ns
            for descriptor, event in events:
                if descriptor != self._timer:
                    self._advance(self._connections[descriptor], event, now_ns)
        self._end_server()
        return self._report(now_ns)

    def _next_ns(self, before_ns: int) -> int:
        return before_ns + round(self._times.exponential(self._gap_s) * 1e9)

    def _thought_ns(self, before_ns: int) -> int:
        if not self._options.think_s:
            return before_ns
        return before_ns + round(self._times.exponential(self._options.think_s) * 1e9)

    def _push(self, when_ns: int, what: int) -> None:
        heapq.heappush(self._due, (when_ns, what))

    def _arm(self) -> None:
        """Let the timer fire when something is due next."""
        next_ns = self._start_ns + self._due[0][0] if self._due else 0
        if next_ns != self._armed_ns:
            system.set_timer(self._timer, next_ns)
            self._armed_ns = next_ns

    def _do_due(self, now_ns: int) -> bool:
        """Do what is due; return whether there is more to come."""
        while self._due and self._due[0][0] <= now_ns:
            when_ns, what = heapq.heappop(self._due)
            if what == _GIVE_UP:
                return False
            if what == _STOP:
                self._is_stopping = True
                self._due.clear()
                self._push(when_ns + round(self._options.drain_s * 1e9), _GIVE_UP)
            else:
                if self._gap_s:
                    self._push(self._next_ns(when_ns), _BEGIN)
                self._begin(when_ns)
        return not self._is_stopping or self._open > 0

    def _begin(self, when_ns: int) -> None:
        """Send a request over an idle connection, or open one for it."""
        number = len(self._began_ns)
        if number == _MAX_REQUESTS:
            raise RequestsError(f"more than {_MAX_REQUESTS} requests")
        size = self._sizes.at(self._draws.share())
        self._began_ns.append(when_ns)
        self._bytes.append(size)
        self._ended_ns.append(-1)
        self._open += 1
        then = CLOSE if self._options.fresh else STAY
        length = HEADER.size + len(self._fill)
        request = HEADER.pack(size, length, then) + self._fill
        if self._idle:
            connection = self._idle.pop()
            connection.number, connection.unsent, connection.left = number, request, size
            self._send(connection, when_ns)
            return
        family = _socket.AF_INET6 if ":" in self._server[0] else _socket.AF_INET
        socket = _socket.socket(family, _socket.SOCK_STREAM | _socket.SOCK_NONBLOCK)
        error = socket.connect_ex(self._server)
        if error not in (0, errno.EINPROGRESS):
            raise OSError(error, os.strerror(error))
        self._ports.append(socket.getsockname()[1])
        descriptor = socket.fileno()
        self._connections[descriptor] = _Connection(
            socket, number=number, unsent=request, left=size
        )
        self._epoll.register(descriptor, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)

    def _advance(self, connection: _Connection, event: int, now_ns: int) -> None:
        """Send and receive what can be now."""
        if connection.unsent and event & (select.EPOLLOUT | select.EPOLLERR | select.EPOLLHUP):
            self._send(connection, now_ns)
        elif event & ~select.EPOLLOUT:
            self._receive(connection, now_ns)

    def _send(self, connection: _Connection, now_ns: int) -> None:
        try:
            sent = connection.socket.send(connection.unsent)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(connection, error, now_ns)
            return
        connection.unsent = connection.unsent[sent:]

    def _receive(self, connection: _Connection, now_ns: int) -> None:
        while True:
            part = min(connection.left or 1, _TAKE_BYTES)
            try:
                count = connection.socket.recv_into(self._buffer, part, _MSG_TRUNC)
            except BlockingIOError:
                return
            except OSError as error:
                self._lose(connection, error, now_ns)
                return
            if count == 0:
                self._lose(connection, None, now_ns)
                return
            connection.left -= count
            if connection.left == 0:
                self._ended_ns[connection.number] = now_ns
                self._finish(now_ns)
                if not self._options.fresh:
                    self._idle.append(connection)
                    return
                # The server closes it first, so that its port is free again at once.
            elif count < part:
                return

    def _finish(self, now_ns: int) -> None:
        """Go on after a request."""
        self._open -= 1
        if not self._gap_s and not self._is_stopping:
            self._push(self._thought_ns(now_ns), _BEGIN)

    def _lose(self, connection: _Connection, error: OSError | None, now_ns: int) -> None:
        """Let go of a connection that has ended, with its request if it was not answered."""
        if error is not None and error.errno in _HOPELESS:
            raise error
        del self._connections[connection.socket.fileno()]
        connection.socket.close()
        if connection in self._idle:
            self._idle.remove(connection)
        elif self._ended_ns[connection.number] < 0:
            self._finish(now_ns)

    def _end_server(self) -> None:
        """Let the server end, if it can be reached."""
        request = HEADER.pack(0, HEADER.size, END)
        with contextlib.suppress(OSError):
            if self._idle:
                self._idle[-1].socket.send(request)
                return
            family = _socket.AF_INET6 if ":" in self._server[0] else _socket.AF_INET
            socket = _socket.socket(family, _socket.SOCK_STREAM)
            socket.settimeout(_LAST_WAIT_S)
            socket.connect(self._server)
            socket.send(request)

    def _report(self, now_ns: int) -> str:
        rows = zip(self._began_ns, self._bytes, self._ended_ns, strict=True)
        text = ",\n".join(f"[{began}, {size}, {ended}]" for began, size, ended in rows)
        ports = ", ".join(map(str, self._ports))
        return (
            f'{{"program": "longfat requests", "time_ns": {now_ns},\n'
            f'"mean_bytes": {self._sizes.mean_bytes!r}, "server_port": {self._server[1]},\n'
            f'"ports": [{ports}],\n"requests": [{text}]}}'
        )
