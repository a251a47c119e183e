"""Live sessions of the studio: a machine each, whose clock a page holds in its hands.

A *room* is a session with all that goes on in it. One thread owns the machine:
it takes orders, lets time pass as terminals and flows need it, and tells
everybody who looks what has happened. `rooms` keeps them, `routes` leads
WebSockets to them; what is said there is listed in the page's `api/types.ts`.
"""

from longfat.studio.live.sessions import Rooms

__all__ = ["Rooms"]
