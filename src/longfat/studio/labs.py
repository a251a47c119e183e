"""Labs for the page: their titles, and their texts as HTML whose steps can be run."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from longfat.model.network import ROOT_NAMESPACE
from longfat.output.report.text import page_text, place_network
from longfat.study import read_study
from longfat.study.labs import all_labs, find_lab

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


class LabBook:
    """The labs. They do not change while the server runs, so each is read once."""

    def __init__(self) -> None:
        self.entries = cache(self._entries)
        self.text = cache(self._text)

    def _entries(self) -> list[dict[str, str]]:
        """Return them as `LabEntry` of the page's `api/types.ts`."""
        return [{"name": lab.name, "title": read_study(lab.folder).title} for lab in all_labs()]

    def _text(self, name: str) -> dict[str, Any]:
        """Return a lab's text as `LabText` of the page.

        The canvas shows the network, so the text does not.

        Raises:
            InputError: there is no such lab.
        """
        study = read_study(find_lab(name).folder)
        nodes = {ROOT_NAMESPACE}
        for planned in study.cases.values():
            nodes |= {host.name for host in planned.case.network.hosts}
            nodes |= {switch.name for switch in planned.case.network.switches}
        text = page_text(study.text or "", title=study.title, steps_at=nodes)
        # A column of names has no name itself, which a heading must have.
        html = place_network(text.html, Markup("")).replace("<th></th>", "<td></td>")
        return {"name": name, "title": study.title, "html": html}


def lab_routes(book: LabBook) -> list[BaseRoute]:
    """Return the routes of labs."""

    async def labs(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(book.entries))

    async def lab(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(book.text, request.path_params["name"]))

    return [
        Route("/api/labs", labs, methods=["GET"]),
        Route("/api/labs/{name}", lab, methods=["GET"]),
    ]
