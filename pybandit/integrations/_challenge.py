"""A new candidate against a rival whose scores on all items are known."""

from collections.abc import Sequence

import numpy as np

from pybandit.betting.race import BettingRace

__all__ = ["Challenge", "share_of_delta"]


class Challenge:
    """Read a challenger's scores in random order until it is shown to be worse than its rival.

    The challenger whose mean over all items is at least that of the rival is called worse with
    probability at most `delta`, if the order of its items was drawn uniformly at random, and
    independently of both candidates' scores. It is the promise of `BettingRace` with two arms: the
    race's k-th item is the k-th item told, whichever it is.

    Parameters
    ----------
    n_items : int
        Number of items that the two means are over.
    value_range : (float, float)
        Smallest and largest possible score; larger scores are better.
    delta : float
        Bound on the probability of the error above.
    """

    def __init__(self, n_items: int, value_range: tuple[float, float], delta: float) -> None:
        self._race = BettingRace(2, n_items, value_range=value_range, delta=delta, block_size=1)
        self._left = n_items
        self.is_worse = False

    def tell(self, rival: Sequence[float], challenger: Sequence[float]) -> bool:
        """Report scores of both on the next items, in the order that was drawn.

        Returns `is_worse`. It stays True, and is False if it took all items to see it: there is
        nothing left to save.
        """
        for scores in zip(rival, challenger, strict=True):
            if self._race.done:
                break
            arms, items = self._race.ask()
            self._race.tell(arms, items, np.array(scores)[arms])
            self._left -= 1
            self.is_worse = bool(self._left and self._race.done and self._race.recommend()[0] == 0)
        return self.is_worse


def share_of_delta(delta: float, number: int, planned: int | None) -> float:
    """Return the share of `delta` for one challenge, counted from 0; the shares sum to delta.

    Equal shares if their number is planned, and 0 for those after it; else
    ``delta / ((number + 1) (number + 2))``.
    """
    if planned is None:
        return delta / ((number + 1) * (number + 2))
    return delta / planned if number < planned else 0.0
