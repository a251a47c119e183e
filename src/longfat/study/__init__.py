"""Studies: the file format, and the way from a file to cases and claims.

Reading has three layers. `document` handles YAML and places; `node` reads single values;
`read`, `expand`, `network`, `flows` and `files` implement the study format. A grid's cases come
from `grid`. Claims, figures and grids are written in the language of `expressions`. `formats` has
the inverse of `read`, readers and writers of Mininet's files, and the conversion between them.
"""

from longfat.study.claims.claims import Claim
from longfat.study.formats.open import Opened, open_network
from longfat.study.metrics import find_metric, known_metrics
from longfat.study.model import (
    Figure,
    Grid,
    Parameter,
    Planned,
    Published,
    Study,
)
from longfat.study.read import DEFAULT_CASE, STUDY_FILE, Heading, read_heading, read_study

__all__ = [
    "DEFAULT_CASE",
    "STUDY_FILE",
    "Claim",
    "Figure",
    "Grid",
    "Heading",
    "Opened",
    "Parameter",
    "Planned",
    "Published",
    "Study",
    "find_metric",
    "known_metrics",
    "open_network",
    "read_heading",
    "read_study",
]
