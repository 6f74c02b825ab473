"""Mixtures of bets in units of the standard deviation (pybandit/betting/scaled.h).

A bet of amplitude g is best when g is about 3 / sqrt(n) after n values. Bets that fall with time
follow that, and serve the first values; of the others, each serves the numbers of values around
9 / g**2. Caps of .6 and .9 keep bets apart where they would all be at their cap.
"""

import math
from typing import NamedTuple

LARGEST_PLAN = 30_000  # values for which the small bets of `ENDLESS` are not needed


class Bet(NamedTuple):
    """A bet of a mixture.

    Attributes
    ----------
    amplitude : float
        In units of the standard deviation.
    falls : bool
        Whether it falls with time.
    weight : float
        Share of the initial wealth, before the mixture is normalised.
    cap : float
        Largest share of its wealth at risk.
    """

    amplitude: float
    falls: bool
    weight: float
    cap: float


def _steady(amplitudes, weights):
    return [Bet(g, False, weight, 0.6) for g, weight in zip(amplitudes, weights, strict=True)]


FINITE = [Bet(1.0, True, 0.16, 0.6), Bet(1.0, True, 0.05, 0.9), Bet(1.0, False, 0.1, 0.9),
          *_steady([2.0**-j for j in range(12)],
                   [0.14, 0.14, 0.04, 0.06, 0.11, 0.12, 0.05, 0.018, 0.006, 0.003, 0.0018, 0.0012])]
ENDLESS = [Bet(1.0, True, 0.2, 0.6), Bet(1.0, True, 0.03, 0.9), Bet(1.0, False, 0.07, 0.9),
           Bet(2.0, False, 0.02, 0.9),
           *_steady([2.0**-j for j in range(13)],
                    [0.15, 0.07, 0.03, 0.08, 0.08, 0.1, 0.06, 0.045, 0.02, 0.028125, 0.009375,
                     0.0046875, 0.0028125])]


def mixture_for(population_size=math.inf, planned=None):
    """Return the bets for a number of values, with weights that sum to 1.

    With a planned number n, half of the wealth is on the bet that is best after n values.
    """
    known = min(population_size, math.inf if planned is None else planned)
    bets = FINITE if known <= LARGEST_PLAN else ENDLESS
    total = sum(bet.weight for bet in bets)
    share = 1.0 if planned is None else 0.5
    mixed = [bet._replace(weight=share * bet.weight / total) for bet in bets]
    if planned is not None:
        mixed.append(Bet(3.0 / math.sqrt(planned), False, 1.0 - share, 0.6))
    return mixed
