"""Build the documentation as a site: `python -m tools.site OUT`, or `make docs`.

Its pages stand where readers of the repository look for them: the README, `docs/`, the texts
of labs and studies with their translations. They are copied to one source tree for Sphinx, in
which links from page to page go on working, with the pages that are made from code: what each
command takes, and the Python API. A link that leads nowhere, and a page in no part of the
site, is an error.

The tutorial is a notebook. Its output, and the gallery's figures, come from real machines: with
`--results` it is run, and so are the gallery's studies where they are not cached.

It ends with 0, 1 if Sphinx complains, 2 if it was called wrongly.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import click
from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from longfat import __version__
from longfat.cli.main import commands
from longfat.study.labs import PITFALLS
from longfat.study.text import ENGLISH, Language, find_texts, language_of, nodes_of_block
from tools.gallery import write_gallery
from tools.notebook import notebook_page

_TOP = Path(__file__).parents[1]
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_BLOCK = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_OPENING = re.compile(r"^(?P<indent> *)```(?P<info>sh .+)$", re.MULTILINE)

HOW_TO = (
    *(
        "overview",
        "studio",
        "shell",
        "exec",
        "session",
        "watch",
        "python",
        "pytest",
        "mininet",
        "miniedit",
        "query",
        "packets",
    ),
    *("compare", "plots", "advice", "lint", "class", "cluster", "kernels", "packetdrill"),
    *("bundles", "plugins", "translations"),
)
REFERENCE = (
    "gallery",
    "study-format",
    "commands",
    "api",
    "result-cache",
    "glossary",
    "dependencies",
    "stability",
    "tools",
    "changelog",
)
EXPLANATION = (
    *(
        "architecture",
        "fidelity",
        "claims",
        "reproduced",
        "congestion-and-queues",
        "practice",
        "pitfalls",
        "limits",
        "performance",
        "security",
        "platforms",
        "peers",
    ),
    *("decisions/index", "kernel-patches", "contributing"),
)
"""The pages of three of the four parts; the fourth are the labs."""

TUTORIAL = "tutorial"
"""The page that a notebook in docs/ becomes."""

_CONFIGURATION = """\
project = "longfat"
copyright = "the authors of longfat"
version = release = {version!r}
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "longfat"
html_show_sourcelink = False
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4
autodoc_typehints = "none"
default_role = "code"
autodoc_member_order = "bysource"
suppress_warnings = ["myst.header"]
pygments_style = "friendly"
pygments_dark_style = "monokai"


def name_language(app, page, template, context, doctree):
    # A translation has its language behind its name.
    context["language"] = page.partition(".")[2] or "en"


def setup(app):
    app.connect("html-page-context", name_language)
"""

_API = """\
# The Python API in full

[The Python API](python.md) shows how these are used.

