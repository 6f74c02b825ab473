"""Power of a web test of two pages against the number of visits, for several lifts."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pybandit._shared.checks import check_in, check_integer, check_scalar
from pybandit._shared.generators import seed_sequence_of
from pybandit._shared.html import table
from pybandit._shared.intervals import wilson_interval
from pybandit._shared.keywords import hinted
from pybandit._shared.optional import require
from pybandit._shared.records import Record
from pybandit._shared.types import ArrayLike, Floats, Rng
from pybandit.webtests.plan import CountPlan, plan_counts

__all__ = ["PowerCurves", "power_curves"]

MOST_BATCHES = 1_000_000  # a curve has a number for each


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PowerCurves(Record):
    """Power of a test of two pages against its visits, for several lifts.

    Attributes
    ----------
    rate : float
        Success rate of the control.
    lifts : ndarray of float64, shape (n_lifts,)
    batch_size : int
        Visits of both pages in a batch.
    plans : tuple of CountPlan
        The simulated tests of each lift.
    power : ndarray of float64, shape (n_lifts, max_batches)
        Share of the runs that had named the better page by the end of each batch.

    See Also
    --------
    power_curves : Simulate tests and return their curves.
    CountPlan : one setting, and more than two pages.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> from pybandit.webtests import power_curves
    >>> curves = power_curves(0.04, [0.1, 0.25], 5000, n_runs=50, max_batches=40, rng=1)
    >>> curves.needed(0.8), curves.z_test.round()
    (array([140000.,  35000.]), array([78944., 13484.]))
    """

    rate: float
    lifts: Floats
    batch_size: int
    plans: tuple[CountPlan, ...]
    power: Floats

    def needed(self, power: float = 0.8) -> Floats:
        """Return the visits of both pages by which a share of the runs is right.

        Parameters
        ----------
        power : float, default 0.8
            In (0, 1].

        Returns
        -------
        ndarray of float64, shape (n_lifts,)
            Infinite for lifts that do not reach the power within `max_batches`.
        """
        power = check_scalar("power", power, "in (0, 1]", lambda x: (x > 0) & (x <= 1))
        there = self.power >= power
        first = np.where(there.any(axis=1), there.argmax(axis=1) + 1.0, np.inf)
        return first * self.batch_size

    @property
    def z_test(self) -> Floats:
        """Visits of a z-test of power .8, with a size fixed beforehand and one look."""
        return np.array([one.z_test * self.batch_size for one in self.plans])

    def summary(self) -> str:
        """Return the visits for a power of .8 in one sentence."""
        most = self.power.shape[1] * self.batch_size
        parts = [f"{f'more than {most:,}' if math.isinf(n) else f'{n:,.0f}'} to find "
                 f"{_lift(lift)}" for lift, n in zip(self.lifts.tolist(), self.needed().tolist(),
                                                     strict=True)]
        return f"Visits of both pages for a power of .8: {', '.join(parts)}."

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with the power by visits (index) and lift (columns).

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        pandas = require("pandas", "pandas")
        index = pandas.Index(self._visits(), name="visits")
        return pandas.DataFrame(self.power.T, index=index,
                                columns=pandas.Index(self.lifts, name="lift"))

    def _visits(self):
        return self.batch_size * np.arange(1, self.power.shape[1] + 1)

    def plot(self, ax: Any = None) -> Any:
        """Plot the power against the visits, one curve with 95 % Wilson intervals per lift.

        A dot marks the size of the z-test, at its power.

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
        from pybandit._shared.drawing import axes_or_new, draw_band, label_axes, line_styles, tidy

        ax = axes_or_new(ax)
        runs, visits = self.plans[0].batches.size, self._visits()
        shown = visits <= min(self.needed(0.95).max(), visits[-1])
        last = visits[shown][-1]
        for lift, power, plan, style in zip(self.lifts, self.power, self.plans,
                                            line_styles(self.lifts.size), strict=True):
            low, high = np.transpose([wilson_interval(round(p * runs), runs)
                                      for p in power[shown].tolist()])
            draw_band(ax, visits[shown], low, high, style["color"])
            ax.plot(visits[shown], power[shown], lw=1.6, label=_lift(lift), **style)
            if plan.z_test * self.batch_size <= last:
                ax.plot(plan.z_test * self.batch_size, 0.8, "o", ms=5, color=style["color"])
        ax.axhline(0.8, color="#6b7280", ls=":", lw=1)
        ax.set_ylim(0.0, 1.02)
        ax.set_xlim(left=0.0)
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
        ax.legend(fontsize=8, frameon=False, loc="lower right", title="lift")
        label_axes(ax, "visits of both pages", "power, 95 %")
        tidy(ax, f"a rate of {100 * self.rate:.3g} %, {runs:,} runs per lift; "
                 "dots: z-test, looked at once")
        return ax

    def _repr_html_(self) -> str:
        rows = [(_lift(lift), *(f"{n:,.0f}" for n in visits), f"{z:,.0f}") for lift, z, *visits in
                zip(self.lifts.tolist(), self.z_test.tolist(),
                    *(self.needed(q).tolist() for q in (0.5, 0.8, 0.9)), strict=True)]
        return table(["lift", "visits, power .5", "power .8", "power .9", "z-test"], rows)

    def __repr__(self):
        runs = self.plans[0].batches.size
        return (f"<PowerCurves: a rate of {self.rate:.6g}, {self.lifts.size} lifts, "
                f"{runs:,} runs each>")


