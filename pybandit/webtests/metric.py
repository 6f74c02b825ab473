"""A metric of a web test with several, and its state."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pybandit._shared.checks import check_ends, check_flag, shown
from pybandit._shared.records import Record
from pybandit._shared.types import Floats
from pybandit.webtests.guardrail import Guardrail

__all__ = ["Metric", "MetricResult"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


@dataclass(frozen=True)
class Metric:
    """A metric of `Metrics`: a goal, or a guardrail if it has a margin.

    Parameters
    ----------
    value_range : (float, float), default (0, 1)
        Smallest and largest possible value of a visitor.
    margin : float, optional
        Largest acceptable loss of a guardrail, as in `Guardrail`. By default the metric is a
        goal: the arm with the largest mean wins.
    lower_is_better : bool, default False
        True for errors, seconds or costs; guardrails only.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> from pybandit.webtests import Metric
    >>> Metric(value_range=(0, 60)), Metric(margin=0.002, lower_is_better=True).is_guardrail
    (Metric(value_range=(0.0, 60.0), margin=None, lower_is_better=False), True)
    """

    value_range: tuple[float, float] = (0.0, 1.0)
    margin: float | None = None
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "value_range", check_ends(self.value_range))
        object.__setattr__(self, "lower_is_better",
                           check_flag("lower_is_better", self.lower_is_better))
        if self.margin is not None:
            checked = Guardrail(2, margin=self.margin, value_range=self.value_range)
            object.__setattr__(self, "margin", checked.margin)
        elif self.lower_is_better:
            raise ValueError("lower_is_better must be False without a margin: the largest mean of "
                             "a goal wins; report negated values in (-high, -low) instead")

    @property
    def is_guardrail(self) -> bool:
        """True if the metric has a margin."""
        return self.margin is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricResult(Record):
    """State of one metric of `Metrics`.

    Attributes
    ----------
    name : str
    is_guardrail : bool
    means : ndarray of float64, shape (n_arms,)
        Mean of each arm; NaN without visits.
    winner : str or None
        The arm that won; None if there is none yet, or if the metric is a guardrail.
    harmed, safe : list of str
        Arms that lose more than the margin, and arms that lose less; empty for a goal.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> from pybandit.webtests import Metric, Metrics
    >>> test = Metrics.create(":memory:", {"sales": Metric()}, arms=["old", "new"])
    >>> _ = test.tell_counts({"sales": {"old": (2500, 100), "new": (2500, 150)}}, key="Monday")
    >>> test.results()["sales"].means, test.results()["sales"].winner
    (array([0.04, 0.06]), None)
    """

    name: str
    is_guardrail: bool
    means: Floats
    winner: str | None
    harmed: list[str]
    safe: list[str]

    def summary(self) -> str:
        """Return the state in one sentence."""
        if not self.is_guardrail:
            return (f"{self.name}: no winner yet." if self.winner is None else
                    f"{self.name}: {self.winner} won.")
        parts = [f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {word}"
                 for names, word in ((self.harmed, "harmed"), (self.safe, "safe")) if names]
        return f"{self.name}: {'; '.join(parts) or 'no harm shown'}."


def checked_metrics(metrics):
    """Return the metrics by name."""
    if not isinstance(metrics, Mapping) or not all(isinstance(one, Metric)
                                                   for one in metrics.values()):
        raise TypeError(f"metrics must be a dict of Metric by name; got {shown(metrics)}")
    for name in metrics:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError("names of metrics must be of at most 60 letters, digits, _ and -; "
                             f"got {shown(name)}")
    if len({name.lower() for name in metrics}) < len(metrics):
        raise ValueError("names of metrics must differ in more than upper and lower case; got "
                         f"{shown(list(metrics))}")
    if all(one.is_guardrail for one in metrics.values()):
        raise ValueError("metrics must have at least one goal, a Metric without a margin; got "
                         f"{shown(dict(metrics))}")
    return dict(metrics)
