"""A refusal: the asker's error, with the HTTP status that tells of which kind it is."""

from __future__ import annotations

from http import HTTPStatus

from longfat.errors import InputError


class Refusal(InputError):  # noqa: N818  an answer as much as an error
    """What was asked cannot be done, and a status says in which way.

    Args:
        message: what was found, and what would be right.
        status: the answer's HTTP status, 4xx.
        is_queued: the asker waits for something, and is to ask again in a moment.
    """

    def __init__(self, message: str, *, status: HTTPStatus, is_queued: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_queued = is_queued
