"""`longfat bdp`: the arithmetic of a long, fat path, with every equation shown."""

from __future__ import annotations

import dataclasses
import json
import re

import click
from rich.text import Text

from longfat.analysis.advice.arithmetic import compute
from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.cli.render.equations import section_lines, sections
from longfat.engine.kernel.version import USUAL, check_version
from longfat.errors import InputError
from longfat.model.units import parse_fraction, parse_rate_bps, parse_time_s


class _PathCommand(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Distinguish negative rates and times from options."""
        negative = [text for text in args if re.match(r"-[0-9.]", text)]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            if not negative:
                raise
            raise InputError(
                f"{negative[0]!r} is negative: write a rate and an RTT above 0"
            ) from None


@click.command(
    cls=_PathCommand, epilog="Such as: longfat bdp 10gbit 20ms --flows 1000 --loss 0.01%"
)
@click.argument("rate")
@click.argument("rtt")
@click.option(
    "--mss", type=int, default=1460, show_default=True, help="Payload of a segment, bytes."
)
@click.option("--flows", type=int, help="Long flows through the router: its buffer / sqrt(N).")
@click.option("--loss", metavar="PERCENT", help="Loss, such as 0.01%: what Reno reaches with it.")
@click.option("--kernel", default=USUAL, show_default=True, help="Linux version of the hosts.")
@json_option()
def bdp(
    *,
    rate: str,
    rtt: str,
    mss: int,
    flows: int | None,
    loss: str | None,
    kernel: str,
    as_json: bool,
) -> None:
    """Do the arithmetic of a path of RATE and RTT, as on paper.

    RATE is the bottleneck's, such as 10gbit; RTT the idle path's, such as 50ms.
    """
    path = compute(
        rate_bps=parse_rate_bps(rate),
        rtt_s=parse_time_s(rtt),
        mss_bytes=mss,
        kernel=check_version(kernel),
        flows=flows,
        loss_fraction=None if loss is None else parse_fraction(loss),
    )
    if as_json:
        echo(json.dumps(dataclasses.asdict(path), indent=2))
        return
    console = stdout()
    for line, is_title in section_lines(sections(path)):
        console.print(Text(line, style="bold" if is_title else ""), soft_wrap=True)
