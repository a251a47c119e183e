"""Every worked example of every formula is true, and every formula has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from types import FunctionType

import pytest

from longfat import theory

MODULES = sorted(module.name for module in pkgutil.iter_modules(theory.__path__))
FORMULAS = [
    pytest.param(formula, id=f"{name}.{formula.__name__}")
    for name in MODULES
    for formula in vars(importlib.import_module(f"{theory.__name__}.{name}")).values()
    if isinstance(formula, FunctionType)
    and formula.__module__ == f"{theory.__name__}.{name}"
    and not name.startswith("_")
    and not formula.__name__.startswith("_")
]


@pytest.mark.parametrize("name", MODULES)
def test_worked_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"{theory.__name__}.{name}"))
    assert result.failed == 0
    assert result.attempted > 0 or name.startswith("_")


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_says_where_it_comes_from(formula: FunctionType) -> None:
    text = inspect.getdoc(formula) or ""
    assert "Source" in text
    assert "Args:" in text
    assert ">>>" in text
    if formula.__module__ != "longfat.theory.bdp":
        assert "Valid" in text or "bound" in text
        assert "Raises:" in text
