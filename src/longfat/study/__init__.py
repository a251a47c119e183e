"""Studies: the file format, and the way from a file to cases and claims.

Reading has three layers. `document` knows YAML and places; `node` reads single
values; `read`, `expand`, `network`, `flows` and `claims` know what a study is.
"""

from longfat.study.claims import Claim
from longfat.study.metrics import find_metric, known_metrics
from longfat.study.model import Figure, Planned, Published, Study
from longfat.study.read import DEFAULT_CASE, STUDY_FILE, read_study

__all__ = [
    "DEFAULT_CASE",
    "STUDY_FILE",
    "Claim",
    "Figure",
    "Planned",
    "Published",
    "Study",
    "find_metric",
    "known_metrics",
    "read_study",
]
