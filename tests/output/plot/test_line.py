import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from longfat.model.metric import Unit
from longfat.output.plot import Line, Panel, Trace


def line(values: list[float], **fields: object) -> Line:
    made = Line(
        label="a",
        times_s=np.arange(len(values), dtype=float),
        values=np.array(values, dtype=float),
        unit=Unit.BYTES,
    )
    return dataclasses.replace(made, **fields)  # type: ignore[arg-type]


def test_times_and_values_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="times"):
        Trace(np.arange(3.0), np.arange(2.0))
    with pytest.raises(ValueError, match="times"):
        line([1, 2], times_s=np.arange(3.0))
    with pytest.raises(ValueError, match="two edges"):
        line([1, 2], low=np.zeros(2))


def test_the_largest_value_counts_the_band_and_no_gap() -> None:
    assert line([1, float("nan"), 3]).largest == 3
    assert line([1, 2], low=np.zeros(2), high=np.array([9.0, 2.0])).largest == 9
    assert line([]).largest == 0


def test_empty() -> None:
    assert line([]).empty
    assert line([float("nan")]).empty
    assert not line([0]).empty
    assert not line([], missing_s=np.array([1.0])).empty


def test_a_cut_takes_both_ends_of_everything() -> None:
    whole = line(
        [0, 10, 20, 30],
        low=np.arange(4.0),
        high=np.arange(4.0) + 50,
        parts=(Trace(np.arange(4.0), np.arange(4.0)),),
        missing_s=np.array([0.5, 1.5, 2.5]),
    )
    cut = whole.cut(1, 2)
    assert cut.values.tolist() == [10, 20]
    assert cut.low is not None
    assert cut.low.tolist() == [1, 2]
    assert cut.parts[0].values.tolist() == [1, 2]
    assert cut.missing_s is not None
    assert cut.missing_s.tolist() == [1.5]


def test_later() -> None:
    moved = line([1, 2], parts=(Trace(np.zeros(1), np.ones(1)),)).later(2.5)
    assert moved.times_s.tolist() == [2.5, 3.5]
    assert moved.parts[0].times_s.tolist() == [2.5]


def test_a_panel_has_one_unit() -> None:
    panel = Panel(name="p", title="P", lines=(line([1]), line([5, 2])))
    assert (panel.unit, panel.largest, panel.span_s) == (Unit.BYTES, 5, (0, 1))
    with pytest.raises(ValueError, match="one unit"):
        Panel(name="p", title="P", lines=(line([1]), line([1], unit=Unit.BPS)))
    with pytest.raises(ValueError, match="one unit"):
        Panel(name="p", title="P", lines=())


def test_values_need_no_matplotlib() -> None:
    program = (
        "import sys\n"
        "import longfat.studio.serve\n"
        "from longfat.output.plot import Line, PhaseTrace, saved\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from longfat.output.plot import draw_panels\n"
        "assert 'matplotlib' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
