"""Plan a test on counts: simulate its length and error rate before it starts."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_in, check_integer, check_scalar
from pybandit._shared.generators import seed_sequence_of
from pybandit._shared.html import table
from pybandit._shared.intervals import wilson_interval
from pybandit._shared.keywords import hinted
from pybandit._shared.optional import require
from pybandit._shared.records import Record
from pybandit._shared.types import ArrayLike, Floats, Ints, Rng
from pybandit.betting import CountRace
from pybandit.betting._count_bets import WEIGHTS

__all__ = ["CountPlan", "plan_counts"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountPlan(Record):
    """Length and errors of a test on counts over many simulated runs.

    Attributes
    ----------
    rates : ndarray of float64
        Success rates of the arms, as given.
    batch_size : int
        Trials in a batch.
    batches : ndarray of int64, shape (n_runs,)
        Batches until a winner was named, or `max_batches`.
    winners : ndarray of int64, shape (n_runs,)
        The winner of each run; -1 if none was named.
    z_test : float
        Batches that a z-test of fixed size needs to distinguish the two best arms, with
        Bonferroni's correction; infinite if they are equal.
    estimate : float
        Expected batches until bets on the difference of the two best arms reach the race's
        threshold, by the formula in `plan_counts`; infinite if they are equal.
    max_batches : int
        Batches after which a run stopped without a winner.

    See Also
    --------
    plan_counts : Simulate a test and return its `CountPlan`.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> from pybandit.webtests import plan_counts
    >>> plan = plan_counts([0.04, 0.05, 0.07], 5000, n_runs=50, rng=1)
    >>> plan.batches[:5], plan.winners[:5]
    (array([4, 3, 3, 4, 3]), array([2, 2, 2, 2, 2]))
    >>> plan.quantile(0.9), plan.n_undecided, plan.n_wrong
    (4.0, 0, 0)
    >>> print(plan.summary())
    Half of 50 runs had a winner after 3 batches of 5,000 trials; 0 winners were wrong.
    """

    rates: Floats
    batch_size: int
    batches: Ints
    winners: Ints
    z_test: float
    estimate: float
    max_batches: int

    @property
    def n_wrong(self) -> int:
        """Number of runs whose winner is not the single best arm.

        If several arms are equally good and best, every winner is wrong.
        """
        best = np.flatnonzero(self.rates == self.rates.max())
        right = best if best.size == 1 else best[:0]
        return int(((self.winners >= 0) & ~np.isin(self.winners, right)).sum())

    @property
    def reason(self) -> str:
        """Reason why no winner is expected; "" if at least half of the runs named one."""
        if 2 * self.n_undecided <= self.winners.size:
            return ""
        second, best = np.sort(self.rates)[-2:]
        if second == best:
            return (f"the two best rates are equal, {best:.6g}: no winner is expected; any would "
                    "be wrong")
        return (f"the two best rates differ by {best - second:.3g}, which takes about "
                f"{self.estimate:,.0f} batches of {self.batch_size:,} trials to detect; the "
                f"limit was {self.max_batches:,}")

    @property
    def n_undecided(self) -> int:
        """Number of runs without a winner."""
        return int((self.winners < 0).sum())

    @property
    def wrong_interval(self) -> tuple[float, float]:
        """95 % interval of the probability of a wrong winner within `max_batches` batches."""
        return wilson_interval(self.n_wrong, self.winners.size)

    def summary(self) -> str:
        """Return the length of the test and its errors in one sentence."""
        runs, half = self.winners.size, self.quantile(0.5)
        when = (f"Half of {runs:,} runs had a winner after {half:,.0f} batches of "
                f"{self.batch_size:,} trials" if math.isfinite(half) else
                f"Fewer than half of {runs:,} runs had a winner within {self.max_batches:,} "
                f"batches of {self.batch_size:,} trials")
        return f"{when}; {self.n_wrong:,} winners were wrong."

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with one row per run: batches and winner.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        pandas = require("pandas", "pandas")
        return pandas.DataFrame({"batches": self.batches, "winner": self.winners})

    def plot(self, ax: Any = None) -> Any:
        """Plot the share of runs with a winner over the batches, with 95 % Wilson intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If Matplotlib is not installed.
        """
        from pybandit._shared.drawing import (
            EXACT,
            RACING,
            axes_or_new,
            draw_band,
            label_axes,
            tidy,
        )

        ax = axes_or_new(ax)
        runs = self.winners.size
        ends = np.sort(self.batches[self.winners >= 0])
        last = int(ends[-1]) if ends.size else self.max_batches
        x = np.arange(last + 1)
        hits = np.searchsorted(ends, x, side="right")
        low, high = np.transpose([wilson_interval(int(h), runs) for h in hits])
        draw_band(ax, x, low, high, RACING)
        ax.plot(x, hits / runs, lw=1.6, color=RACING, label="runs with a winner")
        if np.isfinite(self.z_test) and self.z_test <= 2 * last:
            ax.axvline(self.z_test, color=EXACT, ls="--", lw=1.2, label="z-test of fixed size")
            ax.legend(fontsize=8, frameon=False, loc="lower right")
        ax.set_ylim(0.0, 1.02)
        ax.locator_params(axis="x", integer=True)
        label_axes(ax, f"batches of {self.batch_size:,} trials", "share of runs, 95 %")
        tidy(ax, f"{runs:,} runs, {self.n_wrong:,} with a wrong winner")
        return ax

    def _repr_html_(self) -> str:
        rows = [("runs", f"{self.winners.size:,}"),
                ("median batches", f"{self.quantile(0.5):,.0f}"),
                ("without a winner", f"{self.n_undecided:,}"), ("wrong", f"{self.n_wrong:,}"),
                ("z-test, batches", f"{self.z_test:,.1f}")]
        return f"<p>{self.summary()}</p>{table(['', 'value'], rows)}"

    def __repr__(self):
        return f"<CountPlan: {self.summary().removesuffix('.')}>"

    def quantile(self, q: float) -> float:
        """Return the batches after which a share q of the runs had a winner, or infinity."""
        q = check_scalar("q", q, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
        ends = np.sort(np.where(self.winners < 0, np.inf, self.batches))
        return float(ends[max(0, math.ceil(q * ends.size) - 1)])


@hinted()
def plan_counts(rates: ArrayLike, batch_size: int, *, delta: float = 0.05,
                ties: Literal["none", "any"] = "none", n_runs: int = 200, max_batches: int = 200,
                power: float = 0.8, rng: Rng = None) -> CountPlan:
    """Simulate a `CountRace` many times: its length, and how often the winner is wrong.

    Traffic is split evenly among the remaining arms by drawing the arm of each trial, and counts
    are reported batch by batch. With equal rates it is an A/A test, and any winner is wrong.

    Parameters
    ----------
    rates : array_like of float, shape (n_arms,)
        Success rates to assume, in (0, 1).
    batch_size : int
        Trials of all arms per batch, such as visitors per day.
    delta, ties
        As in `CountRace`.
    n_runs : int, default 200
    max_batches : int, default 200
        Batches after which a run stops without a winner.
    power : float, default 0.8
        Power of the z-test for comparison, in (0, 1).
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    CountPlan

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    The z-test is two-sided at level ``delta / (n_arms - 1)``, because it makes n_arms - 1
    comparisons, and it keeps all arms to its end. For the two best rates p and q it needs
    ``n = (z + z')^2 (p (1 - p) + q (1 - q)) / (p - q)^2`` trials per arm, where z and z' are the
    normal quantiles of its level and of `power`. Its result may be looked at only once, and its
    size is for a difference that was guessed.

    The estimate is ``4 v log(threshold / .2125) / (n d^2)`` batches, where n is the number of
    trials per arm and batch, d the difference of the two best rates, and v the variance of a
    reward at their mean. The log wealth of the best of the race's bets grows by ``n d^2 / (4 v)``
    per batch.

    A batch of a run takes about 0.2 ms.

    Examples
    --------
    >>> from pybandit.webtests import plan_counts
    >>> plan = plan_counts([0.04, 0.05, 0.07], 5000, n_runs=50, rng=1)
    >>> plan.quantile(0.5), round(plan.z_test, 1), plan.n_wrong
    (3.0, 1.6, 0)
    """
    rates = check_in("rates", rates, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    if rates.ndim != 1 or rates.size < 2:
        raise ValueError(f"rates must be of at least 2 arms; got shape {rates.shape}")
    batch_size = check_integer("batch_size", batch_size, 1, MOST_PULLS)
    n_runs = check_integer("n_runs", n_runs, 1)
    max_batches = check_integer("max_batches", max_batches, 1)
    power = check_scalar("power", power, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    made = [_run(CountRace(rates.size, delta=delta, ties=ties), rates, batch_size, max_batches,
                 np.random.default_rng(seed)) for seed in seed_sequence_of(rng).spawn(n_runs)]
    batches, winners = np.array(made, dtype=np.int64).T
    threshold = CountRace(2, delta=delta, ties=ties).threshold
    return CountPlan(rates=rates.copy(), batch_size=batch_size, batches=batches, winners=winners,
                     z_test=_z_test(rates, batch_size, delta, power),
                     estimate=estimated_batches(rates, batch_size, threshold),
                     max_batches=max_batches)


def _run(race, rates, batch_size, max_batches, rng):
    """Return the number of batches, and the winner or -1."""
    while not race.done and race.n_batches < max_batches:
        trials = rng.multinomial(batch_size, race.split(batch_size) / batch_size)
        race.tell_counts(trials, rng.binomial(trials, rates))
    return race.n_batches, int(race.recommend()[0]) if race.done else -1


def _z_test(rates, batch_size, delta, power):
    from scipy.special import ndtri  # imported here to keep the import of studies fast

    second, best = np.sort(rates)[-2:]
    if second == best:
        return math.inf
    z = -ndtri(delta / (2 * (rates.size - 1))) + ndtri(power)
    trials = z**2 * (best * (1 - best) + second * (1 - second)) / (best - second) ** 2
    return float(rates.size * trials / batch_size)


def estimated_batches(rates, batch_size, threshold):
    """Return the approximate number of batches that the bets need."""
    second, best = np.sort(rates)[-2:]
    if second == best:
        return math.inf
    mean = (second + best) / 2
    growth = batch_size / rates.size * (best - second) ** 2 / (4 * mean * (1 - mean))
    return max(2.0, math.log(threshold / WEIGHTS.max()) / growth)  # no bets on the first batch
