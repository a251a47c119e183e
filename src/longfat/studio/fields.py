"""The declared fields, for the page's forms: `Fields` of its `api/types.ts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.model.fields import fields_of
from longfat.model.network import Host, HostTiming, Link, LinkImpairments, Network
from longfat.model.traffic import FLOWS, Flow

if TYPE_CHECKING:
    from longfat.model.fields import Field


def form_fields() -> dict[str, Any]:
    """Return the fields of networks, hosts, links and flows, including those of plug-ins."""
    common = fields_of(Flow)
    hosts = [*fields_of(Host).values(), *fields_of(HostTiming).values()]
    return {
        "network": [_info(field) for field in fields_of(Network).values()],
        # A host that forwards is a router, which is a separate kind of node on the page.
        "host": [_info(field) for field in hosts if field.kind.form != "flag"],
        "direction": [_info(field) for field in fields_of(LinkImpairments).values()],
        "link": [_info(field) for field in fields_of(Link).values()],
        "flow": [_info(field) for field in common.values()],
        "tools": {
            tool: [_info(fields_of(cls)[key]) for key in cls.study_keys() if key not in common]
            for tool, cls in FLOWS.items()
        },
    }


def _info(field: Field) -> dict[str, Any]:
    kind = field.kind
    has_default = not field.is_required and field.default not in (None, (), "")
    shown = kind.text(field.default) if has_default else kind.example
    return {
        "key": field.key,
        "label": field.about.label,
        "help": field.about.help,
        "placeholder": field.about.absent.split(";")[0].replace("`", "") or shown,
        "example": kind.example,
        "limits": kind.limits,
        "form": kind.form,
    }
