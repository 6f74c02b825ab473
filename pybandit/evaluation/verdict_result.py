"""Result of `verdict`: the decision, the difference with its interval, and a plot."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_positive
from pybandit._shared.drawing import COLOURS, EXACT, axes_or_new, draw_points, percent, tidy
from pybandit._shared.records import Record
from pybandit.evaluation._verdict_bets import SHARE

__all__ = ["Verdict"]

MEDIAN_ITEMS = 10.0  # items * (difference wanted)**2 / variance, median with bets and no plan


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict(Record):
    """Result of `verdict`.

    Attributes
    ----------
    decision : {"better", "worse", "equivalent", "undecided"}
        About model a, compared with model b.
    difference : float
        Mean of a minus mean of b, in the units of the scores; NaN without items.
    interval : (float, float)
        Bounds on the difference that hold at every look with probability at least 1 - delta.
    e_value : float or None
        Evidence against "no difference": its mean is at most 1 if there is none. None if the
        population is finite.
    p_value : float or None
        Anytime-valid p-value: 1 over the largest e-value so far, at most 1. None if the
        population is finite.
    means : (float, float)
        Means of a and b.
    names : (str, str)
        Names of a and b.
    n : int
        Number of items read; of clusters if there were any.
    n_better, n_worse : int
        Numbers of items on which a scored higher and lower than b.
    planned : int or None
        Number of items at the end of the run.
    std : float
        Standard deviation of the differences.
    delta, margin, value_range, population_size, final
        As given; `final` is the test that was used.

    See Also
    --------
    verdict, RunningVerdict : return this object.

    Notes
    -----
    **Threads.** Immutable, so threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> result = pb.verdict(rng.random(400) < 0.75, rng.random(400) < 0.6)
    >>> result.decision, round(result.difference, 3)
    ('better', 0.175)
    """

    decision: str
    difference: float
    interval: tuple[float, float]
    e_value: float | None
    p_value: float | None
    means: tuple[float, float]
    names: tuple[str, str]
    n: int
    n_better: int
    n_worse: int
    planned: int | None
    std: float
    delta: float
    margin: float | None
    value_range: tuple[float, float]
    population_size: float
    final: str

    @classmethod
    def of(cls, a, b, names, found, planned, options):
        """Return the verdict on scores a and b from the evidence `found`, None without items."""
        width = options["value_range"][1] - options["value_range"][0]
        finite = not math.isinf(options["population_size"])
        interval, e_value, p_value, decision = (-width, width), 1.0, 1.0, "undecided"
        if found is not None:
            interval = width * found.lower, width * found.upper
            decision = _decision(found, options["delta"], options["margin"], interval, finite)
            with np.errstate(over="ignore"):
                e_value = float(np.exp(found.log_e[-1]))
                p_value = min(1.0, float(np.exp(-found.log_e.max())))
        differences = a - b
        empty = a.size == 0
        return cls(decision=decision, interval=interval,
                   difference=math.nan if empty else float(differences.mean()),
                   e_value=None if finite else e_value, p_value=None if finite else p_value,
                   means=(math.nan, math.nan) if empty else (float(a.mean()), float(b.mean())),
                   names=names, n=int(a.size), n_better=int((differences > 0).sum()),
                   n_worse=int((differences < 0).sum()), planned=planned,
                   std=float(differences.std()) if a.size else math.nan, **options)

    def more(self, lift: float) -> int:
        """Return about how many more items are needed to see a difference of `lift`.

        For a planned end with a final test, this many lead to "better" with probability .8 if the
        difference is `lift` and the variance stays as it is. Without one, half of the runs need
        at most this many.

        Parameters
        ----------
        lift : float
            Positive, in the units of the scores. The observed difference is a bad choice: that of
            an undecided run is too large or too small by its own size.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If there are no items, or `lift` is not positive.
        """
        from statistics import NormalDist  # faster to import than scipy.special

        lift = check_positive("lift", lift)
        if self.n < 2:
            raise ValueError(f"more needs at least two items; got {self.n}")
        factor = MEDIAN_ITEMS
        if self.final != "none":
            level = max((1 - SHARE) * self.delta / 2, 1e-300)
            factor = (NormalDist().inv_cdf(level) + NormalDist().inv_cdf(0.2)) ** 2
        needed = factor * (self.std / lift) ** 2
        return max(0, math.ceil(min(needed, MOST_PULLS)) - self.n)

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference with its interval, and the margin.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If matplotlib is not installed.
        """
        ax = axes_or_new(ax, (6.4, 1.8))
        colour = COLOURS[0] if self.decision in ("better", "worse") else EXACT
        draw_points(ax, [self.difference], [self.interval[0]], [self.interval[1]],
                    [f"{self.names[0]} - {self.names[1]}"], [colour])
        ax.axvline(0.0, color=EXACT, lw=1.0)
        if self.margin is not None:
            ax.axvspan(-self.margin, self.margin, color=EXACT, alpha=0.15, lw=0)
        ax.set_ylim(0.6, -0.6)
        ax.set_xlabel(f"difference of the means, {percent(1 - self.delta)} interval", fontsize=9)
        tidy(ax, str(self).partition(":")[0])
        return ax

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(str(self))}</p>"

    def __str__(self) -> str:
        a, b = self.names
        if self.n == 0:
            return f"{a} and {b} have no scores yet: not decided"
        head = {"better": f"{a} is better than {b}", "worse": f"{a} is worse than {b}",
                "equivalent": f"{a} and {b} are equivalent",
                "undecided": f"not decided whether {a} or {b} is better"}[self.decision]
        if self.decision == "equivalent":
            head += f" within {self.margin:g}"
        if self.n_better == self.n_worse == 0:
            head += " (the scores are equal)"
        low, high = self.interval
        if low == high:
            return f"{head}: the means differ by {low:.4g}; all {self.n:,} items are read"
        p = "" if self.p_value is None else f", p = {self.p_value:.2g}"
        return (f"{head}: difference of the means {self.difference:.3g}, between {low:.3g} and "
                f"{high:.3g} ({percent(1 - self.delta)} interval){p}; {self.n:,} items")

    def __repr__(self) -> str:
        return f"<Verdict: {self}>"


def _decision(found, delta, margin, interval, finite):
    enough, (low, high) = math.log(2.0 / delta), interval
    if low > 0.0 or not finite and found.log_better.max() >= enough:
        return "better"
    if high < 0.0 or not finite and found.log_worse.max() >= enough:
        return "worse"
    return "equivalent" if margin is not None and -margin < low and high < margin else "undecided"
