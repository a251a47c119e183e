"""Tables of the reference in docs/, made from the declarations of fields.

    python -m tools.reference           # writes the tables anew
    python -m tools.reference --check   # says which are not as they would be

A table of fields stands between `<!-- fields: NAME -->` and `<!-- end of fields -->`, one of the
metrics of a tool or probe between `<!-- metrics: NAME -->` and `<!-- end of metrics -->`, and that
of the calls of a session between `<!-- calls -->` and `<!-- end of calls -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from longfat.live.rpc.calls import CALLS
from longfat.model.events import LinkChange
from longfat.model.fields import Field, fields_of
from longfat.model.metric import Metric
from longfat.model.network import (
    Bond,
    CpuCosts,
    Host,
    HostTiming,
    Link,
    LinkImpairments,
    Network,
    Tunnel,
)
from longfat.model.network.addressing import Addressing
from longfat.model.probes import Capture, Queue, Rate, Tcp
from longfat.model.probes.probe import Sampled
from longfat.model.traffic import Cbr, Flow, Iperf3, Ping, Program, Requests, Transfer, Video
from longfat.model.traffic.extraction import Extraction
from longfat.study.drawing import Group
from longfat.study.expand import Settings
from longfat.study.published import SourceSummary
from longfat_class.study.model import Exercise, Grading, Late, Limits, Part

_DOCS = Path(__file__).resolve().parents[1] / "docs"
_TABLE = re.compile(r"(<!-- fields: (\S+) -->\n).*?(<!-- end of fields -->)", re.DOTALL)
_METRICS = re.compile(r"(<!-- metrics: (\S+) -->\n).*?(<!-- end of metrics -->)", re.DOTALL)
_CALLS = re.compile(r"(<!-- calls -->\n).*?(<!-- end of calls -->)", re.DOTALL)


def _own(flow: type[Flow]) -> list[Field]:
    """Return the fields of a tool, without those of all flows."""
    common = fields_of(Flow)
    return [fields_of(flow)[key] for key in flow.study_keys() if key not in common]


TABLES: Mapping[str, Iterable[Field]] = {
    "settings": fields_of(Settings).values(),
    "network": fields_of(Network).values(),
    "addressing": fields_of(Addressing).values(),
    "host": fields_of(Host).values(),
    "timing": fields_of(HostTiming).values(),
    "cpu": fields_of(CpuCosts).values(),
    "link": [*fields_of(LinkImpairments).values(), *fields_of(Link).values()],
    "bond": fields_of(Bond).values(),
    "tunnel": fields_of(Tunnel).values(),
    "flow": fields_of(Flow).values(),
    "iperf3": _own(Iperf3),
    "transfer": _own(Transfer),
    "ping": _own(Ping),
    "requests": _own(Requests),
    "cbr": _own(Cbr),
    "video": _own(Video),
    "program": _own(Program),
    "metric": fields_of(Extraction).values(),
    "event": fields_of(LinkChange).values(),
    "sampled": fields_of(Sampled).values(),
    "capture": fields_of(Capture).values(),
    "group": fields_of(Group).values(),
    "source-summary": fields_of(SourceSummary).values(),
    "grading": fields_of(Grading).values(),
    "late": fields_of(Late).values(),
    "limits": fields_of(Limits).values(),
    "part": fields_of(Part).values(),
    "exercise": fields_of(Exercise).values(),
}

METRICS: Mapping[str, Iterable[Metric]] = {
    **{flow.tool: flow.metrics for flow in (Iperf3, Transfer, Ping, Requests, Cbr, Video)},
    "program": Program(name="load", source="h1", target="h2", run="true").metrics,
    **{probe.kind: probe.target_metrics for probe in (Queue, Tcp, Rate)},
    "capture": Capture.metrics,
}


def table(fields: Iterable[Field]) -> str:
    """Return a Markdown table of fields."""
    rows = ["| field | meaning | allowed | without it |", "|---|---|---|---|"]
    for field in fields:
        cells = (f"`{field.key}`", field.about.help, field.kind.limits, field.without)
        rows.append("| " + " | ".join(cells) + " |")
    return "".join(f"{row}\n" for row in rows)


def metrics_table(metrics: Iterable[Metric]) -> str:
    """Return a Markdown table of metrics and their sources."""
    rows = ["| metric | meaning | file | path | computed |", "|---|---|---|---|---|"]
    for metric in metrics:
        assert metric.source is not None
        file = metric.source.file.replace("{name}", "NAME")
        file = file.replace("{sender}", "SENDER").replace("{receiver}", "RECEIVER")
        cells = (f"`{metric.name}`", metric.title, f"`{file}`", f"`{metric.source.path}`")
        computed = metric.source.describe().replace("|", "\\|")
        rows.append("| " + " | ".join((*cells, computed)) + " |")
    return "".join(f"{row}\n" for row in rows)


def calls_table() -> str:
    """Return a Markdown table of the calls of a session."""
    rows = ["| call | what it does | parameters |", "|---|---|---|"]
    for call in CALLS.values():
        names = [
            f"**{name}**" if one.is_required else name for name, one in call.parameters.items()
        ]
        if call.takes_more:
            names.append("and the tool's [fields](study-format.md#flows)")
        rows.append(f"| `{call.name}` | {call.summary} | {', '.join(names)} |")
    return "".join(f"{row}\n" for row in rows)


def renewed(text: str) -> str:
    """Return a page with its tables made anew."""
    text = _TABLE.sub(lambda found: f"{found[1]}{table(TABLES[found[2]])}{found[3]}", text)
    text = _METRICS.sub(
        lambda match: f"{match[1]}{metrics_table(METRICS[match[2]])}{match[3]}", text
    )
    return _CALLS.sub(lambda found: f"{found[1]}{calls_table()}{found[2]}", text)


def main(arguments: list[str]) -> int:
    """Write or check the tables; the exit status is 1 if a check finds an old one."""
    old = []
    for page in sorted(_DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := renewed(text)) != text:
            old.append(page.name)
            if "--check" not in arguments:
                page.write_text(new, encoding="utf-8")
    if old:
        print(f"tables of fields {'are old' if '--check' in arguments else 'written'}: {old}")
    return 1 if old and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
