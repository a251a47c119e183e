"""The layers of the code: an import runs down, and none comes back round."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.paths import REPOSITORY

SOURCE = REPOSITORY / "src"

# From the top. A package imports from those below it only, for types too.
LAYERS = (
    ("pytest_plugin", "cli"),
    ("studio",),
    ("live", "output", "bundles"),
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
# What modules may take from it: nothing that leads to a layer above them, with one exception.
# Jupyter asks an object for its HTML, and objects are in layers below the code that draws.
FROM_FACE = {"__version__", "shown_in_notebook"}
# Packages beside it. The core knows them by entry points only.
PRODUCTS = sorted(
    path.parent.name for path in SOURCE.glob("*/__init__.py") if path.parent.name != FACE
)
# The functions that import a module by its name, by the last part of their own names.
IMPORTERS = {"import_module", "__import__", "lazy"}
# They import what a caller names, which is checked at the caller's; and what a guest needs.
IMPORTS_ANY = {
    "longfat.common.extras",
    "longfat.common.products",
    "longfat.engine.guest_modules",
}
# Tables are printed by `cli.render`; these draw on a terminal again and again while they run.
LIVE_VIEWS = ("longfat.output.watch.", "longfat.output.programs.", "longfat.output.braille_chart")


def _modules() -> dict[str, Path]:
    """Return every module by its name."""
    names = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def _imports(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module in modules:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module
        elif isinstance(node, ast.Call) and node.args and _called(node) in IMPORTERS:
            name = _leading_text(node.args[0]).rstrip(".")
            if name in modules:
                yield name


def _called(call: ast.Call) -> str:
    """Return the last part of a function's name."""
    return ast.unparse(call.func).rpartition(".")[2]


def _leading_text(argument: ast.expr) -> str:
    """Return a text, or what an f-string begins with."""
    if isinstance(argument, ast.JoinedStr) and argument.values:
        argument = argument.values[0]
    value = argument.value if isinstance(argument, ast.Constant) else ""
    return value if isinstance(value, str) else ""


@cache
def _trees() -> dict[str, ast.AST]:
    """Return the syntax tree of each module."""
    return {module: ast.parse(path.read_text()) for module, path in _modules().items()}


@cache
def _imported() -> dict[str, frozenset[str]]:
    """Return what each module imports."""
    modules = _modules()
    return {module: frozenset(_imports(tree, modules)) for module, tree in _trees().items()}


def _package(module: str) -> str:
    """Return the core's name, or that of a product."""
    return module.split(".", maxsplit=1)[0]


def _layer(module: str) -> int | None:
    """Return the layer of a module; None for one of a product that is in no layer."""
    top = module.split(".")[1]
    layer = next((index for index, names in enumerate(LAYERS) if top in names), None)
    assert layer is not None or _package(module) != FACE, module
    return layer


def _runs_down(module: str, other: str) -> bool:
    """Return whether a module may import another; of a product also one of its core's layer."""
    if module.split(".")[1] == other.split(".")[1]:
        return True
    above, below = _layer(module), _layer(other)
    return above is None or below is None or above < below


def test_imports_run_down() -> None:
    tops = {FACE, *PRODUCTS}
    upward = [
        f"{module} imports {other}"
        for module, others in _imported().items()
        for other in others
        if not tops & {module, other} and not _runs_down(module, other)
    ]
    assert upward == []


def test_imports_make_no_circle() -> None:
    # A package's own face may import what it hands on; its modules do not ask the face.
    graph = {
        module: others - {module, FACE} for module, others in _imported().items() if module != FACE
    }
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_products_import_the_core_and_no_other_product() -> None:
    assert PRODUCTS
    foreign = [
        f"{module} imports {other}"
        for module, others in _imported().items()
        for other in others
        if _package(other) not in (_package(module), FACE)
    ]
    assert foreign == []


def test_the_entry_points_name_all_products() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    named = project["entry-points"]["longfat.products"]
    assert sorted(named.values()) == [f"{product}.product:PRODUCT" for product in PRODUCTS]
    assert [f"longfat_{name}" for name in sorted(named)] == PRODUCTS


def test_what_each_command_reads_of_a_product_imports_nothing_else() -> None:
    """Every command imports these two modules, and most need no more of a product."""
    for product in PRODUCTS:
        assert _imported()[product] == frozenset()
        assert _imported()[f"{product}.product"] == {"longfat.common.products"}


def test_a_guest_program_of_a_product_needs_the_core_s_only() -> None:
    for module, others in _imported().items():
        package, _, inner = module.partition(".")
        if package in PRODUCTS and inner.split(".")[0] == "guest":
            allowed = ("longfat.guest", f"{package}.guest")
            assert [name for name in others if not name.startswith(allowed)] == [], module


def test_a_module_imported_by_its_name_is_seen() -> None:
    modules = {"longfat.cli", "longfat.output.notebook"}
    for text in (
        'import_module("longfat.output.notebook")',
        'importlib.import_module(f"longfat.output.notebook.{name}")',
        '__import__("longfat.output.notebook")',
        'lazy("longfat.output.notebook")',
    ):
        assert list(_imports(ast.parse(text), modules)) == ["longfat.output.notebook"], text


def test_no_module_is_imported_by_a_computed_name() -> None:
    """Such a name could lead anywhere; of the module's own package it may be."""
    unknown = {
        module
        for module, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.args and _called(node) in IMPORTERS
        if not _leading_text(node.args[0])
        and not ast.unparse(node.args[0]).startswith("f'{__name__}.")
    }
    assert unknown == IMPORTS_ANY


def test_nothing_leads_up_by_way_of_the_face() -> None:
    names = {
        alias.name
        for module, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == FACE and module != FACE
        for alias in node.names
        if f"{FACE}.{alias.name}" not in _modules()
    }
    assert names == FROM_FACE


def test_only_the_top_prints_with_rich() -> None:
    with_rich = {module for module, tree in _trees().items() if _imports_rich(tree)}
    top = _layer("longfat.output")
    below = {module for module in with_rich if (_layer(module) or 0) > (top or 0)}
    assert below == {"longfat.common.terminal_console"}
    assert [
        module
        for module in with_rich
        if module.startswith("longfat.output.") and not module.startswith(LIVE_VIEWS)
    ] == []


def _imports_rich(tree: ast.AST) -> bool:
    names = [
        *(node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)),
        *(a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names),
    ]
    return any(name.split(".")[0] == "rich" for name in names)
