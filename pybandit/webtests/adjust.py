"""Daily sums of adjusted rewards and of ratios, as the counts that a `CountRace` takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pybandit._shared.checks import check_ends, check_scalar, shown
from pybandit._shared.types import Floats

__all__ = ["Cuped", "Ratio"]

_ROW = ("trials", "sum", "sum of squares", "sum of the other values", "sum of their squares",
        "sum of products")
SLACK = 1e-9  # relative rounding of sums that is accepted


class _Linear:
    """Rewards ``(y - b z + c) / scale`` in [0, 1], from the sums of y and z of each arm."""

    def _terms(self) -> tuple[tuple[float, float], tuple[float, float], float]:
        """Return the ranges of y and z, and b."""
        raise NotImplementedError

    @property
    def _least(self) -> float:
        (low, _), (z_low, z_high), b = self._terms()
        return low - max(b * z_low, b * z_high)

    @property
    def scale(self) -> float:
        """Units of y per unit of the adjusted reward: multiply differences of means by it."""
        (low, high), (z_low, z_high), b = self._terms()
        return high - low + abs(b) * (z_high - z_low)

    def counts(self, rows: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[int, float, float]]:
        """Return the counts of adjusted rewards, which `WebTest.tell_counts` takes.

        Parameters
        ----------
        rows : dict of (int, float, float, float, float, float) by name
            Of each arm: trials n, Σy, Σy², Σz, Σz² and Σyz over its visitors.

        Returns
        -------
        dict of (int, float, float) by name
            Trials, sum and sum of squares of the adjusted rewards, which lie in [0, 1].

        Raises
        ------
        ValueError, TypeError
            If no values in the ranges have these sums.
        """
        y_range, z_range, b = self._terms()
        least, scale, found = self._least, self.scale, {}
        for name, row in rows.items():
            n, y, yy, z, zz, yz = _checked(name, row, y_range, z_range)
            total = (y - b * z - n * least) / scale
            squares = (yy + b * b * zz + n * least * least
                       - 2 * (b * yz + least * y - b * least * z)) / scale**2
            total = min(max(total, 0.0), float(n))
            floor = total * total / n if n else 0.0
            found[name] = (int(n), total, min(max(squares, floor), total))
        return found


@dataclass(frozen=True)
class Cuped(_Linear):
    """Rewards adjusted by what was known of each visitor before the test (CUPED).

    With y the reward and z the covariate, such as the visitor's reward of last month, the
    adjusted reward ``y - coefficient z``, shifted and scaled into [0, 1], has a variance smaller
    by the factor ``1 - correlation²`` if the coefficient is the regression's. Tests on it find the
    same difference in fewer days.

    Parameters
    ----------
    coefficient : float
        Fixed before the first batch that the race bets on, from earlier data: see `fit`.
    value_range, covariate_range : (float, float), default (0, 1)
        Smallest and largest possible value of y and of z.

    Attributes
    ----------
    scale : float
        Multiply differences of adjusted means by it to get differences of mean rewards.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    Ratio : metrics such as clicks per view.
    pybandit.CountRace : the test of the counts.

    Notes
    -----
    *Why it is valid.* A visitor's z is known before the arm is drawn, so within a batch it has
    the same distribution in all arms. The bets of `CountRace` weigh the visits of a batch such that
    the weights of both arms are opposite, so a shift that is common to all arms has mean 0 in them,
    and "b is at least as good as a in every batch" is the same for y and for the adjusted reward.
    This holds for any coefficient that is fixed beforehand. A covariate that the arm may have
    changed makes every result wrong.

    *Where the coefficient comes from.* From days before the test, or from its first batch, on
    which the race does not bet. Keep it in the settings of the test: see Examples.

    **Threads.** It is immutable: threads may share it.

    Source: Deng, Xu, Kohavi & Walker (2013), Equations 3 to 5.

    Examples
    --------
    Rewards are last week's and this week's spending over the cap of 60:

    >>> import pybandit as pb
    >>> from pybandit.webtests import Cuped, WebTest
    >>> history = {"all": (4000, 900.0, 700.0, 880.0, 690.0, 640.0)}
    >>> cuped = Cuped.fit([history])
    >>> round(cuped.coefficient, 3)
    0.89
    >>> test = WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"],
    ...                       settings={"coefficient": cuped.coefficient})
    >>> day = {"old": (500, 112.0, 88.0, 110.0, 86.0, 80.0),
    ...        "new": (500, 121.0, 95.0, 111.0, 87.0, 84.0)}
    >>> test.tell_counts(Cuped(test.settings["coefficient"]).counts(day), key="2025-03-03")
    TellResult(n_new=2, n_known=0, complete=True)
    """

    coefficient: float
    value_range: tuple[float, float] = (0.0, 1.0)
    covariate_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", check_scalar(
            "coefficient", self.coefficient, "finite", np.isfinite))
        for name in ("value_range", "covariate_range"):
            object.__setattr__(self, name, _ends(name, getattr(self, name)))

    @classmethod
    def fit(cls, batches: Iterable[Mapping[str, tuple[float, ...]]], *,
            value_range: tuple[float, float] = (0.0, 1.0),
            covariate_range: tuple[float, float] = (0.0, 1.0)) -> Self:
        """Return the adjustment of least variance on earlier batches.

        Parameters
        ----------
        batches : iterable of dict
            Rows as in `counts`. Each arm of each batch has its own means.

        Raises
        ------
        ValueError, TypeError
            If no values in the ranges have these sums, or all covariates are equal.
        """
        ranges = _ends("value_range", value_range), _ends("covariate_range", covariate_range)
        both, own = 0.0, 0.0
        for rows in batches:
            for name, row in rows.items():
                n, y, _, z, zz, yz = _checked(name, row, *ranges)
                if n:
                    both += yz - y * z / n
                    own += zz - z * z / n
        if not own > 0:
            raise ValueError("batches must have covariates that vary within an arm; got a sum of "
                             f"squared deviations of {own:g}")
        return cls(both / own, *ranges)

    def _terms(self) -> tuple[tuple[float, float], tuple[float, float], float]:
        return self.value_range, self.covariate_range, self.coefficient


@dataclass(frozen=True)
class Ratio(_Linear):
    """A ratio of two sums per visitor, such as clicks per view or revenue per order.

    The unit that is drawn is the visitor, who may have many views, so views are not independent
    trials. With ``num`` and ``den`` the two values of a visitor, the reward is
    ``num - theta den``, shifted and scaled into [0, 1].

    Parameters
    ----------
    theta : float
        Ratio of the control, or of all arms, in earlier data, at least 0: see `fit`. Fixed before
        the first batch that the race bets on.
    value_range : (float, float)
        Smallest and largest possible numerator of a visitor.
    denominator_range : (float, float)
        Smallest and largest possible denominator of a visitor, at least 0. Give both as narrow as
        is true.

    Attributes
    ----------
    scale : float
        Multiply differences of means by it, and divide them by the mean denominator, to get
        differences of ratios.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    Cuped : rewards adjusted by earlier ones.

    Notes
    -----
    *What is promised.* The promise of `CountRace`, about the mean of ``num - theta den`` of each
    arm, which is the arm's mean denominator times (its ratio - theta). If the arms have the same
    mean denominator, its order is that of the ratios. If they do not, two arms of the same ratio R
    differ by ``(R - theta)`` times the difference of their mean denominators, which is small only
    if `theta` is near R: fit it on many visitors, and test the denominator too.

    **Threads.** It is immutable: threads may share it.

    Source: the linearisation of Budylin, Drutsa, Katsev & Tsoy (2018).

    Examples
    --------
    >>> import pybandit as pb
    >>> from pybandit.webtests import Ratio, WebTest
    >>> first = {"old": (500, 210.0, 350.0, 2010.0, 9500.0, 990.0),
    ...          "new": (500, 240.0, 420.0, 1990.0, 9400.0, 1100.0)}
    >>> ratio = Ratio.fit([first], value_range=(0, 12), denominator_range=(0, 12))
    >>> ratio.theta
    0.1125
    >>> test = WebTest.create(":memory:", pb.CountRace(2), arms=["old", "new"],
    ...                       settings={"theta": ratio.theta})
    >>> test.tell_counts(ratio.counts(first), key="2025-03-03")
    TellResult(n_new=2, n_known=0, complete=True)
    """

    theta: float
    value_range: tuple[float, float]
    denominator_range: tuple[float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", check_scalar(
            "theta", self.theta, "finite and at least 0", lambda x: np.isfinite(x) & (x >= 0)))
        object.__setattr__(self, "value_range", _ends("value_range", self.value_range))
        object.__setattr__(self, "denominator_range", _positive(self.denominator_range))

    @classmethod
    def fit(cls, batches: Iterable[Mapping[str, tuple[float, ...]]], *,
            value_range: tuple[float, float], denominator_range: tuple[float, float]) -> Self:
        """Return the ratio with theta that of all visitors of earlier batches.

        Parameters
        ----------
        batches : iterable of dict
            Rows as in `counts`, with y the numerator and z the denominator.

        Raises
        ------
        ValueError, TypeError
            If no values in the ranges have these sums, the denominators are all 0, or the ratio
            is negative.
        """
        ranges = _ends("value_range", value_range), _positive(denominator_range)
        rows = [_checked(name, row, *ranges) for one in batches for name, row in one.items()]
        above, below = (sum(row[at] for row in rows) for at in (1, 3))
        if not below > 0:
            raise ValueError(f"batches must have denominators above 0; got a sum of {below:g}")
        return cls(above / below, *ranges)

    def _terms(self) -> tuple[tuple[float, float], tuple[float, float], float]:
        return self.value_range, self.denominator_range, self.theta


def _ends(name: str, value: Any) -> tuple[float, float]:
    try:
        return check_ends(value)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("value_range", name)) from None


def _positive(denominator_range: Any) -> tuple[float, float]:
    ends = _ends("denominator_range", denominator_range)
    if ends[0] < 0:
        raise ValueError(f"denominator_range must be at least 0; got {shown(denominator_range)}")
    return ends


def _checked(name: str, row: Any, y_range: tuple[float, float],
             z_range: tuple[float, float]) -> Floats:
    """Return the six sums of an arm, or raise if no values in the ranges have them."""
    try:
        sums = np.array([check_scalar(f"{what} of arm {name!r}", value, "finite", np.isfinite)
                         for what, value in zip(_ROW, row, strict=True)])
    except (TypeError, ValueError) as error:
        if isinstance(row, (tuple, list)) and len(row) == len(_ROW):
            raise
        raise TypeError(f"rows must be ({', '.join(_ROW)}); got {shown(row)} for arm "
                        f"{shown(name)}") from error
    n, y, yy, z, zz, yz = sums
    if n < 0 or n != np.floor(n):
        raise ValueError(f"trials of arm {name!r} must be an integer, at least 0; got {n:g}")
    for what, total, squares, (low, high) in (("sum", y, yy, y_range),
                                              ("sum of the other values", z, zz, z_range)):
        room = SLACK * max(1.0, n * max(abs(low), abs(high)))
        if not n * low - room <= total <= n * high + room:
            raise ValueError(f"{what} of arm {name!r} must be of {n:g} values in "
                             f"({low:g}, {high:g}); got {total:.15g}")
        most = (low + high) * total - n * low * high  # the squares if all values are ends
        room = SLACK * max(1.0, n * max(low * low, high * high))
        if not (total * total / n if n else 0.0) - room <= squares <= most + room:
            raise ValueError(f"squares of arm {name!r} must be of {n:g} values in ({low:g}, "
                             f"{high:g}) of {what} {total:.15g}; got {squares:.15g}")
    if n:
        spread = np.sqrt(max(yy - y * y / n, 0.0) * max(zz - z * z / n, 0.0))
        room = SLACK * max(1.0, np.sqrt(yy * zz))
        if abs(yz - y * z / n) > spread + room:
            raise ValueError(f"sum of products of arm {name!r} must be within {spread:.6g} of "
                             f"{y * z / n:.6g}, by Cauchy and Schwarz; got {yz:.15g}")
    elif yz:
        raise ValueError(f"sum of products of arm {name!r} must be 0 without trials; got {yz:g}")
    return sums
