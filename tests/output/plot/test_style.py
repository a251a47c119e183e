"""Lines must stay apart on grey paper and to the colour-blind."""

from itertools import combinations

from matplotlib.colors import to_rgb

from longfat.output.plot import DARK, line_style


def luminance(colour: str) -> float:
    parts = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_no_two_lines_are_distinguished_by_their_colour_alone() -> None:
    styles = [line_style(index) for index in range(20)]
    for one, other in combinations(styles, 2):
        assert (one.colour, str(one.dash), one.mark) != (other.colour, str(other.dash), other.mark)
    for one, other in combinations(styles[:9], 2):
        assert one.mark != other.mark


def test_every_line_stands_out_on_white_and_on_dark() -> None:
    for index in range(7):
        colour = line_style(index).colour
        assert 1.05 / (luminance(colour) + 0.05) >= 3
        assert (luminance(DARK[colour]) + 0.05) / (luminance("#16191d") + 0.05) >= 3
