"""The Jinja2 templates of all pages of a report."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """Return the templates' environment, which escapes all text of a study."""
    return Environment(
        loader=PackageLoader("longfat.output.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
