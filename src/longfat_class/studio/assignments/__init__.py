"""Exercises in the studio: a lab of `longfat labs new`, done and checked in the page.

The instructor's folder is read only by the server. `assignment` builds what a page gets of it
field by field: titles, points, requested hints. `sheet` has a student's files, `checks` runs
`longfat_class.analysis` on them, and `routes` has the routes of both.
"""
