"""Write the manual pages of the commands: `python -m tools.manpages [FOLDER]`.

Each command has a page of section 1, made from its help: `longfat.1`, `longfat-run.1`,
`longfat-kernel-build.1`. Without a folder they go to build/man/man1, where
`MANPATH=$PWD/build/man: man longfat-run` finds them. They are not in the wheel.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from longfat import __version__
from longfat.cli.main import commands

_EXIT_STATUS = (
    ("0", "Success."),
    ("1", "A claim or a comparison failed."),
    ("2", "Invalid input or usage."),
    ("3", "The machine or the host failed."),
)


def pages() -> dict[str, str]:
    """Return the pages of all commands by their file names."""
    return {
        f"{'-'.join(words)}.1": page(words, command)
        for words, command in _walk(commands, ["longfat"])
    }


def _walk(command: click.Command, words: list[str]) -> Iterator[tuple[list[str], click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=words[-1])
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _walk(inner, [*words, name])


def page(words: list[str], command: click.Command) -> str:
    """Return the manual page of a command, in the macros of man(7).

    Args:
        words: the command, such as `["longfat", "kernel", "build"]`.
        command: it as click has it.
    """
    context = click.Context(command, info_name=" ".join(words), help_option_names=["-h", "--help"])
    name = "-".join(words)
    lines = [
        f'.TH {name.upper()} 1 "" "longfat {__version__}" "longfat"',
        ".SH NAME",
        f"{name} \\- {_escaped(command.get_short_help_str(200).rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_escaped(' '.join(words))}",
        _escaped(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *_paragraphs(inspect.cleandoc(command.help or "")),
    ]
    records = [
        record
        for option in command.get_params(context)
        if isinstance(option, click.Option) and (record := option.get_help_record(context))
    ]
    if records:
        lines += [".SH OPTIONS", *_definitions(records)]
    if isinstance(command, click.Group):
        inner = [
            (name, command.get_command(context, name)) for name in command.list_commands(context)
        ]
        help_texts = [
            (" ".join([*words, name]), one.get_short_help_str(200)) for name, one in inner if one
        ]
        lines += [".SH COMMANDS", *_definitions(help_texts)]
    lines += [*_epilog(command.epilog), ".SH EXIT STATUS", *_definitions(_EXIT_STATUS)]
    others = sorted({"-".join(words[:-1]) or "longfat", "longfat"} - {name})
    if others:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{_escaped(one)}\\fR(1)" for one in others)]
    return "\n".join(lines) + "\n"


def _epilog(text: str | None) -> list[str]:
    return [".SH EXAMPLES", *_paragraphs(inspect.cleandoc(text))] if text else []


def _definitions(records: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, text in records:
        yield from (".TP", f".B {_escaped(term)}", _escaped(" ".join(text.split())) or "\\&")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of a docstring; line breaks are kept after click's mark."""
    for paragraph in re.split(r"\n[ \t]*\n", text.partition("\f")[0].strip("\n")):
        kept = paragraph.lstrip().startswith("\b")
        lines = [line.rstrip() for line in paragraph.replace("\b", "").splitlines() if line.strip()]
        if kept:
            yield from (".PP", ".nf", *map(_escaped, lines), ".fi")
        elif lines:
            yield ".PP"
            yield _escaped(" ".join(line.strip() for line in lines))


def _escaped(text: str) -> str:
    """Return a line of text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def main(arguments: list[str]) -> int:
    """Write the pages; more than one argument is an error."""
    if len(arguments) > 1 or any(one.startswith("-") for one in arguments):
        print("usage: python -m tools.manpages [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(arguments[0] if arguments else "build/man") / "man1"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(list(folder.iterdir()))} pages in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
