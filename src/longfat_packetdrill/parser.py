"""A script as a whole: options, a first command, events with their times, a last command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat_packetdrill.calls import check_call
from longfat_packetdrill.expressions import ExpressionReader, unescape
from longfat_packetdrill.packet_reader import PacketReader
from longfat_packetdrill.packets import Packet
from longfat_packetdrill.scanner import BACK_QUOTED, CODE, WORD, Scanner
from longfat_packetdrill.script import Call, Code, Command, Event, Moment, Script

if TYPE_CHECKING:
    from longfat.errors import Place
    from longfat_packetdrill.options import Settings

_OPTION = re.compile(r"--([A-Za-z]\w*)")
_OPTION_VALUE = re.compile(r'(?:"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[^\s"`])+')
_TIME = re.compile(r"(\d{0,9})\.(\d+)|(\d{1,9})")
_NOTE = re.compile(r"\([^()\n]*\)")
_ERRNO = re.compile(r"E[A-Z0-9]+\b")
_RESULT = re.compile(r"[-\w\".\[{]")
_MAX_EVENTS = 100_000
_MAX_BYTES = 4 << 20
_SHOWN_CALL = 100


def parse_script(text: str, *, file: str, settings: Settings) -> Script:
    """Read a script.

    Args:
        text: the script.
        file: its name, for messages.
        settings: what it runs with, unless it says otherwise.

    Returns:
        The script, with its own options in the settings.

    Raises:
        InputError: something in it is wrong; the error has the place.
    """
    scanner = Scanner(text, file=file)
    if len(text) > _MAX_BYTES:
        raise scanner.error(f"a script has at most {_MAX_BYTES:,} characters", at=0)
    settings = _options(scanner, settings)
    return _Parser(scanner, settings).read()


def _options(scanner: Scanner, settings: Settings) -> Settings:
    while (option := scanner.take(_OPTION)) is not None:
        start, value = option.start(), None
        if scanner.accept("="):
            text = scanner.need(_OPTION_VALUE, "a value")[0]
            quoted = len(text) > 1 and text[0] == text[-1] == '"'
            value = unescape(text[1:-1]).decode(errors="replace") if quoted else text
        try:
            settings = settings.with_option(option[1], value)
        except InputError as error:
            raise scanner.error(error.message, at=start) from None
    return settings


def _command_line(quoted: str) -> str:
    """Return a command as the shell gets it: backslashes are the shell's, but before a `."""
    return quoted.replace("\\`", "`")


def _outside(line: str, place: Place) -> Event:
    """Return a command that runs before or after the script's own time."""
    return Event(place=place, moment=Moment(kind="any"), action=Command(line=line))


