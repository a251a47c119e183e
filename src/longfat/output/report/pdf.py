"""The report on paper, by WeasyPrint: the same content as the page, as a PDF.

WeasyPrint needs the system's Pango. Without it, or without a font, there is
no PDF, and everything else is unchanged.
"""

from __future__ import annotations

import contextlib
import ctypes.util
import io
import logging
import os
from collections.abc import Iterator
from typing import Any

from longfat.common.extras import EXTRAS
from longfat.common.installing import install_command
from longfat.errors import HostError


def pdf_bytes(html: str) -> bytes:
    """Return a page as a PDF; equal pages give equal bytes.

    Args:
        html: the page, which needs no other files.

    Raises:
        HostError: WeasyPrint or Pango is missing.
    """
    weasyprint = load_weasyprint()
    # A self-contained page fetches nothing, neither files nor addresses.
    fetcher = weasyprint.URLFetcher(allowed_protocols={"data"})
    document = weasyprint.HTML(string=html, url_fetcher=fetcher, base_url=None)
    with _no_date():
        made: bytes = document.write_pdf(pdf_tags=True)
    return made


@contextlib.contextmanager
def _no_date() -> Iterator[None]:
    """Keep today's date out of the fonts in the PDF.

    fontTools writes it there unless this variable of reproducible builds specifies another:
    https://reproducible-builds.org/specs/source-date-epoch/
    """
    name = "SOURCE_DATE_EPOCH"
    before = os.environ.get(name)
    os.environ[name] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def _no_library_search() -> Iterator[None]:
    """Keep the standard library from looking for shared libraries with a compiler.

    WeasyPrint tries several names of each library, one of which the loader finds. For
    each that it does not find, Python would start gcc and ld, some thirty processes in
    all, which take a second and leave files in /tmp if they are killed.
    """
    search = ctypes.util.find_library
    ctypes.util.find_library = lambda name: None  # noqa: ARG005
    try:
        yield
    finally:
        ctypes.util.find_library = search


def load_weasyprint() -> Any:
    """Return the module, which is heavy.

    Raises:
        HostError: it or a library that it needs is missing.
    """
    try:
        # Where a library is missing it prints to stdout, which is for results.
        with contextlib.redirect_stdout(io.StringIO()), _no_library_search():
            import weasyprint  # noqa: PLC0415
    except ImportError as error:
        raise HostError(
            f"no report.pdf: the Python package weasyprint cannot be imported: {error}",
            hint="pip install --force-reinstall weasyprint",
        ) from None
    except OSError as error:
        name = str(error).partition("'")[2].partition("'")[0] or str(error)
        raise HostError(
            f"no report.pdf: the library {name} is missing",
            hint=install_command(*EXTRAS["report"].packages),
        ) from None
    # Its warnings about unsupported CSS are of no use to the user.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    return weasyprint
