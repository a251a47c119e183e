"""Paths of the repository that documents, docstrings and comments name exist."""

from __future__ import annotations

import ast
import functools
import io
import os
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import REPOSITORY

_TOP_FOLDERS = (
    *("benchmarks", "docs", "examples", "kernel", "labs", "src", "studies", "tests", "tools"),
    "web",
)
_TEXTS = ("docs", "kernel", "examples", "labs", "studies", "tools")
_SOURCE = REPOSITORY / "src"
_PACKAGE = _SOURCE / "longfat"
# The core, and the products beside it.
_NAMES = tuple(sorted(path.parent.name for path in _SOURCE.glob("*/__init__.py")))
# What Python's packages below src/longfat are called in documents: `execution/runs`.
_PACKAGES = tuple(sorted(path.name for path in _PACKAGE.iterdir() if path.is_dir()))
_PATH = re.compile(
    rf"(?<![\w/.~<$:@-])(?:{'|'.join((*_TOP_FOLDERS, *_NAMES, *_PACKAGES))})"
    r"(?:/[\w.@+-]+)+/?(?![\w/{*<$])"
)
_MODULE = re.compile(rf"`((?:{'|'.join(_NAMES)})(?:\.[a-z_][a-z0-9_]*)+)")
_FILE = re.compile(r"`([\w-]+\.(?:py|sh|c|lark|ts|tsx|toml))`")
# Placeholders, what is built and not in git, and files of other repositories.
_NOT_OURS = re.compile(
    r"NAME|CODE|COMMAND|PROBE|TOOL|studio/static|output/report/bundle|web/node_|build/"
    r"|src/(?:frontend|packet)/|tools/testing/|src/main\.js"
)
# Files of readers, of the kernel, and programs that machines have.
_OF_OTHERS = (
    *("server.py", "lab.py", "topology.py", "my-network.py", "plot_q.sh", "plot_iperf.sh"),
    *(
        "tcp_cong.c",
        "tcp_output.c",
        "syscall.c",
        "ksft_runner.sh",
        "sch_netem.c",
        "run.sh",
        "bufferbloat.py",
    ),
)
# The table of other people's repositories in docs/mininet.md.
_OTHERS_SCRIPTS = re.compile(r"^## Public scripts\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_ENTRY_POINTS = ("longfat.flows", "longfat.labs", "longfat.probes", "longfat.products")
_SKIPPED = re.compile(r"^(docs/reproduced\.md|CHANGELOG\.md)$")


def _documents() -> Iterator[tuple[str, str]]:
    for pattern in ("*.md", *(f"{folder}/**/*.md" for folder in _TEXTS)):
        for path in sorted(REPOSITORY.glob(pattern)):
            name = path.relative_to(REPOSITORY).as_posix()
            if not _SKIPPED.search(name):
                yield name, _OTHERS_SCRIPTS.sub("", path.read_text(encoding="utf-8"))


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments and docstrings of a module with their lines; of a grammar all lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), start=1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(value := node.value, ast.Constant):
            yield node.lineno, str(value.value)


def _named(text: str) -> Iterator[str]:
    """Yield the paths and modules of the repository that a text names."""
    for match in _PATH.finditer(text):
        path = match[0].rstrip(".-").rstrip("/")
        # `metric/unit` of two words is prose; with an ending or three parts it is a path.
        if not _NOT_OURS.search(path) and (path.count("/") > 1 or "." in path or "`" in text):
            yield path
    for match in _MODULE.finditer(text):
        if match[1] not in _ENTRY_POINTS:
            yield match[1]
    for match in _FILE.finditer(text):
        if match[1] not in _OF_OTHERS:
            yield match[1]


def _exists(name: str) -> bool:
    if name.startswith(tuple(f"{package}." for package in _NAMES)):
        return _module_exists(name)
    if "/" not in name:
        return name in _file_names() or _symbol_exists(name)
    bases = (REPOSITORY, _SOURCE, _PACKAGE, REPOSITORY / "tests")
    return any(
        (base / f"{name}{ending}").exists() for base in bases for ending in ("", ".py")
    ) or _symbol_exists(name)


@functools.cache
def _file_names() -> frozenset[str]:
    folders = (REPOSITORY / folder for folder in _TOP_FOLDERS)
    walked = (names for folder in folders for _, _, names in os.walk(folder))
    return frozenset(name for names in walked for name in names)


def _module_exists(name: str) -> bool:
    """Return whether a dotted name is a module, or a name in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = _SOURCE.joinpath(*parts[:end])
        file = (
            path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
        )
        if file.is_file():
            rest = parts[end:]
            return len(rest) == 0 or re.search(rf"\b{rest[0]}\b", file.read_text()) is not None
    return False


def _symbol_exists(name: str) -> bool:
    """Return whether the last part of a path names something in a module: `runs/run.Run`."""
    path, _, symbol = name.rpartition(".")
    file = _PACKAGE / f"{path}.py"
    return bool(symbol) and file.is_file() and symbol in file.read_text(encoding="utf-8")


def test_paths_in_documents_exist() -> None:
    wrong = [
        f"{name}: {path}"
        for name, text in _documents()
        for path in _named(text)
        if not _exists(path)
    ]
    assert sorted(set(wrong)) == []


@pytest.mark.parametrize("folder", ["src", "tests", "tools", "benchmarks"])
def test_paths_in_docstrings_and_comments_exist(folder: str) -> None:
    wrong = [
        f"{file.relative_to(REPOSITORY)}:{line}: {path}"
        for file in sorted((REPOSITORY / folder).rglob("*"))
        if file.suffix in (".py", ".lark", ".c")
        if "tests/data" not in file.as_posix()
        for line, text in _comments(file)
        for path in _named(text)
        if not _exists(path)
    ]
    assert wrong == []


def test_links_of_documents_lead_to_files() -> None:
    wrong = []
    for name, text in _documents():
        for target in re.findall(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)", text):
            if ":" not in target and not ((REPOSITORY / name).parent / target).exists():
                wrong.append(f"{name}: {target}")
    assert wrong == []


def _anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def test_anchors_of_documents_are_headings() -> None:
    wrong = []
    for name, text in _documents():
        for target, anchor in re.findall(r"\]\(([^()\s#:]*\.md|)#([^()\s]+)\)", text):
            page = (REPOSITORY / name).parent / target if target else REPOSITORY / name
            if page.is_file() and anchor not in _anchors(page):
                wrong.append(f"{name}: {target}#{anchor}")
    assert wrong == []
