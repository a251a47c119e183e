"""Grading: students' submissions, run and checked against an instructor's file.

`submission` reads the files, `play` runs their cases within limits, `checks` looks for
mistakes that no tool reports, `judge` decides on each exercise, and `grade` puts all of it
together, as `scores`.
"""

from longfat.analysis.grading.checks import CHECKS, Check, Finding
from longfat.analysis.grading.grade import grade, needed_parts
from longfat.analysis.grading.play import Player
from longfat.analysis.grading.scores import Graded, Score
from longfat.analysis.grading.submission import Submission, seed_of

__all__ = [
    "CHECKS",
    "Check",
    "Finding",
    "Graded",
    "Player",
    "Score",
    "Submission",
    "grade",
    "needed_parts",
    "seed_of",
]