```{eval-rst}
.. automodule:: longfat
   :no-members:

.. autoclass:: longfat.Network
   :members:
   :inherited-members:

.. autoclass:: longfat.live.LiveHost
   :members:
   :inherited-members:

.. autoclass:: longfat.Completed
   :members:

.. autoclass:: longfat.Process
   :members:

.. autoexception:: longfat.CommandFailed

.. autoexception:: longfat.TimedOut

.. autofunction:: longfat.open_study

.. autoclass:: longfat.StudyRuns
   :members:
```
"""


def pages(top: Path) -> dict[str, str]:
    """Return the pages that stand in the repository: their files, and their names in the site.

    Args:
        top: the repository.
    """
    found = {"README.md": "index", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
    found["kernel/patches/README.md"] = "kernel-patches"
    for page in sorted((top / "docs").rglob("*.md")):
        name = page.relative_to(top / "docs").as_posix()
        found[f"docs/{name}"] = name.removesuffix(".md")
    for group in ("labs", "studies"):
        for folder in sorted({text.parent for text in (top / group).rglob("text.md")}):
            if folder.parent == top / "studies" / PITFALLS:
                continue  # docs/pitfalls.md has their texts
            for code, text in find_texts(folder).items():
                name = f"{group}/{folder.name}"
                found[str(text.relative_to(top))] = name if code == ENGLISH else f"{name}.{code}"
    return found


def with_links(text: str, *, file: str, names: Mapping[str, str]) -> str:
    """Return a page whose links lead to pages of the site.

    A link to a file that is no page becomes its text; a web address and a link within the
    page stay.

    Args:
        text: the page's Markdown.
        file: where it stands in the repository.
        names: the pages, as `pages` returns them.
    """
    here = PurePosixPath(names[file]).parent

    def lead(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path, hash_mark, anchor = target.partition("#")
        if mark or not path or ":" in path:
            return found[0]
        aim = os.path.normpath(PurePosixPath(file).parent / path)
        name = names.get(aim) or names.get(f"{aim}/text.md") or names.get(f"{aim}/README.md")
        if name is None:
            return words if words.startswith("`") else f"{words} (`{aim}`)"
        return f"[{words}]({os.path.relpath(f'{name}.md', here)}{hash_mark}{anchor})"

    parts = _BLOCK.split(text)
    # Every second part is a block of code.
    return "".join(
        _LINK.sub(lead, part) if index % 2 == 0 else part for index, part in enumerate(parts)
    )


def with_nodes(text: str, *, language: Language) -> str:
    """Return a lab's text whose blocks of lines have captions that name the nodes to type at.

    Args:
        text: the text's Markdown.
        language: what it is written in.
    """

    def caption(opening: re.Match[str]) -> str:
        nodes = nodes_of_block(opening["info"])
        if not nodes:
            return opening[0]
        indent = opening["indent"]
        return f"{indent}```{{code-block}} sh\n{indent}:caption: {language.typed_at(nodes)}\n"

    return _OPENING.sub(caption, text)


def command_pages(group: click.Group) -> str:
    """Return the reference of all commands, from their help.

    Args:
        group: the command with its subcommands.
    """
    lines = ["# Commands", "", "What `--help` of each command prints.", ""]
    for words, command in _walk(group, ("longfat",)):
        context = click.Context(
            command,
            info_name=" ".join(words),
            max_content_width=92,
            help_option_names=["-h", "--help"],
        )
        level = "#" * min(1 + len(words), 3)
        lines += [f"{level} {' '.join(words)}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(lines)


def _walk(
    command: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=words[-1])
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _walk(inner, (*words, name))


def write_source(folder: Path, *, top: Path = _TOP, results: bool = False) -> None:
    """Write the source of the site.

    Args:
        folder: an empty folder.
        top: the repository.
        results: run what the tutorial and the gallery show.
    """
    names = pages(top)
    place = f"docs/{TUTORIAL}.ipynb"
    known = {**names, place: TUTORIAL}
    notebook = with_links(notebook_page(top / place, runs=results), file=place, names=known)
    (folder / f"{TUTORIAL}.md").write_text(notebook, encoding="utf-8")
    write_gallery(folder, top=top, runs=results)
    for file, name in names.items():
        text = with_links((top / file).read_text(encoding="utf-8"), file=file, names=known)
        if name.startswith(("labs/", "studies/")):
            text = text.replace("\n[network]\n", "\n")  # where a report draws the network
            text = with_nodes(text, language=language_of(_language(name)))
            text = _with_languages(text, name, names)
        page = folder / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    shutil.copytree(top / "docs/images", folder / "images")
    # The README names its pictures from the top.
    shutil.copytree(top / "docs/images", folder / "docs/images")
    decisions = sorted(name for name in names.values() if re.match(r"decisions/\d", name))
    with (folder / "decisions/index.md").open("a", encoding="utf-8") as page_of_decisions:
        inner = [name.removeprefix("decisions/") for name in decisions]
        page_of_decisions.write(_contents("Decisions", inner))
    (folder / "commands.md").write_text(command_pages(commands), encoding="utf-8")
    (folder / "api.md").write_text(_API, encoding="utf-8")
    (folder / "conf.py").write_text(_CONFIGURATION.format(version=__version__), encoding="utf-8")
    labs: dict[str, list[str]] = {}
    for file, name in names.items():
        if name.startswith("labs/"):
            labs.setdefault(_language(name), []).append(_lab_entry(file, name, top))
    english = labs.pop(ENGLISH)
    studies = [name for name in names.values() if name.startswith("studies/")]
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        for caption, chosen in (
            ("Tutorials: the labs", [TUTORIAL, *english]),
            ("How-to guides", HOW_TO),
            ("Reference", REFERENCE),
            ("Explanation", (*EXPLANATION, *studies)),
            *((f"Labs: {language_of(code).name}", labs[code]) for code in sorted(labs)),
        ):
            index.write(_contents(caption, chosen))


def _language(name: str) -> str:
    """Return the language of a page of a lab or study, by its name in the site."""
    return name.partition(".")[2] or ENGLISH


def _with_languages(text: str, name: str, names: Mapping[str, str]) -> str:
    """Return a page with links, below its heading, to the same in other languages."""
    english = name.partition(".")[0]
    others = [one for one in names.values() if one.partition(".")[0] == english and one != name]
    if not others:
        return text
    links = [f"[{language_of(_language(one)).name}]({one.rpartition('/')[2]}.md)" for one in others]
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{' · '.join(links)}\n{rest}"


def _lab_entry(file: str, name: str, top: Path) -> str:
    """Return a lab's line in the contents: its number, its title, and its page."""
    title = (top / file).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    number = re.search(r"/lab0*([0-9]+)(?:\.|$)", name)
    return f"{f'{number[1]}. ' if number else ''}{title} <{name}>"


def _contents(caption: str, names: Iterable[str]) -> str:
    lines = ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *names, "```", ""]
    return "\n".join(lines)


def build(out: Path, *, results: bool = False) -> bool:
    """Build the site.

    Args:
        out: the folder that takes it.
        results: run what the tutorial and the gallery show.

    Returns:
        Whether there was nothing to complain of.
    """
    with tempfile.TemporaryDirectory(prefix="longfat-site-") as name:
        source = Path(name, "source")
        source.mkdir()
        write_source(source, results=results)
        try:
            app = Sphinx(
                source,
                source,
                out,
                Path(name, "doctrees"),
                "html",
                status=None,
                warning=sys.stderr,
                freshenv=True,
                keep_going=True,
            )
            app.build()
        except SphinxError as error:
            print(error, file=sys.stderr)
            return False
        return not app._warncount


def main(arguments: Sequence[str]) -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="the folder that takes the site")
    parser.add_argument(
        "--results", action="store_true", help="run the tutorial, and the studies of the gallery"
    )
    given = parser.parse_args(arguments)
    return 0 if build(given.out, results=given.results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
