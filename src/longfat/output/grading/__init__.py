"""The output of grading, for students and for the services that courses use."""

from longfat.output.grading.classroom import classroom_files
from longfat.output.grading.gradebook import GRADEBOOKS, gradebook_csv
from longfat.output.grading.gradescope import gradescope_results
from longfat.output.grading.page import student_page

__all__ = [
    "GRADEBOOKS",
    "classroom_files",
    "gradebook_csv",
    "gradescope_results",
    "student_page",
]
