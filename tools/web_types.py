"""The TypeScript types of the values that the studio's server and page exchange.

    python -m tools.web_types           # writes web/src/api/types.ts anew
    python -m tools.web_types --check   # only says whether it would change

It writes the declared fields for the page's tests, too: see `tools.web_fields`.

They come from the server's declarations: a dataclass or `TypedDict` becomes an interface, an
alias of literals or a union becomes a type, and the `Attributes` of a docstring become
comments, with the unit of a field that its name has (`_s`, `_bps`, `_bytes`, `_ns`).
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, Required

from longfat.analysis.packets import records
from longfat.model.network import LinkImpairments, Policer
from longfat.output.report import charts, panel_data
from longfat.studio import (
    app,
    documents,
    drafts,
    formats,
    http,
    job,
    jobs,
    labs,
    packets,
    progress,
    runs,
    saved_runs,
    study_view,
    views,
)
from longfat.studio.live import events, files, messages, series
from longfat.studio.live import routes as live_routes
from longfat.study.repair import Edit
from longfat_class.studio.assignments import events as exercises
from longfat_class.studio.assignments import routes as exercise_routes
from tools import web_fields

FILE = Path(__file__).resolve().parents[1] / "web/src/api/types.ts"

# By subject: the declarations, each with its name in TypeScript where that is another one.
SUBJECTS: Mapping[str, tuple[tuple[types.ModuleType, str], ...]] = {
    "Errors and problems": (
        (http, "Problem ErrorAnswer"),
    ),
    "Declared fields, for forms and labels (GET /api/state)": (
        (views, "FieldInfo Fields"),
    ),
    "The result of checking a document's text (POST /api/check)": (
        (study_view, "CheckedInterface CheckedRoute CheckedHost CheckedSwitch CheckedLink"),
        (study_view, "CheckedNetwork CheckedFlow CheckedProbe CheckedCase CheckedClaim"),
        (study_view, "CheckedStudy CheckResult"),
    ),
    "Files and documents (/api/files, /api/document, /api/templates)": (
        (formats, "FileKind FileEntry"),
        (documents, "StudyRequest DocumentRequest OpenedDocument"),
        (documents, "SaveDocumentRequest SavedDocument"),
        (documents, "ExportRequest ExportedDocument TemplateRequest"),
        (documents, "TemplateParameter TemplateInfo=Template"),
    ),
    "Documents that are being edited (/api/drafts, /ws/drafts)": (
        (drafts, "DraftStep DraftFields NewDraftRequest ChangeDraftRequest"),
        (drafts, "ImportReport Draft ServerIdentity DraftList=Drafts ChangedDraft DraftsEvent"),
        (drafts, "DraftChangedEvent DraftForgottenEvent DraftEvent"),
    ),
    "Labs (/api/labs)": (
        (labs, "TextLanguage LabEntry LabText"),
    ),
    "Studies that are run as a whole (/api/jobs, /ws/jobs)": (
        (job, "JobRequest CaseState JobState JobCase"),
        (views, "ClaimRow TableRow Table"),
        (job, "JobInfo"),
        (jobs, "JobEvent"),
    ),
    "Saved runs (/api/runs, /api/diagnosis, /api/losses)": (
        (saved_runs, "RunResult RunEntry"),
        (views, "SetupLine StudyValue Fix Advice"),
        (runs, "RunDiagnosis"),
        (runs, "RunLoss"),
    ),
    "Charts of runs over time (/api/panels, and in pages of reports)": (
        (panel_data, "PanelTrace PanelLine PanelLevel PanelMoment PanelData"),
    ),
    "Charts of a report's page": (
        (charts, "Stop TimeSpec PhaseTraceData=PhaseTrace PhaseSpec AxisSpec SeriesSpec MarkSpec"),
        (charts, "FacetSpec GridSpec HeatAxis HeatColour HeatFacetSpec HeatSpec ChartSpec"),
        (charts, "ReportCharts"),
    ),
    "Captures and their decoded packets (/api/captures, /api/packets, ...)": (
        (packets, "SavedCapture PacketPlace PacketText"),
        (records, "PacketDecoder PacketEnd PacketStream PacketCapture StreamRef TcpFields"),
        (records, "PacketRow PacketPage FollowedPiece SentSegments Acknowledgements TimeSequence"),
    ),
    "Progress in labs (/api/labs/NAME/progress, /ws/progress)": (
        (progress, "StepProgress AnswerProgress ExerciseProgress LabProgress ProgressSummary"),
        (progress, "ProgressRequest ProgressChange AllProgressEvent ProgressChangedEvent"),
        (progress, "ProgressForgottenEvent ProgressEvent"),
    ),
    "A lab's exercises (/api/labs/NAME/exercises)": (
        (exercises, "PartKindName CheckState ExerciseFile ExerciseAnswer ExercisePart"),
        (exercises, "ExerciseInfo=Exercise CheckCountInfo=CheckCount ExerciseCheck Exercises"),
        (exercise_routes, "PartRequest AnswerRequest CheckRequest HintRequest"),
        (exercises, "SavedInput PartEvent AnswerSavedEvent CheckEvent ExerciseEvent"),
    ),
    "Live sessions: start (POST /api/sessions)": (
        (live_routes, "SessionRequest"),
    ),
    "Live sessions: events on /ws/sessions/ID": (
        (messages, "PaceChoice"),
        (events, "ClockState FlowState NodeKind NodeInfo SessionInfo Clock FlowResult LiveFlow"),
        (series, "SeriesKind SeriesUnit SeriesInfo SeriesEntry SeriesHeader"),
        (events, "Mark Level RecordingInfo=Recording TerminalInfo CaptureInfo=LiveCapture"),
        (events, "StateEvent ClockEvent RecordingEvent TerminalEvent TypedEvent CapturesEvent"),
        (events, "StaleEvent RestartNeededEvent MessageEvent AnswerEvent LiveLoss"),
        (events, "LossesEvent EndedEvent SessionEvent"),
        (files, "SessionFile"),
    ),
    "Live sessions: sizes on /ws/sessions/ID/terminals/N": (
        (messages, "TerminalSize"),
    ),
    "The server's state (GET /api/state)": (
        (app, "LogOutRequest KernelInfo ServerState"),
    ),
}  # fmt: skip
# Declared in packages that do not know the page.
OTHERS = {Policer: "Policer", LinkImpairments: "LinkImpairments", Edit: "RepairEdit"}

_SIMPLE = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
_UNITS = {"_s": "in seconds", "_ns": "in nanoseconds", "_bps": "in bit/s", "_bytes": "in bytes"}
_WIDTH = 120
_HEAD = """\
/**
 * The values that server and page exchange, by subject. Generated from the declarations in
 * `longfat.studio`: do not edit, run `python -m tools.web_types`.
 *
 * Times are seconds of virtual time since the machine's boot unless stated otherwise; rates are
 * bit/s, sizes bytes.
 */
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """A declaration.

    Attributes:
        subject: its subject.
        kind: the class or alias.
        name: its name in Python.
        shown: its name in TypeScript.
        comment: the text below an alias.
    """

    subject: str
    kind: Any
    name: str
    shown: str
    comment: str = ""


