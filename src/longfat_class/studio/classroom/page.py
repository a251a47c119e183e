"""The teacher's pages: the state of all students, and the question before a new link.

They work without scripts. That of the students reloads itself, but not while it shows a message.
With scripts that is done by `web/src/teacher`, which verifies the server before.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT_PATH = "/class/page.js"
"""Where the pages' script is."""

_EVERY_S = 15

_STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#d3d8e0, #303846);
  --dim: light-dark(#596273, #a0a9b8); --good: light-dark(#17713f, #5dcb8b);
  --bad: light-dark(#b3261e, #ff8a80);
  --bg: light-dark(#fff, #14181f); --fg: light-dark(#1b2230, #e4e8ef);
  --link: light-dark(#1f5fbf, #6ea8ff); }
body { margin: 0; padding: 20px 24px; background: var(--bg); color: var(--fg);
  font: 14px/1.5 system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; }
p { margin: 0 0 16px; color: var(--dim); max-width: 70em; }
.wide { overflow-x: auto; position: relative; }
table { border-collapse: collapse; min-width: 640px; }
th, td { text-align: left; vertical-align: top; padding: 6px 14px 6px 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td.number { font-variant-numeric: tabular-nums; }
ul { list-style: none; margin: 0; padding: 0; }
progress { width: 90px; height: 9px; accent-color: var(--link); }
a { color: var(--link); }
.dim { color: var(--dim); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.done { color: var(--good); }
header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline;
  justify-content: space-between; }
form { display: inline; margin-right: 12px; }
header form { margin: 0; }
button { font: inherit; color: var(--fg); background: var(--bg); border: 1px solid var(--line);
  border-radius: 6px; padding: 3px 12px; cursor: pointer; }
button:hover { border-color: var(--link); }
button.main { color: var(--bg); background: var(--link); border-color: var(--link); }
a:focus-visible, button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.problem { color: var(--bad); margin: 8px 0; }
.problem:empty { display: none; }
.message { border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 6px;
  padding: 10px 14px; margin: 10px 0 16px; max-width: 70em; }
.message p { color: var(--fg); margin: 0 0 6px; }
.message code { display: block; overflow-wrap: anywhere; user-select: all; margin: 0 0 6px; }
"""

_HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
{{ key_tag }}
{% if every_s %}
<meta name="longfat-reload" content="{{ every_s }}">
<noscript><meta http-equiv="refresh" content="{{ every_s }}"></noscript>
{% endif %}
<script src="{{ script }}" defer></script>
<title>{{ title }}: longfat studio</title>
<style>
{{ style }}</style>
</head>
"""

_CLASS = """\
<body>
<main>
<header>
<h1>The class</h1>
<span>
<form method="post" action="/class/log-out">
<button name="others" title="End all other logins to the teacher's page">Log out others</button>
<button>Log out</button>
</form>
</span>
</header>
<p id="server" class="problem" role="alert"></p>
{% if renewed %}
<div class="message" role="status">
<p><strong>{{ renewed.name }} has a new link.</strong> The old one has stopped working, and its
browsers are logged out. Select the new one to copy it:</p>
<code>{{ renewed.url }}</code>
<a href="/class">Back to the class</a>
</div>
{% elif has_ended_others %}
<div class="message" role="status">
<p><strong>All other browsers are logged out of the teacher's page.</strong></p>
<a href="/class">Back to the class</a>
</div>
{% endif %}
<p>Online: {{ there }} of {{ students | length }} students. Machines running: {{ machines }}.
Students waiting for a machine: {{ waiting }}. Limits: {{ limits }}.
Progress is as reported by the students' pages, and checks are counted here. It is not a grade.
{% if every_s %}This page reloads every {{ every_s }} s.{% endif %}</p>
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
<td><a href="{{ one.url }}" rel="noreferrer">{{ one.folder }}'s link</a>
<br><a href="/class/new-link?student={{ one.folder | urlencode }}">New link…<span class="unseen">
for {{ one.name }}</span></a></td>
</tr>
{% endfor %}
</tbody>
</table>
</div>
</main>
</body>
</html>
"""

_LINK = """\
<body>
<main>
<h1>A new link for {{ student.name }}?</h1>
<p>The link of {{ student.name }} ({{ student.folder }}) is replaced. The old one opens nothing any
more, and all browsers that it has opened are logged out at once: their pages say so, and keep what
is drawn in them. Networks, runs, progress and machines that run are not touched. Give the new link,
which is shown next, to {{ student.name }}.</p>
<form method="post" action="/class/new-link">
<input type="hidden" name="student" value="{{ student.folder }}">
<button class="main">Make a new link</button>
</form>
<a href="/class">Cancel</a>
<p id="server" class="problem" role="alert"></p>
</main>
</body>
</html>
"""

_HERE_S = 120.0
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))


def class_page(
    summary: Mapping[str, Any],
    *,
    key_tag: str,
    renewed: str | None = None,
    has_ended_others: bool = False,
) -> str:
    """Return the page of the class.

    Args:
        summary: what `ClassApp.summary` gives.
        key_tag: the element with the page's key.
        renewed: the folder of a student whose new link is shown; None for none.
        has_ended_others: show that other browsers were logged out.
    """
    now_s = time.time()
    students = [{**one, "ago": _ago(now_s, one["seen_s"])} for one in summary["students"]]
    with_link = next((one for one in students if one["folder"] == renewed), None)
    return _render(
        _CLASS,
        title="The class",
        key_tag=key_tag,
        every_s=None if with_link or has_ended_others else _EVERY_S,
        renewed=with_link,
        has_ended_others=has_ended_others,
        limits=summary["limits"],
        students=students,
        there=sum(now_s - one["seen_s"] < _HERE_S for one in students),
        machines=sum(one["machines"] for one in students),
        waiting=sum(bool(one["waiting"]) for one in students),
    )


def link_page(student: Mapping[str, Any], *, key_tag: str) -> str:
    """Return the question before a student gets a new link.

    Args:
        student: the student, as in `ClassApp.summary`.
        key_tag: the element with the page's key.
    """
    return _render(_LINK, title="A new link", key_tag=key_tag, every_s=None, student=student)


def _render(body: str, *, key_tag: str, **values: Any) -> str:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_HEAD + body).render(
        style=Markup(_STYLE), key_tag=Markup(key_tag), script=SCRIPT_PATH, **values
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
