"""A verdict on two models while their scores arrive."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pybandit._shared.checks import (
    as_list,
    check_ends,
    check_in,
    check_integer,
    refuse_masks,
    shown,
)
from pybandit._shared.guard import Guard
from pybandit._shared.types import Floats
from pybandit.evaluation._verdict import checked_options, decided
from pybandit.evaluation._verdict_input import check_scores, is_at_ends
from pybandit.evaluation.verdict_result import Verdict

__all__ = ["RunningVerdict"]


class RunningVerdict:
    """A verdict on two models whose scores arrive one after another.

    It may be looked at after every item, and the run may stop at any time and for any reason.

    Parameters
    ----------
    planned : int, optional
        Number of items when the run ends. No more can be told.
    margin, delta, value_range, population_size : optional
        As in `verdict`.
    final : {"none", "exact", "sign-flip"}
        Test at the planned end, said beforehand; see `verdict`. With "exact", scores between
        the ends of `value_range` are refused.
    names : (str, str), optional
        Names of the two models.

    Attributes
    ----------
    n : int
        Number of items told.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a `final` test has no `planned` end.

    See Also
    --------
    verdict : for a finished run.

    Notes
    -----
    The order of the items must not depend on their scores. `result` costs O(n).

    **Threads.** One thread at a time; a second one gets a RuntimeError.

    Examples
    --------
    >>> import pybandit as pb
    >>> running = pb.evaluation.RunningVerdict(planned=200, final="exact")
    >>> running.tell([1, 0, 1, 1], [0, 0, 1, 0])
    >>> running.n, running.result().decision
    (4, 'undecided')
    """

    def __init__(self, *, planned: int | None = None, margin: float | None = None,
                 delta: float = 0.05, value_range: tuple[float, float] = (0, 1),
                 population_size: float = math.inf,
                 final: Literal["none", "exact", "sign-flip"] = "none",
                 names: tuple[str, str] = ("a", "b")) -> None:
        self._options = checked_options(margin, delta, check_ends(value_range), population_size,
                                        final)
        if final == "auto":
            raise ValueError("final must be said before the run: 'none', 'exact' or 'sign-flip'; "
                             "got 'auto'")
        if planned is not None:
            planned = check_integer("planned", planned, 1)
        if final != "none" and planned is None:
            raise ValueError(f"planned must be given for final={final!r}; got None")
        self._planned = planned
        self._names = tuple(map(str, as_list("names", refuse_masks("names", names),
                                                   "two names", 2)))
        if len(self._names) != 2:
            raise ValueError(f"names must be two names; got {shown(names)}")
        self._pairs: list[Floats] = []
        self._guard = Guard(type(self))

    @property
    def n(self) -> int:
        with self._guard:
            return self._count()

    def tell(self, a: ArrayLike, b: ArrayLike) -> None:
        """Add the scores of both models on the next items.

        Parameters
        ----------
        a, b : array_like of float, shape (n,), or float

        Raises
        ------
        ValueError, TypeError
            If a score is outside `value_range`, or there are more items than planned; nothing is
            then added.
        """
        value_range = self._options["value_range"]
        pair = [check_scores(name, np.atleast_1d(check_in(name, values, "finite", np.isfinite)),
                        value_range) for name, values in (("a", a), ("b", b))]
        if pair[0].shape != pair[1].shape:
            raise ValueError(f"b must have the items of a, {pair[0].size} in number; got "
                             f"{pair[1].size}")
        if self._options["final"] == "exact" and not is_at_ends(pair, value_range):
            raise ValueError("a and b must be at the ends of value_range, {:g} or {:g}, with "
                             "final='exact'; got other scores".format(*value_range))
        most = min(self._options["population_size"], self._planned or math.inf)
        with self._guard:
            n = self._count() + pair[0].size
            if n > most:
                raise ValueError(f"a and b must have at most {most} items in all, as planned; got "
                                 f"{n}")
            self._pairs.append(np.column_stack(pair))

    def result(self) -> Verdict:
        """Return the verdict on the items told so far."""
        return decided(self._scores(), self._names, self._planned, 0, dict(self._options))

    def get_state(self) -> dict[str, Any]:
        """Return the state as a dict of numbers, text and arrays."""
        return {**self._options, "planned": self._planned, "names": self._names,
                "scores": self._scores()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "RunningVerdict":
        """Return the verdict that `get_state` saved; it continues bit for bit.

        Raises
        ------
        ValueError, TypeError
            If a part is missing or outside its range.
        """
        expected = {"margin", "delta", "value_range", "population_size", "final", "planned",
                    "names", "scores"}
        if not isinstance(state, dict) or set(state) != expected:
            raise ValueError(f"state must have the entries {', '.join(sorted(expected))}; got "
                             f"{shown(state)}")
        options = {name: state[name] for name in expected - {"scores"}}
        running = cls(**options)
        scores = check_in("scores", state["scores"], "finite", np.isfinite)
        if scores.ndim != 2 or scores.shape[1] != 2:
            raise ValueError(f"scores must have shape (n, 2); got {scores.shape}")
        running.tell(*scores.T)
        return running

    def _count(self):
        return sum(map(len, self._pairs))

    def _scores(self):
        with self._guard:
            return np.concatenate([np.empty((0, 2)), *self._pairs])

    def __reduce__(self):
        return RunningVerdict.from_state, (self.get_state(),)

    def __repr__(self):
        return f"RunningVerdict(n={self.n}, planned={self._planned})"
