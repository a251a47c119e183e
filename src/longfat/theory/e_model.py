"""The E-model: how good people find a call, from its delay and its losses.

Source: ITU-T Recommendation G.107 (06/2015), "The E-model: a computational model for use in
transmission planning", with the default values of its table 2 for all but delay and loss, and
annex B for the mean opinion score. The names of quantities are those of the Recommendation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from longfat.theory import _checks

# Table 2: loudness ratings, noise and echo of the default telephone and room.
_SLR, _RLR = 8.0, 2.0
_STMR, _LSTR, _DS = 15.0, 18.0, 3.0
_TELR, _WEPL = 65.0, 110.0
_QDU = 1.0
_NC, _NFOR = -70.0, -64.0
_PS, _PR = 35.0, 35.0
_A = 0.0
_BURST_R = 1.0

G711_BPL = 4.3
"""The packet-loss robustness of G.711 without concealment, the default: G.113, appendix I."""


class CallQuality(NamedTuple):
    """The rating of a call.

    Attributes:
        r: the transmission rating factor; about 93.2 at best, and below 50 hardly a call.
        mos: the mean opinion score of listeners in a conversation (MOS-CQE), 1 to 4.5.
    """

    r: float
    mos: float


def call_quality(
    delay_s: float, loss: float, *, ie: float = 0.0, bpl: float = G711_BPL
) -> CallQuality:
    """Return how good a call is.

    Source: ITU-T G.107: R = Ro - Is - Id - Ie,eff + A (equation 7-1), of which delay decides Id
    (7-17 to 7-28, with T = Ta = Tr / 2) and loss Ie,eff (7-29, losses being random: BurstR = 1).
    Valid for speech of 300 to 3400 Hz in a conversation.

    Args:
        delay_s: from mouth to ear, in seconds.
        loss: the share of packets that are lost, 0 to 1.
        ie: the equipment impairment factor of the codec; 0 for G.711.
        bpl: its packet-loss robustness.

    Raises:
        ValueError: a value is negative, or `bpl` is 0.

    The default call, one with 150 ms from mouth to ear, and one that loses 2 % of its packets:

    >>> [round(call_quality(*at).r, 1) for at in ((0, 0), (0.15, 0), (0, 0.02))]
    [93.2, 89.5, 63.0]
    """
    _checks.not_negative(delay_s=delay_s, loss=loss, ie=ie)
    _checks.positive(bpl=bpl)
    no, ro = _noise()
    t = delay_s * 1e3
    r = ro - _simultaneous(no, ro, t) - _delay(no, ro, t) - _equipment(loss, ie, bpl) + _A
    return CallQuality(r, mean_opinion_score(r))


def mean_opinion_score(r: float) -> float:
    """Return the mean opinion score of a rating factor.

    Source: ITU-T G.107, annex B, equation B-4: 1 + 0.035 R + R (R - 60) (100 - R) 7e-6.

    Args:
        r: the transmission rating factor.

    Returns:
        The score, 1 to 4.5, which are its bounds where `r` is below 6.5 or above 100.

    Raises:
        ValueError: `r` is no number.

    >>> round(mean_opinion_score(90), 2)
    4.34
    """
    if math.isnan(r):
        raise ValueError("r must be a number")
    if r <= 0:
        return 1.0
    if r >= 100:
        return 4.5
    # It falls below 1 at R = 6.5, where the scale ends.
    return max(1.0, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)


def _noise() -> tuple[float, float]:
    """Return No, the sum of all noise powers, and Ro, the basic signal-to-noise ratio."""
    olr = _SLR + _RLR
    nos = _PS - _SLR - _DS - 100 + 0.004 * (_PS - olr - _DS - 14) ** 2
    pre = _PR + 10 * math.log10(1 + 10 ** ((10 - _LSTR) / 10))
    nor = _RLR - 121 + pre + 0.008 * (pre - 35) ** 2
    nfo = _NFOR + _RLR
    no = 10 * math.log10(sum(10 ** (one / 10) for one in (_NC, nos, nor, nfo)))
    return no, 15 - 1.5 * (_SLR + no)


def _simultaneous(no: float, ro: float, t: float) -> float:
    """Return Is: what comes with the voice itself; `t` is the delay in milliseconds."""
    olr = _SLR + _RLR
    xolr = olr + 0.2 * (64 + no - _RLR)
    iolr: float = 20 * ((1 + (xolr / 8) ** 8) ** (1 / 8) - xolr / 8)
    stmro = -10 * math.log10(10 ** (-_STMR / 10) + math.exp(-t / 4) * 10 ** (-_TELR / 10))
    ist: float = (
        12 * (1 + ((stmro - 13) / 6) ** 8) ** (1 / 8)
        - 28 * (1 + ((stmro + 1) / 19.4) ** 35) ** (1 / 35)
        - 13 * (1 + ((stmro - 3) / 33) ** 13) ** (1 / 13)
        + 29
    )
    q = 37 - 15 * math.log10(_QDU)
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    y = (ro - 100) / 15 + 46 / 8.4 - g / 9
    z = 46 / 30 - g / 40
    iq = 15 * math.log10(1 + 10**y + 10**z)
    return iolr + ist + iq


def _delay(no: float, ro: float, t: float) -> float:
    """Return Id: echo of the talker and of the listener, and delay itself; `t` in ms."""
    roe = -1.5 * (no - _RLR)
    terv = _TELR - 40 * math.log10((1 + t / 10) / (1 + t / 150)) + 6 * math.exp(-0.3 * t**2)
    re = 80 + 2.5 * (terv - 14)
    half = (roe - re) / 2
    idte = (half + math.sqrt(half**2 + 100) - 1) * (1 - math.exp(-t))
    rle: float = 10.5 * (_WEPL + 7) * (2 * t + 1) ** -0.25
    half = (ro - rle) / 2
    idle = half + math.sqrt(half**2 + 169)
    idd: float = 0.0
    if t > 100:
        x = math.log2(t / 100)
        idd = 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)
    return idte + idle + idd


def _equipment(loss: float, ie: float, bpl: float) -> float:
    """Return Ie,eff: the codec, and losses."""
    ppl = loss * 100
    return ie + (95 - ie) * ppl / (ppl / _BURST_R + bpl)
