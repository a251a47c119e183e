"""The E-model gives what the Recommendation and its readers say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.theory.e_model import call_quality, mean_opinion_score


def test_the_default_call() -> None:
    # G.107, 7.7: all parameters at their defaults give R = 93.2.
    call = call_quality(0, 0)
    assert call.r == pytest.approx(93.2, abs=0.05)
    assert call.mos == pytest.approx(4.41, abs=0.005)


@pytest.mark.parametrize(
    ("r", "mos"),
    # G.107, annex B, table B.1: the lower limits of categories of satisfaction.
    [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58), (0, 1), (-5, 1), (100, 4.5)],
)
def test_opinions(r: float, mos: float) -> None:
    assert mean_opinion_score(r) == pytest.approx(mos, abs=0.01)


def test_losses() -> None:
    # 7-29 with Ie = 0 and Bpl = 4.3: half of 95 is lost at 4.3 %.
    assert call_quality(0, 0).r - call_quality(0, 0.043).r == pytest.approx(47.5)
    # A codec that conceals losses stands more.
    assert call_quality(0, 0.05, bpl=25.1).r > call_quality(0, 0.05).r + 20


@given(st.floats(0, 10), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_more_delay_and_more_loss_are_worse(
    delay_s: float, loss: float, more_s: float, more: float
) -> None:
    call = call_quality(delay_s, loss)
    assert call_quality(delay_s, loss + more).r <= call.r
    if delay_s > 0.001:  # of less, echo makes a little more than nothing of it
        assert call_quality(delay_s + more_s, loss).r <= call.r + 0.05
    assert 1 <= call.mos <= 4.5


def test_senseless_arguments() -> None:
    with pytest.raises(ValueError, match="delay_s must be 0 or more"):
        call_quality(-1, 0)
