"""longfat: a laboratory for long, fat networks, with real Linux in virtual time.

A *study* yields *cases*; running a case boots a *machine* (a User-Mode Linux
kernel with a virtual clock), builds a *network* inside and plays the case's
*flows*; what comes out is a *run*. docs/architecture.md shows the rooms.
"""

__version__ = "0.1.0"
