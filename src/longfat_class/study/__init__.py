"""Labs for a class: the instructor's file, and the files that students hand in.

    LAB/student/      what students get: the text, and the parts that they fill in
    LAB/instructor/   grading.yaml, the study of the answer key, a solution

`model` declares the fields of grading.yaml, `read` reads it, `answers` reads a student's
answers, and `traffic` the flows that a Mininet script types. Nothing here runs a study:
`longfat_class.analysis` does.
"""

from longfat_class.study.answers import Answer, read_answers
from longfat_class.study.model import Exercise, Grading, Late, Limits, Part, PartKind
from longfat_class.study.read import GRADING_FILE, find_grading, read_grading

__all__ = [
    "GRADING_FILE",
    "Answer",
    "Exercise",
    "Grading",
    "Late",
    "Limits",
    "Part",
    "PartKind",
    "find_grading",
    "read_answers",
    "read_grading",
]
