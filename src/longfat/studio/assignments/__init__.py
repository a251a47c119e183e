"""Exercises in the studio: a lab of `longfat labs new`, done and checked in the page.

The instructor's folder is read by the server and by nobody else. What a page gets of it is made
in `assignment` field by field: titles, points, hints that were asked for. `workbook` has a
student's files, `checks` runs `longfat.analysis.grading` on them, and `routes` leads to both.
"""
