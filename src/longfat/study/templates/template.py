"""What a template is, and how its parts become the text of a study."""

from __future__ import annotations

import shlex
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from longfat.errors import InputError
from longfat.model.fields import declare, fields_of, values_of
from longfat.model.kinds import Rate, Time
from longfat.model.network.impairments import MAX_RATE_BPS, MIN_RATE_BPS
from longfat.model.units import parse_rate_bps

_WIDTH = 100

MAX_HOSTS = 256

RATE = Rate(minimum=MIN_RATE_BPS, maximum=MAX_RATE_BPS, example="100mbit")
RTT = Time(minimum=1e-6, maximum=100.0, example="40ms", bare_seconds=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a study of a template is made of; values are YAML as it is to be written.

    Attributes:
        title: the study's title.
        about: what it shows and what to try, in a few sentences.
        hosts: addresses or mappings, by name.
        switches: the switches.
        links: comments, and links as `[A, B]` or `[A, B, {PROPERTIES}]`.
        flows: by name, or a comment by a key that begins with `#`.
        layout: places in pixels.
        groups: nodes, by the name of their group.
        more: further lines of the study, such as its probes and cases.
    """

    title: str
    about: str
    hosts: Mapping[str, str]
    switches: tuple[str, ...] = ()
    links: tuple[str, ...]
    flows: Mapping[str, str]
    layout: Mapping[str, tuple[int, int]]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Template(ABC):
    """A topology with parameters, which are its declared fields.

    Attributes:
        name: what the command line calls it.
        title: what a menu calls it.
        help: what it is for, in a sentence.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]

    rate_bps: int = declare(
        RATE,
        default=parse_rate_bps("100mbit"),
        label="Rate",
        help="the rate of the bottleneck",
    )
    rtt_s: float = declare(
        RTT,
        default=0.04,
        label="RTT",
        help="the round-trip time of the longest path, without queues",
    )

    @classmethod
    def to_json(cls) -> dict[str, Any]:
        """Return the template with its parameters, as plain data."""
        return {
            "name": cls.name,
            "title": cls.title,
            "help": cls.help,
            "parameters": [
                {
                    "key": key,
                    "label": one.about.label,
                    "help": one.about.help,
                    "limits": one.kind.limits,
                    "default": one.kind.text(one.default),
                }
                for key, one in fields_of(cls).items()
            ],
        }

    @abstractmethod
    def parts(self) -> Parts:
        """Return what the study is made of.

        Raises:
            InputError: the parameters do not go together.
        """

    def written(self, name: str) -> str:
        """Return a parameter as a study writes it, by its attribute."""
        (found,) = (one for one in fields_of(type(self)).values() if one.name == name)
        return found.kind.text(getattr(self, name))

    def delay(self, links: int) -> str:
        """Return the delay of each of so many links in a row, which together make the RTT.

        It is rounded to a microsecond.
        """
        return RTT.text(max(1e-6, round(self.rtt_s / 2 / links, 6)))

    def text(self) -> str:
        """Return the text of the study.

        Raises:
            InputError: as `parts`.
        """
        parts = self.parts()
        options = [
            f"--{key} {shlex.quote(self.written(one.name))}"
            for key, one in fields_of(type(self)).items()
        ]
        made = f"Made by: longfat new {self.name} {' '.join(options)}"
        lines = [
            *(f"# {line}" for line in textwrap.wrap(parts.about, _WIDTH - 2)),
            *textwrap.wrap(made, _WIDTH, initial_indent="# ", subsequent_indent="#   "),
            f"title: {parts.title}",
            "",
            "network:",
            "  hosts:",
            *(f"    {name}: {value}" for name, value in parts.hosts.items()),
        ]
        if parts.switches:
            lines += textwrap.wrap(
                f"switches: [{', '.join(parts.switches)}]",
                _WIDTH,
                initial_indent="  ",
                subsequent_indent="    ",
            )
        lines += ["  links:"]
        lines += [f"    {one}" if one.startswith("#") else f"    - {one}" for one in parts.links]
        lines += ["", "flows:"]
        lines += [
            f"  {value}" if name.startswith("#") else f"  {name}: {value}"
            for name, value in parts.flows.items()
        ]
        lines += parts.more
        lines += ["", "# Positions of the nodes in a drawing, in pixels."]
        lines += ["layout:", *(f"  {name}: [{x}, {y}]" for name, (x, y) in parts.layout.items())]
        if parts.groups:
            lines += ["", "drawing:", "  groups:"]
            lines += [
                f"    - {{name: {name}, nodes: [{', '.join(nodes)}]}}"
                for name, nodes in parts.groups.items()
            ]
        return "".join(f"{line}\n" for line in lines)


def check_hosts(count: int) -> None:
    """Check that a template does not become larger than a drawing can show.

    Raises:
        InputError: it does.
    """
    if count > MAX_HOSTS:
        raise InputError(f"these are {count} hosts, and at most {MAX_HOSTS} are made")


def make_template(template: type[Template], given: Mapping[str, object]) -> Template:
    """Return a template with parameters.

    Args:
        template: which.
        given: texts as in a study, or numbers in base units, by key; None for the default.

    Raises:
        InputError: there is no such parameter, or a value is wrong.
    """
    return template(**values_of(template, given, what=f"the template {template.name}"))
