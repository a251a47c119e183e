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
