"""The layers of the code: an import runs down, and none comes back round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.paths import REPOSITORY

SOURCE = REPOSITORY / "src"

# From the top. A package imports from those below it only, for types too.
LAYERS = (
    ("pytest_plugin", "cli"),
    ("studio",),
    ("live", "output", "packetdrill"),
    ("analysis",),
    ("execution",),
    ("study",),
    ("engine",),
    ("model",),
    ("theory",),
    ("common",),
    ("errors",),
    ("guest",),  # a program of its own, inside the machine
)
# `longfat` itself hands names on, when they are asked for, and has the version.
FACE = "longfat"


def _modules() -> dict[str, Path]:
    """Return every module by its name."""
    names = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def _imports(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module


@cache
def _imported() -> dict[str, frozenset[str]]:
    """Return what each module imports."""
    modules = _modules()
    return {module: frozenset(_imports(path, modules)) for module, path in modules.items()}


def _layer(module: str) -> int:
    top = module.split(".")[1]
    return next(index for index, names in enumerate(LAYERS) if top in names)


def test_imports_run_down() -> None:
    upward = [
        f"{module} imports {other}"
        for module, others in _imported().items()
        for other in others
        if FACE not in (module, other)
        and module.split(".")[1] != other.split(".")[1]
        and _layer(other) <= _layer(module)
    ]
    assert upward == []


def test_imports_make_no_circle() -> None:
    # A package's own face may import what it hands on; its modules do not ask the face.
    graph = {
        module: others - {module, FACE} for module, others in _imported().items() if module != FACE
    }
    TopologicalSorter(graph).prepare()  # raises CycleError
