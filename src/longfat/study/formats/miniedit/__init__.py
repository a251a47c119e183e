"""MiniEdit's `.mn` files: Mininet's network editor saves a drawing as JSON.

The file has `hosts`, `switches` (among them legacy switches and routers), `links`,
`controllers`, and in `application` the common settings. `read` makes a network of it and
lists what it left out; `write` makes a file that MiniEdit opens. Nodes become interfaces'
names in the order of `links`, as in Mininet, so that a lab's `tc ... dev s1-eth2` meets the
same port.

JSON is YAML, so a file is read like a study, and messages have places.

Source of the format: MiniEdit 2.2 in Mininet's examples, versions 1 and 2 of the
file, and Mininet 2.3 for what the fields mean.
"""

from longfat.study.formats.miniedit.read import MinieditNetwork, read_miniedit
from longfat.study.formats.miniedit.write import miniedit_text

__all__ = ["MinieditNetwork", "miniedit_text", "read_miniedit"]
