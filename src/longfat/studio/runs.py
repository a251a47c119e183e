"""The routes of runs: lists, figures, diagnoses, reports, and pages to share.

A page of runs is the report of their study, as one self-contained file. A folder of runs contains
their study, if a job of the studio made them; then its claims, published values and text are in
the report. Runs of several studies, or of an unknown one, get a report without these.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.losses import losses
from longfat.analysis.verdict import evaluate
from longfat.engine import kernel as kernels
from longfat.engine.kernel.version import NEWEST, series_of
from longfat.errors import InputError, LongfatError
from longfat.model.host_root import HostRoot
from longfat.output.report.files import report_page
from longfat.output.report.record import PAGE, PAPER
from longfat.studio.documents import OpenedDocument, unsaved_document
from longfat.studio.http import HttpError, JsonAnswer, query_languages, query_text, query_texts
from longfat.studio.live.events import RecordingInfo
from longfat.studio.saved_runs import (
    SavedRuns,
    check_saved,
    delete_saved,
    is_live,
    load_saved,
    run_recording,
    saved_recording,
    saved_series,
)
from longfat.studio.threads import STUDIO_LIMITS, run_in_threadpool
from longfat.studio.views import Advice, advice_of, panels_of
from longfat.study import STUDY_FILE, Planned, Study
from longfat.study.document import MAX_FILE_BYTES
from longfat.study.file_reader import empty_files
from longfat.study.formats.write import study_text
from longfat.study.read import parse_study
from longfat.study.text import ANY, LANGUAGES, LanguageChoice, StudyText, text_file_name

if TYPE_CHECKING:
    import threading
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request

    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.output.report.panel_data import PanelData
    from longfat.studio.workspace import Workspace
    from longfat.study.text import LanguageChoice


def shared_page(
    runs: Sequence[Run], *, workspace: Workspace, language: LanguageChoice = ANY
) -> str:
    """Return the page.

    Args:
        runs: the runs; at least one, all of the workspace.
        workspace: the workspace.
        language: the language of the study's text, if it has one.

    Raises:
        InputError: a file of a run is missing or broken.
        MachineError: a tool's output cannot be read.
    """
    cases = _by_case(runs)
    study = _their_study(cases, workspace=workspace, language=language) or _bare_study(cases)
    in_order = {name: cases[name] for name in study.cases if name in cases}
    return report_page(evaluate(study, in_order))


def study_of(runs: Sequence[Run], *, workspace: Workspace) -> Study | None:
    """Return the study that runs are of, as stored with them; None if it is unknown.

    Args:
        runs: the runs; at least one, all of the workspace.
        workspace: where they are.
    """
    return _their_study(_by_case(runs), workspace=workspace, language=ANY)


def case_order(runs: Sequence[Run], *, workspace: Workspace) -> tuple[str, ...]:
    """Return the names of all cases of the study that runs are of, in its order.

    Args:
        runs: the runs; at least one.
        workspace: where they are.

    Returns:
        The names; empty if the study is unknown or has changed.
    """
    study = study_of(runs, workspace=workspace)
    return tuple(study.cases) if study is not None else ()


def _by_case(runs: Sequence[Run]) -> dict[str, tuple[Run, ...]]:
    """Group runs by case, under distinct names."""
    groups: dict[tuple[Path, str, Case], dict[int, Run]] = {}
    for run in runs:
        groups.setdefault((run.folder.parent, run.name, _unseeded(run.case)), {})[run.seed] = run
    found: dict[str, tuple[Run, ...]] = {}
    names = [name for _, name, _ in groups]
    for (folder, name, _), of in groups.items():
        label = name if names.count(name) == 1 else f"{folder.name}-{name}"
        while label in found:
            label += "-too"
        found[label] = tuple(of[seed] for seed in sorted(of))
    return found


def _their_study(
    cases: Mapping[str, tuple[Run, ...]], *, workspace: Workspace, language: LanguageChoice
) -> Study | None:
    """Return the common study of these runs; None if it is unknown or has changed."""
    folders = {run.folder.parent for runs in cases.values() for run in runs}
    if len(folders) != 1:
        return None
    place = folders.pop().relative_to(workspace.root).as_posix()
    with contextlib.suppress(InputError, UnicodeDecodeError):
        kept = _kept_text(workspace, f"{place}/{STUDY_FILE}") or ""
        # The files beside the study are not stored; the cases of the runs have their contents.
        study = parse_study(kept, name=STUDY_FILE, beside=empty_files, limits=STUDIO_LIMITS)
        if all(_fits(study.cases.get(name), runs) for name, runs in cases.items()):
            name = Path(place).name
            text = _kept_study_text(workspace, place, language)
            return replace(study, name=name, file=Path(name), text=text)
    return None


def _kept_study_text(
    workspace: Workspace, place: str, language: LanguageChoice
) -> StudyText | None:
    kept = {code: _kept_text(workspace, f"{place}/{text_file_name(code)}") for code in LANGUAGES}
    there = {code: text for code, text in kept.items() if text is not None}
    code = language.choose(there, of=place)
    return None if code is None else StudyText(markdown=there[code], language=code)


def _kept_text(workspace: Workspace, path: str) -> str | None:
    content = workspace.read_or_none(path, most_bytes=MAX_FILE_BYTES)
    return None if content is None else content.decode("utf-8-sig")


def _fits(planned: Planned | None, runs: Sequence[Run]) -> bool:
    """Return whether runs are of a case, with any seeds."""
    if planned is None:
        return False
    return all(_comparable(run.case) == _comparable(planned.case) for run in runs)


def _comparable(case: Case) -> Case:
    hosts = tuple(
        replace(host, root=host.root and HostRoot(image=host.root.image))
        for host in case.network.hosts
    )
    return replace(
        _unseeded(case),
        files=tuple(replace(one, content=b"") for one in case.files),
        packages=(),  # a lock file is one of these files, and not read here
        network=replace(case.network, hosts=hosts),
    )


def _unseeded(case: Case) -> Case:
    return replace(case, seed=0)


def _bare_study(cases: Mapping[str, tuple[Run, ...]]) -> Study:
    """Return a minimal study, built from the runs only."""
    folders = dict.fromkeys(run.folder.parent.name for runs in cases.values() for run in runs)
    name = ", ".join(folders)
    return Study(
        name=name,
        file=Path(name),
        title=f"Runs of {name}",
        cases={
            label: Planned(case=runs[0].case, title=label, seeds=len(runs))
            for label, runs in cases.items()
        },
        common=None,
        claims=(),
        published=None,
    )


REPORT_POLICY = "; ".join(
    (
        # A report is a file of the workspace: it has an opaque origin, without our cookie.
        "sandbox allow-scripts allow-downloads allow-popups",
        "default-src 'none'",
        # Its own policy, in the page, allows only scripts with the listed hashes.
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)
"""The policy of a report shown by the studio."""

_TYPES = {PAGE: "text/html; charset=utf-8", PAPER: "application/pdf"}
_MAX_REPORT_BYTES = 256 * 1024**2
_MAX_RUNS = 1000
_ODD = re.compile(r"[^\w.-]+", re.ASCII)


def run_routes(workspace: Workspace, *, drawing: threading.Lock) -> list[BaseRoute]:
    """Return the routes of runs.

    Args:
        workspace: where the runs are.
        drawing: a lock held while figures are drawn, which is not thread-safe.
    """
    kept = SavedRuns(workspace)

    async def listed(request: Request) -> Response:
        search = query_text(request, "search") or ""
        return JSONResponse(await run_in_threadpool(kept.entries, search=search))

    async def panels(request: Request) -> Response:
        paths = query_texts(request, "runs")
        return JSONResponse(await run_in_threadpool(_figures, workspace, paths))

    async def share(request: Request) -> Response:
        paths = query_texts(request, "runs")
        language = query_languages(request)
        name, content = await run_in_threadpool(_shared, workspace, paths, language, drawing)
        answer = _report(content.encode(), _TYPES[PAGE])
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}.html"'
        return answer

    async def report(request: Request) -> Response:
        path: str = request.path_params["path"]
        kind = _TYPES.get(path.rpartition("/")[2])
        if kind is None:
            raise HttpError(f"{path}: no report", status=HTTPStatus.NOT_FOUND)
        content = await run_in_threadpool(workspace.read, path, most_bytes=_MAX_REPORT_BYTES)
        return _report(content, kind)

    async def study(request: Request) -> Response:
        (path, *_) = query_texts(request, "run")
        return JSONResponse(await run_in_threadpool(_as_study, workspace, path))

    async def recording(request: Request) -> Response:
        (path, *_) = query_texts(request, "run")
        return JsonAnswer(await run_in_threadpool(lambda: _recording(workspace, path)[0]))

    async def recording_series(request: Request) -> Response:
        (path, *_) = query_texts(request, "run")
        _, series = await run_in_threadpool(_recording, workspace, path)
        content = await run_in_threadpool(series)
        return Response(content, media_type="application/octet-stream")

    return [
        Route("/api/runs", listed, methods=["GET"]),
        _delete_route(workspace),
        Route("/api/recording", recording, methods=["GET"]),
        Route("/api/recording-series", recording_series, methods=["GET"]),
        Route("/api/run-study", study, methods=["GET"]),
        Route("/api/panels", panels, methods=["GET"]),
        Route("/api/diagnosis", _of_run(_diagnoses, workspace), methods=["GET"]),
        Route("/api/losses", _of_run(_losses, workspace), methods=["GET"]),
        Route("/api/share", share, methods=["GET"]),
        Route("/api/report/{path:path}", report, methods=["GET"]),
    ]


def _delete_route(workspace: Workspace) -> BaseRoute:
    async def delete(request: Request) -> Response:
        for path in query_texts(request, "runs"):
            await run_in_threadpool(delete_saved, workspace, path)
        return JSONResponse({})

    return Route("/api/runs", delete, methods=["DELETE"])


def _report(content: bytes, kind: str) -> Response:
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(content, media_type=kind, headers=headers)


def _load_all(workspace: Workspace, paths: tuple[str, ...]) -> list[Run]:
    if len(paths) > _MAX_RUNS:
        raise InputError(f"{len(paths)} runs at once: choose at most {_MAX_RUNS}")
    return [load_saved(workspace, path) for path in paths]


def _figures(workspace: Workspace, paths: tuple[str, ...]) -> list[PanelData]:
    with workspace.relative_paths():
        runs = _load_all(workspace, paths)
        cases = case_order(runs, workspace=workspace)
        if all(run.name in cases for run in runs):
            runs.sort(key=lambda run: cases.index(run.name))
        return panels_of(runs, cases)


def _as_study(workspace: Workspace, path: str) -> OpenedDocument:
    """Return a run as a study."""
    with workspace.relative_paths():
        run = load_saved(workspace, path)
        warnings: list[str] = []
        if is_live(run):  # with the changes made by hand
            check_saved(run)
            text = workspace.read(f"{path}/{STUDY_FILE}", most_bytes=MAX_FILE_BYTES).decode()
            warnings = saved_recording(workspace, path)["left_out"]
        else:
            title = f"{run.study or run.folder.parent.name}: {run.name}"
            kept = study_of([run], workspace=workspace)
            layout, drawing = (kept.layout, kept.drawing) if kept else (None, None)
            case = run.case
            if case.kernel == NEWEST:
                case = replace(case, kernel=series_of(run.kernel["release"]))
            text = study_text(title=title, case=case, layout=layout, drawing=drawing)
    warnings = [*warnings, *_kernel_warnings(run)]
    name = f"{run.folder.parent.name.removesuffix('-live')} {run.name}"
    return unsaved_document(name, text, warnings)


def _kernel_warnings(run: Run) -> list[str]:
    """Return a warning if a run's kernel is not the one that its case would get now."""
    release = run.kernel["release"]
    version = series_of(release) if run.case.kernel == NEWEST else run.case.kernel
    try:
        kernel = kernels.find(version)
    except LongfatError as error:
        return [f"this run was made with Linux {release}, which cannot be used here: {error}"]
    if kernel.digest == run.kernel["digest"]:
        return []
    other = f"Linux {kernel.release}"
    if kernel.release == release:
        other = "another build of it"
    return [f"this run was made with Linux {release}; here it runs on {other}"]


