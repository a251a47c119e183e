from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from longfat.common.atomic import write_whole
from longfat.model.metric import Unit
from longfat.output.plot import FORMS, Line, Panel, draw_panels, figure_style, saved


def figure() -> Figure:
    values = np.array([1.0, 2.0, 4.0])
    line = Line(label="a & <b>", times_s=np.arange(3.0), values=values, unit=Unit.BPS)
    other = Line(label="c", times_s=np.arange(3.0), values=values * 2, unit=Unit.BPS, style_index=1)
    return draw_panels([Panel(name="t", title="T <&>", lines=(line, other))])


@pytest.mark.parametrize("form", FORMS)
def test_equal_figures_give_equal_whole_files(form: str) -> None:
    with figure_style():
        one, other = saved(figure(), form), saved(figure(), form)
    assert one == other
    if form == "png":
        assert one.startswith(b"\x89PNG\r\n\x1a\n")
        assert one.endswith(b"IEND\xaeB`\x82")
    elif form == "pdf":
        assert one.startswith(b"%PDF-")
        assert one.rstrip().endswith(b"%%EOF")
        assert b"CreationDate" not in one
    else:
        assert ElementTree.fromstring(one).tag.endswith("svg")


def test_a_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole(tmp_path / "a.png", b"old")

    def interrupted(*_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a.png", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"old"
