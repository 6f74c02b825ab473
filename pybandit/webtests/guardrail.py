"""A metric that must not get worse: an alarm that may be looked at every day."""

from typing import Any, Self

import numpy as np

from pybandit._shared.checks import check_delta, check_ends, check_flag, check_integer, check_scalar
from pybandit._shared.guard import Guard
from pybandit._shared.types import ArrayLike
from pybandit.betting import CountRace
from pybandit.betting._count_checks import checked_batch

__all__ = ["Guardrail"]


class Guardrail:
    """Watch a metric that must not be worse than the control's by more than a margin.

    Each arm is compared with arm 0, the control. At any time an arm is harmed, safe or neither.
    Errors per page, seconds to load, unsubscriptions: metrics that are not the reason for the
    test, and stop it.

    Parameters
    ----------
    n_arms : int
        At least 2, the control included, which is arm 0.
    margin : float
        Largest loss that is acceptable, at least 0, in the metric's units.
    value_range : (float, float), default (0, 1)
        Smallest and largest possible value of a visit.
    delta : float, default 0.05
        Bound on the probability that any arm is ever called harmed whose loss is at most
        `margin`, and the same bound on any arm ever called safe whose loss is at least `margin`;
        in (0, 1).
    lower_is_better : bool, default False
        True for errors, seconds or costs.

    Attributes
    ----------
    harmed, safe : tuple of int
        Arms shown to lose more than `margin`, and arms shown to lose less. Neither is taken back.
    n_batches : int

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    pybandit.CountRace : the race between each arm and the control, and the proof.

    Notes
    -----
    *Promise.* `margin` is added to each reward of the arm, and a `CountRace` of two arms runs
    between it and the control, with ``ties="any"``. It drops the arm with probability at most its
    share of `delta` if, in every batch, the arm's mean plus `margin` is at least the control's;
    the arm is then harmed. It drops the control with probability at most its share of `delta` if
    the arm's mean plus `margin` is at most the control's; the arm is then safe. Shares are
    ``delta / (n_arms - 1)``, so the two bounds hold for all arms together. Days may differ, and
    every day may be looked at. With several metrics, divide `delta` among them.

    A first batch is not bet on, as in `CountRace`.

    *Crashes.* Rebuild it from the recorded counts, which takes milliseconds: see `replay`.

    **Threads.** One thread at a time; a second one gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np
    >>> from pybandit.webtests import Guardrail
    >>> rng, rates = np.random.default_rng(1), [0.020, 0.020, 0.035]
    >>> errors = Guardrail(3, margin=0.005, lower_is_better=True)
    >>> for day in range(20):
    ...     errors.tell_counts([2000] * 3, rng.binomial(2000, rates))
    >>> errors.harmed, errors.safe
    ((2,), (1,))
    """

    def __init__(self, n_arms: int, *, margin: float, value_range: tuple[float, float] = (0.0, 1.0),
                 delta: float = 0.05, lower_is_better: bool = False) -> None:
        self.n_arms = check_integer("n_arms", n_arms, 2)
        self.margin = check_scalar("margin", margin, "at least 0 and at most 1e149",
                                   lambda x: (x >= 0) & (x <= 1e149))
        self.value_range, self.delta = check_ends(value_range), check_delta(delta)
        self.lower_is_better = check_flag("lower_is_better", lower_is_better)
        low, high = self.value_range if not lower_is_better else (-self.value_range[1],
                                                                  -self.value_range[0])
        self._race = CountRace(2, delta=self.delta / (self.n_arms - 1), ties="any",
                               value_range=(low, high + self.margin))
        # number of batches, and the state of the race of each arm with the control; replaced as a
        # whole, so that Ctrl-C leaves all races or none with a batch
        self._told = 0, (self._race._race,) * (self.n_arms - 1)
        self._guard = Guard(type(self))

    def tell_counts(self, trials: ArrayLike, sums: ArrayLike,
                    squares: ArrayLike | None = None) -> None:
        """Record a batch: trials of each arm, sums of its values, and of their squares.

        Parameters
        ----------
        trials : array_like of int, shape (n_arms,)
        sums, squares : array_like of float, shape (n_arms,)
            Without squares, values count as if each were the lowest or the highest.

        Raises
        ------
        ValueError, TypeError
            If a shape differs, or no values in `value_range` have these sums. Nothing is recorded.
        """
        batch = checked_batch(trials, sums, squares, np.zeros(self.n_arms, dtype=np.int64),
                              self.value_range)
        n, s, (low, high) = batch.trials, np.asarray(sums, dtype=float), self.value_range
        # the largest squares possible: those of conversions, and safe for other values
        q = (low + high) * s - low * high * n if squares is None else np.asarray(squares, float)
        s = -s if self.lower_is_better else s
        shift = np.array([0.0, self.margin])
        with self._guard:
            races = []
            for arm, race in enumerate(self._told[1], 1):
                both = [0, arm]
                races.append(race if _is_done(race) else self._race._after(
                    race, n[both], s[both] + shift * n[both],
                    q[both] + 2 * shift * s[both] + shift**2 * n[both]))
            self._told = self._told[0] + 1, tuple(races)

    @property
    def n_batches(self) -> int:
        """Number of batches recorded."""
        return self._told[0]

    @property
    def harmed(self) -> tuple[int, ...]:
        """Arms that lose more than the margin."""
        return self._ended(0)

    @property
    def safe(self) -> tuple[int, ...]:
        """Arms that lose less than the margin."""
        return self._ended(1)

    def _ended(self, survivor: int) -> tuple[int, ...]:
        return tuple(arm for arm, race in enumerate(self._told[1], 1)
                     if _is_done(race) and race[1].alive[survivor])

    def replay(self, test: Any) -> Self:
        """Record all batches of a `WebTest` that keeps the counts of this metric; return self.

        The test may have any policy that takes counts; its arms are the arms, in order.

        Raises
        ------
        ValueError
            If batches were recorded before, or the test has another number of arms.

        Examples
        --------
        >>> import pybandit as pb
        >>> from pybandit.webtests import Guardrail, WebTest
        >>> log = WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"])
        >>> for day in ("2025-03-03", "2025-03-04", "2025-03-05"):
        ...     result = log.tell_counts({"old": (5000, 100), "new": (5000, 190)}, key=day,
        ...                              repeated=True)
        >>> Guardrail(2, margin=0.002, lower_is_better=True).replay(log).harmed
        (1,)
        """
        if self.n_batches:
            raise ValueError(f"replay must come before any batch; got {self.n_batches} batches")
        if len(test.names) != self.n_arms:
            raise ValueError(f"test must have {self.n_arms} arms; got {len(test.names)}")
        for columns in test._batches():
            self.tell_counts(*columns)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_guard"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _guard=Guard(type(self)))

    def __repr__(self) -> str:
        return (f"<Guardrail: {self.n_arms - 1} arms and a control, {self.n_batches:,} batches, "
                f"{len(self.harmed)} harmed, {len(self.safe)} safe>")


def _is_done(race: Any) -> bool:
    """Return True if a race of two arms has dropped one."""
    return int(race[1].alive.sum()) == 1
