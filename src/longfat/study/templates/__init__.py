"""Templates of studies: topologies and standard measurements, as commented texts that run.

Each template is declared once, as a dataclass whose fields are its parameters; the command
`longfat new` and the studio's menu offer what is declared here.
"""

from longfat.study.templates.measurements import Responsiveness, Rrul
from longfat.study.templates.practice import PracticeNetwork, practice_networks
from longfat.study.templates.template import Template, make_template
from longfat.study.templates.topologies import DataCentre, Dumbbell, Home, ParkingLot, Tree, Wan

TEMPLATES: dict[str, type[Template]] = {
    one.name: one
    for one in (Dumbbell, ParkingLot, Tree, Wan, DataCentre, Home, Rrul, Responsiveness)
}
"""The templates by name, in the order in which they are offered."""

__all__ = [
    "TEMPLATES",
    "PracticeNetwork",
    "Template",
    "make_template",
    "practice_networks",
]
