"""`longfat new`: studies of common topologies, as commented texts to begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from longfat.cli.console import echo, stdout, write_target
from longfat.cli.group import Group
from longfat.cli.options import json_option
from longfat.cli.render.tables import plain_table
from longfat.model.fields import fields_of
from longfat.study.templates import (
    TEMPLATES,
    PracticeNetwork,
    Template,
    make_template,
    practice_networks,
)


class _Templates(Group):
    """A subcommand for each template, whose options are its declared parameters."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [*TEMPLATES, *practice_networks()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name in TEMPLATES:
            return _command(TEMPLATES[cmd_name])
        network = practice_networks().get(cmd_name)
        return None if network is None else _practice_command(network)


@click.group(cls=_Templates, invoke_without_command=True)
@json_option("Print the templates as a JSON list.")
@click.pass_context
def new(context: click.Context, *, as_json: bool) -> None:
    """Print or write a study of a common topology or question.

    Without TEMPLATE the templates are listed; `longfat new TEMPLATE --help` shows its
    parameters.
    """
    if context.invoked_subcommand is not None:
        return
    if as_json:
        made = [template.to_json() for template in TEMPLATES.values()]
        made += [
            {"name": one.name, "title": one.title, "help": one.question, "parameters": []}
            for one in practice_networks().values()
        ]
        echo(json.dumps(made, indent=2))
        return
    table = plain_table()
    table.add_column("template", no_wrap=True)
    table.add_column("what it is")
    table.add_column("parameters")
    for template in TEMPLATES.values():
        table.add_row(template.name, template.help, ", ".join(fields_of(template)))
    stdout().print(table)
    practice = plain_table()
    practice.add_column("practice", no_wrap=True)
    practice.add_column("what it is, with measurements that answer a question")
    for network in practice_networks().values():
        practice.add_row(network.name, network.title)
    stdout().print()
    stdout().print(practice)


def _command(template: type[Template]) -> click.Command:
    options = [
        click.Option(
            [f"--{key}"],
            metavar=type(field.kind).__name__.upper(),
            help=f"{field.about.help[:1].upper()}{field.about.help[1:]}"
            f"{f', {field.kind.limits}' if field.kind.limits else ''}; "
            f"default: {field.kind.text(field.default)}.",
        )
        for key, field in fields_of(template).items()
    ]
    return click.Command(
        template.name,
        params=[*options, _out_option()],
        callback=lambda out, **given: _write(make_template(template, given).text(), out),
        help=f"{template.help[:1].upper()}{template.help[1:]}.",
    )


def _practice_command(network: PracticeNetwork) -> click.Command:
    return click.Command(
        network.name,
        params=[_out_option()],
        callback=lambda out: _write(network.text, out),
        help=network.question,
        short_help=network.title,
    )


def _out_option() -> click.Option:
    return click.Option(
        ["-o", "--out"],
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write it to FILE, which must not be there yet.",
    )


def _write(text: str, out: Any) -> None:
    if out is None:
        echo(text, nl=False)
        return
    write_target(out, text.encode())
