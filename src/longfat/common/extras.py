"""Optional dependencies: extras, and modules that are loaded on first use.

Some packages are large and few people need all of them, so each belongs to an extra of
longfat's own package (`pip install 'longfat[sql]'`), defined here as in pyproject.toml. `need`
reports a missing one before any work is begun; a module from `lazy` reports it on
first use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from longfat.common.products import Extra, inserted, products
from longfat.errors import HostError

EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {
        "series": Extra(
            feature="for what probes see, and other tables over time", modules=("pyarrow",)
        ),
        "report": Extra(
            feature="for report.pdf",
            modules=("weasyprint",),
            libraries=("libpango-1.0.so.0", "libpangoft2-1.0.so.0"),
            packages=("libpango-1.0-0", "libpangoft2-1.0-0", "fonts-dejavu-core"),
        ),
        "sql": Extra(feature="for `longfat query`", modules=("duckdb", "pyarrow")),
        "frames": Extra(feature="for data frames", modules=("polars", "duckdb", "pyarrow")),
        "studio": Extra(
            feature="for `longfat studio`",
            modules=("starlette", "uvicorn", "websockets", "pyarrow"),
        ),
    }
)
"""The extras of the core by their names."""


def all_extras() -> Mapping[str, Extra]:
    """Return the extras by their names, with those of products."""
    added = {name: extra for product in products() for name, extra in product.extras.items()}
    every = {**EXTRAS, **added}
    after = {name: extra.after for name, extra in added.items()}
    return {name: every[name] for name in inserted(tuple(EXTRAS), after)}


class MissingExtraError(HostError):
    """An extra is not installed.

    Args:
        name: the extra.
        missing: those of its modules that cannot be found.
    """

    def __init__(self, name: str, missing: tuple[str, ...]) -> None:
        *others, last = missing
        modules = f"{', '.join(others)} and {last} are" if others else f"{last} is"
        super().__init__(
            f"{modules} not installed, needed {_extra(name).feature}",
            hint=f"pip install 'longfat[{name}]'",
        )

    def __str__(self) -> str:
        return f"{self.message}; hint: {self.hint}"


def missing_modules(name: str) -> tuple[str, ...]:
    """Return the modules of an extra that are not installed; none is imported."""
    return tuple(one for one in _extra(name).modules if importlib.util.find_spec(one) is None)


def _extra(name: str) -> Extra:
    """Return an extra; only those of products need a search."""
    return EXTRAS[name] if name in EXTRAS else all_extras()[name]


def need(name: str) -> None:
    """Check that an extra is installed.

    Raises:
        MissingExtraError: it is not, or only a part of it.
    """
    if missing := missing_modules(name):
        raise MissingExtraError(name, missing)


def lazy(module: str) -> Any:
    """Return a proxy of a module, which imports it on first use.

    Loading Arrow or matplotlib takes longer than most commands, which never use them.

    Raises:
        MissingExtraError: on use: the module belongs to an extra that is not installed.
    """
    return _Lazy(module)


class _Lazy:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            module = importlib.import_module(self._name)
        except ModuleNotFoundError as error:
            for name, extra in all_extras().items():
                if error.name in extra.modules:
                    raise MissingExtraError(name, (error.name,)) from None
            raise
        # The next access bypasses this method.
        value = self.__dict__[attribute] = getattr(module, attribute)
        return value