def _recording(workspace: Workspace, path: str) -> tuple[RecordingInfo, Callable[[], bytes]]:
    """Return a run as a recording, and what returns its series."""
    with workspace.relative_paths():
        run = load_saved(workspace, path)
        if is_live(run):
            check_saved(run)
            saved = cast("RecordingInfo", {**saved_recording(workspace, path), "kept": path})
            return saved, lambda: saved_series(workspace, path)
        found = run_recording(run)
        return found.to_json(kept=path), found.series


def _of_run(
    read: Callable[[Workspace, str], Any], workspace: Workspace
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of what is read of one run, which the query `run` names."""

    async def endpoint(request: Request) -> Response:
        (path, *_) = query_texts(request, "run")
        return JSONResponse(await run_in_threadpool(read, workspace, path))

    return endpoint


class RunDiagnosis(TypedDict):
    """What limited a flow of a run.

    Attributes:
        flow: its name.
        advice: what limited it.
    """

    flow: str
    advice: Advice


def _diagnoses(workspace: Workspace, path: str) -> list[RunDiagnosis]:
    """Return what limited a run's flows."""
    with workspace.relative_paths():
        found = diagnose(load_saved(workspace, path))
    return [{"flow": one.flow, "advice": advice_of(one)} for one in found]


class RunLoss(TypedDict):
    """Packets that a run lost at one place, for one cause, of one flow.

    Attributes:
        packets: their number.
        place: the interface or node that dropped them.
        cause: why, with the qdisc that did.
        meaning: what the cause means.
        flow: the flow, and its direction.
        first_s: when the first was dropped, in seconds after the traffic's start.
        last_s: when the last was dropped, likewise.
    """

    packets: int
    place: str
    cause: str
    meaning: str
    flow: str
    first_s: float
    last_s: float


def _losses(workspace: Workspace, path: str) -> list[RunLoss]:
    """Return where a run lost packets, the most first."""
    with workspace.relative_paths():
        run = load_saved(workspace, path)
        return [
            {
                "packets": loss.packets,
                "place": loss.place,
                "cause": loss.cause_text,
                "meaning": loss.explanation,
                "flow": loss.way,
                "first_s": max(loss.first_s, 0.0),
                "last_s": max(loss.last_s, 0.0),
            }
            for loss in losses(run)
            if loss.cause.is_loss
        ]


def _shared(
    workspace: Workspace,
    paths: tuple[str, ...],
    language: LanguageChoice,
    drawing: threading.Lock,
) -> tuple[str, str]:
    """Return the name of a page of runs, and the page."""
    with workspace.relative_paths():
        runs = _load_all(workspace, paths)
        with drawing:
            page = shared_page(runs, workspace=workspace, language=language)
    return _ODD.sub("-", runs[0].folder.parent.name), page
