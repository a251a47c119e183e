"""`longfat images`: the unpacked images in the cache, and removing them."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import click

from longfat.cli.console import echo, stderr, stdout
from longfat.cli.group import Group
from longfat.cli.options import json_option
from longfat.cli.render.number_text import format_age, parse_age_s
from longfat.cli.render.tables import plain_table, print_table
from longfat.engine.images import Unpacked, forget_folders, remove_image, unpacked_images
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity, parse_size_bytes

_SHOWN = 12
_PREFIX = re.compile("[0-9a-f]{6,64}")

_AS_JSON = json_option("Print the answer as JSON.")


@click.group(cls=Group)
def images() -> None:
    """List and remove unpacked images, the root files of hosts.

    A study with `root:` unpacks its images into longfat's cache, where they stay. One that was
    removed is unpacked again by the next study that names it. Remove none while it is run.
    """


@images.command("list")
@_AS_JSON
def list_(*, as_json: bool) -> None:
    """List the images in the cache, the one that was used last first."""
    _print(unpacked_images(), as_json=as_json)


@images.command()
@click.argument("names", nargs=-1, required=True, metavar="DIGEST|FILE...")
@_AS_JSON
def remove(*, names: tuple[str, ...], as_json: bool) -> None:
    """Remove the images with these digests, or that were read from these files."""
    there = unpacked_images()
    chosen = {one.digest: one for name in names for one in _named(name, there)}
    _remove(list(chosen.values()), dry_run=False, as_json=as_json)


@images.command()
@click.option("--keep", metavar="SIZE", help="Keep the images used last, up to this size: 10GB.")
@click.option("--older", metavar="TIME", help="Remove what was not used for so long: 30d, 12h.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@_AS_JSON
def gc(*, keep: str | None, older: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove old images, those used longest ago first."""
    if keep is None and older is None:
        raise click.UsageError("select what to remove: --keep SIZE or --older TIME")
    keep_bytes = None if keep is None else parse_size_bytes(keep)
    before_s = None if older is None else time.time() - parse_age_s(older, option="--older")
    chosen, kept_bytes = [], 0
    for one in unpacked_images():
        is_old = before_s is not None and one.used_s < before_s
        if is_old or (keep_bytes is not None and kept_bytes + one.size_bytes > keep_bytes):
            chosen.append(one)
        else:
            kept_bytes += one.size_bytes
    _remove(chosen, dry_run=dry_run, as_json=as_json)


def _named(name: str, there: list[Unpacked]) -> list[Unpacked]:
    digest = name.removeprefix("sha256:")
    found = [
        one
        for one in there
        if (_PREFIX.fullmatch(digest) and one.digest.startswith(digest))
        or (one.source and (one.source == name or one.source.endswith(f"/{name}")))
    ]
    if not found:
        raise InputError(
            f"there is no image {name} in the cache: name one by six digits of its digest or more, "
            "or by its file (longfat images list)"
        )
    return found


def _remove(chosen: list[Unpacked], *, dry_run: bool, as_json: bool) -> None:
    if not dry_run:
        for one in chosen:
            remove_image(one)
        forget_folders()
    if as_json:
        document = {"removed": [_document(one) for one in chosen], "dry_run": dry_run}
        echo(json.dumps(document, indent=2))
        return
    for one in chosen:
        verb = "would be removed" if dry_run else "removed"
        echo(f"{one.digest[:_SHOWN]} {verb}: {_size(one)}, {one.source or 'unknown source'}")
    if not chosen:
        stderr().print("nothing to remove")


def _print(found: list[Unpacked], *, as_json: bool) -> None:
    if as_json:
        echo(json.dumps([_document(one) for one in found], indent=2))
        return
    if not found:
        stderr().print("no image is unpacked")
        return
    table = plain_table("digest", "size", "used", "from")
    for one in found:
        age = format_age(max(0.0, time.time() - one.used_s))
        table.add_row(one.digest[:_SHOWN], _size(one), f"{age} ago", one.source or "unknown source")
    print_table(table, console=stdout())


def _size(one: Unpacked) -> str:
    return format_quantity(one.size_bytes, Unit.BYTES)


def _document(one: Unpacked) -> dict[str, Any]:
    return {
        "digest": one.digest,
        "source": one.source,
        "size_bytes": one.size_bytes,
        "used_s": one.used_s,
        "folder": str(one.folder),
    }
