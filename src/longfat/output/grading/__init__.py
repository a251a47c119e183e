"""The output of grading, for people and for the services that courses use."""

from longfat.output.grading.exports import (
    GRADEBOOKS,
    classroom_files,
    gradebook_csv,
    gradescope_results,
)
from longfat.output.grading.page import student_page
from longfat.output.grading.terminal import print_graded

__all__ = [
    "GRADEBOOKS",
    "classroom_files",
    "gradebook_csv",
    "gradescope_results",
    "print_graded",
    "student_page",
]
