"""What all pages of a report are made with: the templates."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """Return the templates, which escape whatever a study says."""
    return Environment(
        loader=PackageLoader("longfat.output.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
