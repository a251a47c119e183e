"""Live sessions of the studio: each is a machine whose clock the page controls.

A `LiveSession` has a thread that owns the machine: it carries out commands, lets time pass as
terminals and flows need it, and notifies all connected pages. `session` has the list of
sessions, `routes` their WebSockets, `messages` the commands of pages, `events` what they get.
"""

from longfat.studio.live.session import LiveSessions

__all__ = ["LiveSessions"]
