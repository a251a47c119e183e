"""The output of grading, for students and for the services that courses use."""

from longfat.output.grading.page import student_page
from longfat.output.grading.services import (
    GRADEBOOKS,
    classroom_files,
    gradebook_csv,
    gradescope_results,
)

__all__ = [
    "GRADEBOOKS",
    "classroom_files",
    "gradebook_csv",
    "gradescope_results",
    "student_page",
]
