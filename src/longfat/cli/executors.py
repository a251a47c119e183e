"""Options of `longfat run` that select where cases run: products add them, the core has none.

Without them, or if none is given, cases run in the pool of this computer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.common.products import load_object, references_of

if TYPE_CHECKING:
    from longfat.execution import Executor


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorOptions:
    """Options of a product, and the executor that they select.

    Attributes:
        options: decorators by `click.option` in the order of the help, by the names of their
            parameters.
        check: called with the values by these names; raises `click.UsageError` if they contradict
            each other.
        make: called with the values, and a function that prints a warning; returns the executor,
            or None if the values select none.
    """

    options: Mapping[str, Callable[[Any], Any]]
    check: Callable[[Mapping[str, Any]], None]
    make: Callable[[Mapping[str, Any], Callable[[str], None]], Executor | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorChoice:
    """The executor that a command line selects.

    Attributes:
        chosen: the options of each product with their values.
    """

    chosen: tuple[tuple[ExecutorOptions, Mapping[str, Any]], ...]

    def check(self) -> None:
        """Check the values.

        Raises:
            click.UsageError: they contradict each other.
        """
        for options, values in self.chosen:
            options.check(values)

    def make(self, *, warn: Callable[[str], None]) -> Executor | None:
        """Return the selected executor; None for the pool of this computer.

        Args:
            warn: called with a message of the executor's.

        Raises:
            HostError: the executor lacks an extra.
        """
        made = (options.make(values, warn) for options, values in self.chosen)
        return next((executor for executor in made if executor is not None), None)


def executor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of all products to a command, which gets an `ExecutorChoice` as `executor`.

    Args:
        command: the function that click calls.
    """
    products: list[ExecutorOptions] = [load_object(name) for name in references_of("executor")]

    @functools.wraps(command)
    def called(**values: Any) -> Any:
        chosen = tuple(
            (product, {name: values.pop(name) for name in product.options}) for product in products
        )
        return command(**values, executor=ExecutorChoice(chosen=chosen))

    for product in reversed(products):
        for option in reversed(tuple(product.options.values())):
            called = option(called)
    return called