class _Parser:
    def __init__(self, scanner: Scanner, settings: Settings) -> None:
        self._scanner = scanner
        self._settings = settings
        self._packets = PacketReader(
            scanner, wire_version=settings.wire_version, defines=settings.defines
        )
        self._expressions = ExpressionReader(scanner, defines=settings.defines)

    def read(self) -> Script:
        scanner = self._scanner
        start = scanner.place(0)
        names = self._settings.init_scripts
        lines = (f"./{name}" if "/" not in name else name for name in names)
        before = [_outside(line, start) for line in lines]
        place = scanner.place()
        if (command := scanner.take(BACK_QUOTED)) is not None:
            before.append(_outside(_command_line(command[1]), place))
        events: list[Event] = []
        after = None
        while not scanner.at_end:
            place = scanner.place()
            if events and (command := scanner.take(BACK_QUOTED)) is not None:
                after = _outside(_command_line(command[1]), place)
                if not scanner.at_end:
                    raise scanner.wrong("the end: a command without a time is the last thing")
                break
            events.append(self._event(events[-1] if events else None))
            if len(events) > _MAX_EVENTS:
                raise scanner.error(f"a script has at most {_MAX_EVENTS:,} events")
        if not events:
            raise scanner.error("there is no event in this script")
        return Script(
            file=scanner.file,
            settings=self._settings,
            before=tuple(before),
            events=tuple(events),
            after=after,
        )

    def _event(self, last: Event | None) -> Event:
        scanner = self._scanner
        place = scanner.place()
        start = scanner.offset
        moment = self._moment()
        if last is None and (moment.kind == "any" or moment.start_ns != 0):
            raise scanner.error("the first event is at time 0", at=start)
        absolute = last is not None and last.moment.kind == moment.kind == "at"
        if absolute and last is not None and moment.start_ns < last.moment.start_ns:
            raise scanner.error(
                f"time goes back, from {last.moment.text()} to {moment.text()}", at=start
            )
        action = self._action(moment)
        is_sent = isinstance(action, Packet) and action.outbound
        if not is_sent and (moment.kind == "any" or moment.end_ns is not None):
            message = "* and ranges of time are for packets that the kernel sends"
            raise scanner.error(message, at=start)
        return Event(place=place, moment=moment, action=action)

    def _moment(self) -> Moment:
        scanner = self._scanner
        if scanner.accept("*"):
            return Moment(kind="any")
        scanner.skip()
        start = scanner.offset
        sign = scanner.accept("+")
        first = self._time()
        last = None
        if scanner.accept("~"):
            if sign:
                scanner.expect("+")
            last = self._time()
            if last < first:
                raise scanner.error("this range of time ends before it begins", at=start)
        return Moment(kind="after" if sign else "at", start_ns=first, end_ns=last)

    def _time(self) -> int:
        match = self._scanner.need(_TIME, "a time in seconds such as 0.1, +0.1 or *")
        whole, part, alone = match.groups()
        if alone is not None:
            return int(alone) * 10**9
        return int(whole or 0) * 10**9 + int(part[:9].ljust(9, "0"))

    def _action(self, moment: Moment) -> Packet | Call | Command | Code:
        scanner = self._scanner
        if scanner.sees("<") or scanner.sees(">"):
            return self._packets.read()
        if (command := scanner.take(BACK_QUOTED)) is not None:
            return Command(line=_command_line(command[1]))
        if scanner.sees("%{"):
            if (code := scanner.take(CODE)) is None:
                raise scanner.error("this Python code has no end: expected }%")
            return Code(source=code[1])
        if scanner.sees("`"):
            raise scanner.error("this command has no end: expected `")
        return self._call(moment)

    def _call(self, moment: Moment) -> Call:
        scanner = self._scanner
        end_ns = None
        scanner.skip()
        at = scanner.offset
        if scanner.accept("..."):
            end_ns = self._time()
            if end_ns < moment.start_ns:
                raise scanner.error("this call returns before it is made", at=at)
        scanner.skip()
        start = scanner.offset
        name = scanner.need(WORD, "a packet (< or >), a system call, a `command` or %{ code }%")[0]
        if not scanner.sees("("):
            raise scanner.wrong(f"'(' and the arguments of {name}")
        arguments = self._expressions.arguments()
        check_call(scanner, name, arguments, start=start)
        scanner.expect("=")
        if scanner.peek(_RESULT) is None:
            raise scanner.wrong("the result")
        result = self._expressions.read()
        if not isinstance(result.value, int):
            raise scanner.error("a system call returns a number", at=result.offset)
        errno = None
        if scanner.peek(_ERRNO) is not None:
            found = self._expressions.read()
            errno = found.value
            scanner.take(_NOTE)
        elif scanner.sees("("):
            scanner.take(_NOTE)
        text = " ".join(scanner.text[start : scanner.offset].split())
        return Call(
            name=name,
            arguments=tuple(argument.plain() for argument in arguments),
            result=result.value,
            errno=errno,
            end_ns=end_ns,
            text=text if len(text) <= _SHOWN_CALL else f"{text[: _SHOWN_CALL - 4]} ...",
        )