def _declared() -> Iterator[_Declared]:
    for kind, name in OTHERS.items():
        yield _Declared(subject="Values of the model", kind=kind, name=kind.__name__, shown=name)
    for subject, groups in SUBJECTS.items():
        for module, words in groups:
            for word in words.split():
                name, _, shown = word.partition("=")
                yield _Declared(
                    subject=subject,
                    kind=getattr(module, name),
                    name=name,
                    shown=shown or name,
                    comment=_alias_comment(module, name),
                )


def _alias_comment(module: types.ModuleType, name: str) -> str:
    """Return the text below an alias."""
    source = inspect.getsource(module)
    found = re.search(rf'^{name}: TypeAlias = .*?\n"""(.*?)"""', source, re.DOTALL | re.MULTILINE)
    return "" if found is None else " ".join(found[1].split())


_NAMES = {one.kind: one.shown for one in _declared()}
# Modules import some declarations for types only.
_PYTHON_NAMES = {one.name: one.kind for one in _declared()}


def typescript() -> str:
    """Return the file."""
    parts = [_HEAD]
    last = ""
    for one in _declared():
        if one.subject != last:
            parts.append(f"// {'-' * 80}\n// {one.subject}\n")
            last = one.subject
        parts.append(_declaration(one.shown, one.kind, one.comment))
    parts.append(_commands())
    return "\n".join(parts)


def _declaration(name: str, kind: Any, comment: str) -> str:
    if not _has_fields(kind):
        return f"{_comment(comment)}export type {name} = {_type(kind, whole=True)};\n"
    base = _base(kind)
    if base not in _NAMES:
        base = None
    about, described = _described(kind)
    inherited = set() if base is None else set(_fields(base))
    lines = [
        _field(field, value, described.get(field, ""), is_optional=is_optional)
        for field, (value, is_optional) in _fields(kind).items()
        if field not in inherited
    ]
    extends = "" if base is None else f" extends {_NAMES[base]}"
    return f"{_comment(about)}export interface {name}{extends} {{\n{''.join(lines)}}}\n"


def _commands() -> str:
    lines = []
    for name, kind in messages.COMMANDS.items():
        about, described = _described(kind)
        fields = "".join(
            f"; {field}{'?' if is_optional else ''}: {_type(value)}"
            for field, (value, is_optional) in _fields(kind).items()
        )
        notes = [f"`{field}`: {text}" for field, text in described.items()]
        lines.append(_comment(" ".join([about, *notes]), indent=2))
        lines.append(f'  | {{ do: "{name}"{fields} }}\n')
    head = f"// {'-' * 80}\n// Live sessions: commands on /ws/sessions/ID\n\n"
    return head + "export type SessionOrder =\n" + "".join(lines).rstrip() + ";\n"


