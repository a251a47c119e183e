"""The output of grading, for students and for the services that courses use."""

from longfat_class.output.page import student_page
from longfat_class.output.services import (
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
