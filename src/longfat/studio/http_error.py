"""A client's error with its HTTP status."""

from __future__ import annotations

from http import HTTPStatus

from longfat.errors import InputError


class HttpError(InputError):
    """The request cannot be fulfilled.

    Args:
        message: what was found, and what was expected.
        status: the HTTP status of the response, 4xx.
        is_queued: the request is queued, and is to be repeated in a moment.
    """

    def __init__(self, message: str, *, status: HTTPStatus, is_queued: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_queued = is_queued


def conflict(what: str, *, is_known: bool = True) -> HttpError:
    """Return the error of a save that is based on another version than the one that is stored.

    Args:
        what: what was to be saved.
        is_known: the page has read it before.
    """
    changed = "has changed since it was opened" if is_known else "is there already"
    return HttpError(f"{what} {changed}: overwrite it?", status=HTTPStatus.CONFLICT)
