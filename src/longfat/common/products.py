"""Products: packages beside the core that extend it in several layers.

A product is a package of its own, such as `longfat_cluster`. The core imports none of them: each
is named by an entry point of the group `longfat.products`, whose object is a `Product`:

    [project.entry-points."longfat.products"]
    cluster = "longfat_cluster.product:PRODUCT"

A product whose package is missing is absent, with its commands and options. Each command reads
these objects when it starts, so their modules import nothing else: a `Product` names what it adds,
as `module` or `module:name`, and `load_object` imports that when it is needed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from longfat.common.plugins import references
from longfat.errors import HostError

GROUP = "longfat.products"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A subcommand of `longfat`.

    Attributes:
        module: the module with a click command of the subcommand's name.
        after: the subcommand of the core that it follows in the help; empty if it takes the place
            of the core's subcommand of its name, which it extends.
    """

    module: str
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Packages that some feature needs.

    Attributes:
        feature: the feature.
        modules: the modules that it imports, the top level only.
        libraries: the shared libraries of the host that these load.
        packages: the packages of Debian that have them.
        after: the extra of the core that it follows in lists; empty for one of the core.
    """

    feature: str
    modules: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What a product adds to the core.

    Attributes:
        commands: subcommands of `longfat`, by their names.
        extras: optional dependencies, by their names.
        executor: the `module:name` of a `longfat.cli.executors.ExecutorOptions`: options of
            `longfat run`, and the executor that they select.
        pytest_plugin: the module of a pytest plug-in, loaded with longfat's own.
    """

    commands: Mapping[str, Command] = field(default_factory=dict)
    extras: Mapping[str, Extra] = field(default_factory=dict)
    executor: str = ""
    pytest_plugin: str = ""


@cache
def products() -> tuple[Product, ...]:
    """Return the installed products, in the order of their names.

    Raises:
        HostError: one cannot be imported.
    """
    named = sorted(references(GROUP).items())
    return tuple(_load(name, reference) for name, reference in named if _is_installed(reference))


def references_of(hook: str) -> list[str]:
    """Return what the products name under one of the attributes of `Product` that are texts.

    Args:
        hook: the attribute, such as `executor`.
    """
    return [reference for product in products() if (reference := getattr(product, hook))]


def load_object(reference: str) -> Any:
    """Return an object of a product, or a module.

    Args:
        reference: `module:name`, or `module`.
    """
    module, _, name = reference.partition(":")
    loaded = importlib.import_module(module)
    return getattr(loaded, name) if name else loaded


def source_of(module: str) -> str:
    """Return the file of a product's module, which is not imported; its package is.

    Args:
        module: the module's name.

    Raises:
        HostError: it has none.
    """
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise HostError(f"the module {module} is missing: the installation is incomplete")
    return spec.origin


def inserted(names: Sequence[str], after: Mapping[str, str]) -> list[str]:
    """Return names of the core with those of products among them.

    Args:
        names: those of the core, in their order.
        after: for each of a product the name that it follows.
    """
    return [
        name
        for own in names
        for name in (own, *(added for added, before in after.items() if before == own))
    ]


def _is_installed(reference: str) -> bool:
    """Return whether the package of a product exists.

    Of a deleted one, a folder with old bytecode may be left, which is a package without a file.
    """
    spec = importlib.util.find_spec(reference.partition(":")[0].partition(".")[0])
    return spec is not None and spec.origin is not None


def _load(name: str, reference: str) -> Product:
    try:
        product = load_object(reference)
    except Exception as error:  # importing it may raise anything
        raise _broken(name, f"{type(error).__name__}: {error}") from error
    if not isinstance(product, Product):
        raise _broken(name, f"{reference} is not a {Product.__name__}")
    return product


def _broken(name: str, reason: str) -> HostError:
    return HostError(f"the product {name!r} of longfat cannot be used: {reason}")
