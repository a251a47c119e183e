"""The teacher's page: the state of all students. It works without scripts, and reloads itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined

if TYPE_CHECKING:
    from collections.abc import Mapping

_EVERY_S = 15

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{{ every_s }}">
<title>The class: longfat studio</title>
<style>
:root { color-scheme: light dark; --line: light-dark(#d3d8e0, #303846);
  --dim: light-dark(#596273, #a0a9b8); --good: light-dark(#17713f, #5dcb8b);
  --bg: light-dark(#fff, #14181f); --fg: light-dark(#1b2230, #e4e8ef);
  --link: light-dark(#1f5fbf, #6ea8ff); }
body { margin: 0; padding: 20px 24px; background: var(--bg); color: var(--fg);
  font: 14px/1.5 system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; }
p { margin: 0 0 16px; color: var(--dim); max-width: 70em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; min-width: 640px; }
th, td { text-align: left; vertical-align: top; padding: 6px 14px 6px 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td.number { font-variant-numeric: tabular-nums; }
ul { list-style: none; margin: 0; padding: 0; }
progress { width: 90px; height: 9px; accent-color: var(--link); }
a { color: var(--link); }
.dim { color: var(--dim); }
.done { color: var(--good); }
</style>
</head>
<body>
<main>
<h1>The class</h1>
<p>Online: {{ there }} of {{ students | length }} students. Machines running: {{ machines }}.
Students waiting for a machine: {{ waiting }}. Limits: {{ limits }}.
Progress is as reported by the students' pages, and checks are counted here. It is not a grade.
This page reloads every {{ every_s }} s.</p>
<div class="wide" tabindex="0" role="group" aria-label="Students">
<table>
<thead><tr><th scope="col">student</th><th scope="col">last seen</th><th scope="col">machines</th>
<th scope="col">where</th><th scope="col">link</th></tr></thead>
<tbody>
{% for one in students %}
<tr>
<th scope="row">{{ one.name }}{% if one.name != one.folder %}

 <span class="dim">{{ one.folder }}</span>{% endif %}</th>
<td>{{ one.ago }}</td>
<td class="number">{{ one.machines }}{% if one.waiting %}, waits for {{ one.waiting }}{% endif %}
</td>
<td>{% if one.progress %}<ul>{% for lab in one.progress[:3] %}<li>
<progress max="{{ lab.step_count or 1 }}" value="{{ lab.steps }}"
 aria-label="Steps of {{ lab.lab }} done by {{ one.name }}"></progress>
<span{% if lab.steps and lab.steps == lab.step_count %} class="done"{% endif %}>{{ lab.lab }}:
{{ lab.steps }} of {{ lab.step_count }} steps</span>{% if lab.most_points %},
{{ "%g" | format(lab.points) }} of {{ "%g" | format(lab.most_points) }} points checked{% endif %}
{% if lab.checks %}, {{ lab.checks }} check{{ "" if lab.checks == 1 else "s" }}{% endif %}
{% if lab.claim_count %},
{{ lab.claims }} of {{ lab.claim_count }} claims{% endif %}
{% if lab.answer_count %}, {{ lab.answers }} of {{ lab.answer_count }} answers{% endif %}
</li>{% endfor %}</ul>{% if one.progress | length > 3 %}
<span class="dim">and {{ one.progress | length - 3 }} more labs</span>{% endif %}
{% else %}<span class="dim">no lab yet</span>{% endif %}</td>
<td><a href="{{ one.url }}" rel="noreferrer">{{ one.folder }}'s link</a></td>
</tr>
{% endfor %}
</tbody>
</table>
</div>
</main>
</body>
</html>
"""

_HERE_S = 120.0
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))


def class_page(summary: Mapping[str, Any]) -> str:
    """Return the page.

    Args:
        summary: what `ClassApp.summary` gives.
    """
    now_s = time.time()
    students = [{**one, "ago": _ago(now_s, one["seen_s"])} for one in summary["students"]]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_PAGE).render(
        every_s=_EVERY_S,
        limits=summary["limits"],
        students=students,
        there=sum(now_s - one["seen_s"] < _HERE_S for one in students),
        machines=sum(one["machines"] for one in students),
        waiting=sum(bool(one["waiting"]) for one in students),
    )


def _ago(now_s: float, seen_s: float) -> str:
    """Return as text how long ago a student was seen."""
    if not seen_s:
        return "not yet"
    passed_s = now_s - seen_s
    if passed_s < _HERE_S:
        return "now"
    for name, seconds in _UNITS:
        if passed_s >= seconds:
            count = int(passed_s // seconds)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "now"