def _base(kind: Any) -> Any:
    """Return the declaration that one extends; None if there is none."""
    # The class of a TypedDict does not know it before Python 3.12.
    module = sys.modules[kind.__module__]
    head = rf"^class {kind.__name__}\((\w+)"
    found = re.search(head, inspect.getsource(module), re.MULTILINE)
    base = None if found is None else getattr(module, found[1], None)
    return base if _has_fields(base) else None


def _has_fields(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)


def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field, and whether it may be absent."""
    hints = typing.get_type_hints(kind, include_extras=True, localns=_PYTHON_NAMES)
    if typing.is_typeddict(kind):
        return {
            name: (_bare(value), name in kind.__optional_keys__ or _is_optional(value))
            for name, value in hints.items()
        }
    return {
        one.name: (hints[one.name], kind in _REQUESTS and not _is_required(one))
        for one in dataclasses.fields(kind)
    }


# What the page sends may leave out what has a default; what the server sends has all fields.
_REQUESTS = frozenset(
    {
        *messages.COMMANDS.values(),
        *(one.kind for one in _declared() if one.name.endswith("Request")),
        drafts.DraftStep,
    }
)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _is_optional(value: Any) -> bool:
    return typing.get_origin(value) is NotRequired


def _bare(value: Any) -> Any:
    if typing.get_origin(value) in (NotRequired, Required):
        return typing.get_args(value)[0]
    return value


def _type(kind: Any, *, whole: bool = False) -> str:
    if not whole and kind in _NAMES:
        return _NAMES[kind]
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _type(arguments[0])
    if origin is Literal:
        return " | ".join(f'"{one}"' for one in arguments)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_members(arguments))
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        item = _type(arguments[0])
        return f"({item})[]" if " | " in item else f"{item}[]"
    if origin is tuple:
        return f"[{', '.join(_type(one) for one in arguments)}]"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"Record<string, {_type(arguments[1])}>"
    raise TypeError(f"{kind} has no type in TypeScript: add its declaration")


def _members(kinds: Iterable[Any]) -> list[str]:
    """Return the members of a union, of which an alias of a union may be a part."""
    kinds = list(kinds)
    for alias, name in _NAMES.items():
        parts = typing.get_args(alias)
        is_union = typing.get_origin(alias) in (typing.Union, types.UnionType)
        if is_union and parts != tuple(kinds) and set(parts) <= set(kinds):
            return [name, *_members([one for one in kinds if one not in parts])]
    return list(dict.fromkeys(_type(one) for one in kinds))


def _described(kind: Any) -> tuple[str, dict[str, str]]:
    """Return a declaration's description, and those of its fields."""
    text = inspect.cleandoc(kind.__doc__ or "")
    about, _, attributes = text.partition("Attributes:\n")
    fields: dict[str, str] = {}
    for line in attributes.splitlines():
        if found := re.match(r" {4}(\w+): (.*)", line):
            fields[name := found[1]] = found[2]
        elif line.strip():
            fields[name] += f" {line.strip()}"
        else:
            break
    if (base := _base(kind)) is not None:
        fields = _described(base)[1] | fields
    return " ".join(about.split()), fields


def _field(name: str, kind: Any, text: str, *, is_optional: bool) -> str:
    unit = next((words for ending, words in _UNITS.items() if name.endswith(ending)), "")
    if unit and not any(word in text for word in ("second", "bit/s", "bytes", "likewise")):
        first, mark, rest = text.partition(";")
        text = f"{first.removesuffix('.')}, {unit}{mark}{rest or '.'}"
    shown = text[:1].upper() + text[1:]
    shown = shown if not shown or shown.endswith(".") else f"{shown}."
    optional = "?" if is_optional else ""
    return f"{_comment(shown, indent=2)}  {name}{optional}: {_type(kind)};\n"


def _comment(text: str, *, indent: int = 0) -> str:
    before = " " * indent
    text = re.sub(r"(^|\. )None\b", r"\1Null", text).replace("None", "null")
    if not text:
        return ""
    if len(line := f"{before}/** {text} */") <= _WIDTH:
        return f"{line}\n"
    lines, current = [], ""
    for word in text.split():
        if current and len(before) + 3 + len(current) + 1 + len(word) > _WIDTH:
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}".strip()
    lines.append(current)
    body = "".join(f"{before} * {line}\n" for line in lines)
    return f"{before}/**\n{body}{before} */\n"


def main(arguments: list[str]) -> int:
    """Write or check the files; the exit status is 1 if a check finds an old one."""
    texts = {FILE: typescript(), web_fields.FILE: web_fields.typescript()}
    old = {
        file: text
        for file, text in texts.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    }
    for file, text in old.items():
        if "--check" in arguments:
            print(f"{file.name} is old: run python -m tools.web_types")
        else:
            file.write_text(text, encoding="utf-8")
            print(f"{file.name} written")
    return int(bool(old) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
