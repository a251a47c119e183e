"""How long the studio takes to check the study of each lab, as it does after each change of a text.

    .venv/bin/python -m benchmarks.check [--repeat N] [--json] [LAB...]

The best of the repeats counts, as the least disturbed. While a person types, an answer should
come within 0.1 s of CPU time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from longfat.studio.study_view import check
from longfat.study.file_reader import FolderReader
from longfat.study.labs import StudyFolder, all_labs


def check_s(lab: StudyFolder) -> float:
    """Return the CPU seconds of one check of a lab's study."""
    text = lab.study_file.read_text(encoding="utf-8")
    start = time.process_time()
    check(text, name="mine.yaml", beside=FolderReader(lambda: lab.folder))
    return time.process_time() - start


def main() -> int:
    """Measure, and print the times in milliseconds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("labs", nargs="*", metavar="LAB", help="labs; all of them by default")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="checks of each lab")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    labs = [lab for lab in all_labs() if not options.labs or lab.name in options.labs]
    times = {lab.name: min(check_s(lab) for _ in range(options.repeat)) for lab in labs}
    if options.json:
        json.dump({name: {"cpu_s": round(value, 4)} for name, value in times.items()}, sys.stdout)
        print()
    else:
        for name, value in times.items():
            print(f"{name:10} {value * 1000:6.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
