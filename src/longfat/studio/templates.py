"""Templates for the page: their parameters, and studies made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.studio.documents import unsaved_document
from longfat.studio.requests import read_json
from longfat.study.templates import TEMPLATES, make_template

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def from_template(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return a template's study as `OpenedDocument` of the page.

    Args:
        name: the template.
        values: its parameters as they were typed, by key; the default for an empty one.

    Raises:
        InputError: there is no such template, or a parameter is invalid.
    """
    if name not in TEMPLATES:
        raise InputError(
            f"there is no template {name!r}{nearest(name, TEMPLATES)} "
            f"(there are: {listed(TEMPLATES)})"
        )
    given = {key: value for key, value in values.items() if value != ""}
    text = make_template(TEMPLATES[name], given).text()
    return unsaved_document(name, text)


def template_routes() -> list[BaseRoute]:
    """Return the routes of templates."""

    async def templates(request: Request) -> Response:
        del request
        return JSONResponse([template.to_json() for template in TEMPLATES.values()])

    async def made(request: Request) -> Response:
        body = await read_json(request)
        return JSONResponse(from_template(body.name("template"), body.object("values")))

    return [
        Route("/api/templates", templates, methods=["GET"]),
        Route("/api/templates", made, methods=["POST"]),
    ]