@hinted()
def power_curves(rate: float, lifts: ArrayLike, batch_size: int, *, delta: float = 0.05,
                 ties: Literal["none", "any"] = "none", n_runs: int = 200, max_batches: int = 200,
                 rng: Rng = None) -> PowerCurves:
    """Simulate tests of two pages for several lifts, and return their power by visits.

    Parameters
    ----------
    rate : float
        Success rate of the control, in (0, 1).
    lifts : array_like of float, shape (n_lifts,)
        Lifts to find, such as .05 for 5 % more: the other page has the rate ``rate * (1 + lift)``.
        Not 0: for equal pages, use `plan_counts`.
    batch_size : int
        Visits of both pages per batch, such as a day.
    delta, ties
        As in `CountRace`.
    n_runs : int, default 200
    max_batches : int, default 200
        As in `plan_counts`; at most 1,000,000.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    PowerCurves

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    plan_counts : any number of pages, of given rates.

    Notes
    -----
    Each lift is a call of `plan_counts`, which takes about 0.2 ms per batch and run.

    Examples
    --------
    >>> from pybandit.webtests import power_curves
    >>> curves = power_curves(0.04, [0.1, 0.25], 5000, n_runs=50, max_batches=40, rng=1)
    >>> print(curves.summary())
    Visits of both pages for a power of .8: 140,000 to find 10 % more, 35,000 to find 25 % more.
    """
    rate = check_scalar("rate", rate, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    max_batches = check_integer("max_batches", max_batches, 1, MOST_BATCHES)
    lifts = check_in("lifts", lifts, "finite", np.isfinite)
    if lifts.ndim != 1 or not lifts.size:
        raise ValueError(f"lifts must be at least one number; got shape {lifts.shape}")
    others = rate * (1 + lifts)
    bad = (others <= 0) | (others >= 1) | (others == rate)
    if bad.any():
        raise ValueError(f"lifts must not be 0, and give rates in (0, 1); got "
                         f"{lifts[bad][0]:g}, a rate of {others[bad][0]:g}")
    plans = tuple(
        plan_counts([rate, other], batch_size, delta=delta, ties=ties, n_runs=n_runs,
                    max_batches=max_batches, rng=seed)
        for other, seed in zip(others.tolist(), seed_sequence_of(rng).spawn(lifts.size),
                               strict=True))
    return PowerCurves(rate=rate, lifts=lifts.copy(), batch_size=plans[0].batch_size, plans=plans,
                       power=np.array([_power(one) for one in plans]))


def _power(plan):
    """Return the share of runs with the right winner by the end of each batch."""
    right = plan.winners == int(plan.rates.argmax())
    ends = np.bincount(plan.batches[right], minlength=plan.max_batches + 1)
    return ends.cumsum()[1:] / plan.batches.size


def _lift(lift):
    return f"{abs(100 * lift):.3g} % {'more' if lift > 0 else 'less'}"
