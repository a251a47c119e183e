"""Grading: students' submissions, run and checked against an instructor's file.

`submission` reads the files, `taking` what a study of them may bring, and `play` runs their cases
within limits, with the probes of `watching`. `checks` looks for mistakes that no tool reports,
`counted` and `shaping` compare with what the kernel counted and had in force. `judge` decides on
each exercise, `oddities` lists what an instructor should look at, and `grade` puts all of it
together, as `scores`.
"""

from longfat_class.analysis.checks import CHECKS, Check, Finding
from longfat_class.analysis.grade import grade, needed_parts
from longfat_class.analysis.oddities import shared_oddities
from longfat_class.analysis.play import Player
from longfat_class.analysis.scores import Graded, Score
from longfat_class.analysis.submission import Submission, seed_of

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
    "shared_oddities",
]
