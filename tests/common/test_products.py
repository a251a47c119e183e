"""Products are known by entry points alone, and one whose package is missing is absent."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.common import plugins
from longfat.common.products import GROUP, Command, inserted, products, source_of
from longfat.errors import HostError

GOOD = """\
from longfat.common.products import Command, Product
PRODUCT = Product(commands={"hello": Command(module="greeting.command", after="run")})
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Give a function that installs a package with entry points and modules, and no others."""

    def write(declared: str, **modules: str) -> None:
        about = tmp_path / "greeting-1.0.dist-info"
        about.mkdir()
        (about / "entry_points.txt").write_text(declared)
        for name, text in modules.items():
            path = tmp_path / "greeting" / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    products.cache_clear()
    importlib.invalidate_caches()
    yield write
    products.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "greeting"]:
        del sys.modules[name]


def declared(reference: str) -> str:
    return f"[console_scripts]\nx = y:z\n\n[{GROUP}]\ngreeting = {reference}\n\n[pytest11]\na = b\n"


def test_the_metadata_names_the_products(install: Callable[..., None]) -> None:
    install(declared("greeting.product:PRODUCT"), __init__="", product=GOOD, command="1 / 0\n")
    assert plugins.references(GROUP) == {"greeting": "greeting.product:PRODUCT"}
    (product,) = products()
    assert product.commands == {"hello": Command(module="greeting.command", after="run")}
    assert source_of("greeting.command").endswith("greeting/command.py")


def test_a_product_without_its_package_is_absent(install: Callable[..., None]) -> None:
    install(declared("greeting.product:PRODUCT"))
    assert products() == ()


def test_a_folder_with_old_bytecode_is_no_product(
    install: Callable[..., None], tmp_path: Path
) -> None:
    install(declared("greeting.product:PRODUCT"))
    (tmp_path / "greeting" / "__pycache__").mkdir(parents=True)
    assert products() == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("import nowhere\n", "ModuleNotFoundError: No module named 'nowhere'"),
        ("PRODUCT = 3\n", "greeting.product:PRODUCT is not a Product"),
    ],
)
def test_a_broken_product_is_named(install: Callable[..., None], text: str, reason: str) -> None:
    install(declared("greeting.product:PRODUCT"), __init__="", product=text)
    with pytest.raises(HostError, match=f"^the product 'greeting' of longfat .*: {reason}$"):
        products()


def test_names_of_products_follow_those_that_they_name() -> None:
    assert inserted(["a", "b", "c"], {"x": "a", "y": "c", "z": "a"}) == [
        "a",
        "x",
        "z",
        "b",
        "c",
        "y",
    ]
