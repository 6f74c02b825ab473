"""Which of two models is better, and are they? A verdict on scores of the same items."""

import math
import os
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pybandit._shared.checks import (
    as_list,
    check_choice,
    check_delta,
    check_ends,
    check_in,
    check_integer,
    check_scalar,
    labels_of,
    refuse_masks,
    shown,
)
from pybandit._shared.generators import as_generator
from pybandit._shared.guard import Guard
from pybandit._shared.labels import are_same
from pybandit._shared.types import Floats, Rng
from pybandit.betting._sequence_checks import check_population
from pybandit.evaluation._opened import opened
from pybandit.evaluation._reading import read_scores, with_names
from pybandit.evaluation._verdict_bets import evidence
from pybandit.evaluation.verdict_result import Verdict
from pybandit.tables._logs.read import log_paths
from pybandit.tables._scores import Options
from pybandit.tables._table import Scores
from pybandit.tables.blocks import Blocks

__all__ = ["RunningVerdict", "verdict"]

FINALS = ("auto", "exact", "sign-flip", "none")


def verdict(a: Any, b: Any, *, margin: float | None = None, delta: float = 0.05,
            value_range: tuple[float, float] = (0, 1), planned: int | None = None,
            population_size: float = math.inf, clusters: ArrayLike | None = None,
            final: Literal["auto", "exact", "sign-flip", "none"] = "auto", rng: Rng = 0) -> Verdict:
    """Say whether model a is better than model b, from their scores on the same items.

    The verdict is "better", "worse", "equivalent" or "undecided". With probability at least
    ``1 - delta`` the mean difference is inside the interval at every look, and then every verdict
    is right.

    Parameters
    ----------
    a, b : array_like of float, shape (n,), or path
        Scores of the two models on the same items. Series are aligned by their index. Paths name
        two files with the scores of one model each: log files of an evaluation tool, or tables
        with one column of scores and labels of the items (`read_scores` has options).
    margin : float, optional
        Positive. Differences below it do not matter: the verdict is "equivalent" if the interval
        is inside ``(-margin, margin)``. By default there is no such verdict.
    delta : float, default 0.05
        Maximum probability of a wrong verdict at any look, in (0, 1).
    value_range : (float, float), default (0, 1)
        Smallest and largest possible score.
    planned : int, optional
        Number of items (with `clusters`, of clusters) when the run ends, at least n. By default
        n: the run has ended. If it is larger, the run is in progress.
    population_size : int or math.inf, default math.inf
        ``math.inf``: the items are a sample, and the answer is about the population from which
        they were drawn independently. A number N: they are drawn without replacement from N
        items, and the answer is about these; if n = N, the difference is known.
    clusters : array_like, shape (n,), optional
        Label of the cluster of each score: scores with the same label, such as several epochs of
        an item, or the turns of a dialogue, count as one item with their mean.
    final : {"auto", "exact", "sign-flip", "none"}
        Test at the planned end, in addition to the bets. "exact" is McNemar's exact test at level
        .8 delta, for scores that are all at the ends of `value_range`; "auto" uses it if the run
        has ended and all scores are. Whoever looks at a run in progress says "exact" at every look.
        "sign-flip" compares the sum with 999 random changes of signs: it is right if
        differences are symmetric under "no difference" or n is large, and is *not guaranteed*.
    rng : None, int, SeedSequence, BitGenerator or Generator, default 0
        Source of the order in which the items of a finished run are taken, since files are
        sorted. None keeps their order, as for a run in progress.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, a score is NaN or outside `value_range`, or the items
        of a and b differ.
    UnreadableFileError
        If a file cannot be read as scores of one model.

    See Also
    --------
    RunningVerdict : for scores that arrive one after another.
    tied_set : for more than two models.
    best_of : finds the best model and reads few scores.

    Notes
    -----
    With d = a - b in units of the range and x = (d + 1) / 2, bets in units of the standard
    deviation (`confidence_sequence`) have wealth B+ against "the mean of x is at most 1/2" and B-
    against "at least 1/2". The e-value is ``(B+ + B-) / 2``; p is 1 over its largest value so far,
    valid at every look. The verdict is "better" if B+ has reached 2 / delta, which is the case if
    the interval is above 0.

    With the final test, bets have the share .2 of the wealth and the test the rest: the
    verdict may be read throughout, and at the end it is "better" or "worse" whenever McNemar's
    exact test rejects at level .8 delta. The power at the full read is .92 to 1 of that of
    McNemar's test at level delta, looked at once.

    Cost: O(n); 20,000 items take about .1 s, most of it to find the interval.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> base = rng.random(500) < 0.6
    >>> new = base ^ (rng.random(500) < np.where(base, 0.05, 0.3))
    >>> result = pb.verdict(new, base)
    >>> print(str(result).split(":")[0])
    a is better than b
    >>> result.difference, round(result.p_value, 6)
    (0.09, 1.9e-05)
    """
    value_range = check_ends(value_range)
    values_a, values_b, names = _pair(a, b)
    options = _checked(margin, delta, value_range, population_size, final)
    values_a = _scores("a", values_a, value_range)
    values_b = _scores("b", values_b, value_range)
    if values_a.shape != values_b.shape:
        raise ValueError(f"b must have the items of a, {values_a.size} in number; got "
                         f"{values_b.size}")
    values = np.column_stack([values_a, values_b])
    if clusters is not None:
        values = means_of_clusters(clusters, values)
    n = len(values)
    limit = None if math.isinf(population_size) else population_size
    planned = check_planned(planned, n, limit)
    if n == planned and rng is not None:
        values = values[as_generator(rng).permutation(n)]
    if options["final"] == "auto":
        options["final"] = "exact" if n == planned and limit is None and is_at_ends(
            values, value_range) else "none"
    return _decided(values, names, planned, rng, options)


def _decided(values, names, planned, rng, options):
    """Return the verdict on checked scores, (n, 2), in the order read."""
    low, high = options["value_range"]
    population_size, final, delta = (options[name] for name in
                                     ("population_size", "final", "delta"))
    differences = (values[:, 0] - values[:, 1]) / (high - low)
    finite = not math.isinf(population_size)
    if final == "exact" and not is_at_ends(values, (low, high)):
        raise ValueError("final must be 'none' or 'sign-flip' for scores between the ends of "
                         f"value_range ({low:g}, {high:g}); got 'exact'")
    generator = as_generator(rng).spawn(1)[0] if final == "sign-flip" else None
    found = evidence(differences, delta, None if finite else planned, population_size, final,
                     generator) if differences.size else None
    return Verdict.of(values[:, 0], values[:, 1], names, found, planned, options)


def _checked(margin, delta, value_range, population_size, final):
    """Return the options that a finished and a running verdict share."""
    delta = check_delta(delta)
    population_size = check_population(population_size)
    check_choice("final", final, FINALS)
    if margin is not None:
        margin = check_scalar("margin", margin, "finite and above 0",
                              lambda x: np.isfinite(x) & (x > 0))
    if final in ("exact", "sign-flip") and not math.isinf(population_size):
        raise ValueError(f"population_size must be math.inf with final={final!r}: the difference "
                         f"of a finite population is known at its end; got {population_size}")
    return {"margin": margin, "delta": delta, "value_range": value_range,
            "population_size": population_size, "final": final}


def check_planned(planned, n, population_size):
    """Return the planned number of items: n by default."""
    if planned is None:
        planned = n
    planned = check_integer("planned", planned, 0)
    if planned < n:
        raise ValueError(f"planned must be at least the number of items, {n}; got {planned}: the "
                         "test at the end is made once")
    if population_size is not None and planned > population_size:
        raise ValueError(f"population_size must be at least the number of items, {planned}; got "
                         f"{population_size}")
    return planned


def _scores(name, values, value_range):
    low, high = value_range
    values = check_in(name, refuse_masks(name, values), f"in value_range [{low:g}, {high:g}]",
                      lambda x: (x >= low) & (x <= high))
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension; got shape {values.shape}")
    return values


def is_at_ends(values, value_range):
    """Return True if all scores are the smallest or the largest possible one."""
    return bool(np.isin(values, value_range).all())


def means_of_clusters(clusters, values):
    """Return the means of the rows of each cluster, in the order in which clusters first occur."""
    labels = as_list("clusters", clusters, "one label per item", 0)
    if len(labels) != len(values):
        raise ValueError(f"clusters must have one label per item, {len(values)}; got {len(labels)}")
    places: dict[Any, int] = {}
    at = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
    sums = np.zeros((len(places), values.shape[1]))
    np.add.at(sums, at, values)
    return sums / np.bincount(at, minlength=len(places))[:, None]


def _pair(a, b):
    """Return the scores of both models on the same items, and names."""
    paths = [isinstance(one, (str, os.PathLike)) for one in (a, b)]
    if any(paths):
        if not all(paths):
            name, value = ("b", b) if paths[0] else ("a", a)
            raise TypeError(f"{name} must be the name of a file, as the other is; got "
                            f"{shown(value)}")
        return _of_files(os.fspath(a), os.fspath(b))
    names = tuple(str(getattr(one, "name", None) or default) if labels_of(one) is not None
                  else default for one, default in ((a, "a"), (b, "b")))
    return (*_aligned(a, b), names)


def _aligned(a, b):
    """Return b in the order of a if both have labels."""
    labels_a, labels_b = labels_of(a), labels_of(b)
    if labels_a is None or labels_b is None or are_same(labels_a, labels_b):
        return a, b
    places = {label: place for place, label in enumerate(labels_b)}
    if len(places) < len(labels_b) or len(set(labels_a)) < len(labels_a):
        raise ValueError("a and b must have an index without repeated labels, or the same index; "
                         "got repeated labels: pass clusters for several scores of an item")
    alone = [label for label in labels_a if label not in places]
    if alone or len(labels_a) != len(labels_b):
        extra = alone or [label for label in labels_b if label not in set(labels_a)]
        raise ValueError(f"a and b must have the same items; got {len(extra)} that only "
                         f"{'a' if alone else 'b'} has, such as {shown(extra[0])}: leave them out "
                         "of both if what is lost does not depend on the scores")
    return a, np.asarray(b)[[places[label] for label in labels_a]]


def _of_files(a, b):
    """Return the scores of two files on the same items, and their names."""
    if log_paths(a) is not None and log_paths(b) is not None:
        table = read_scores([a, b])
        if len(table.columns) != 2:
            raise ValueError(f"a and b must be log files of one model each; got {a!r} and {b!r} "
                             f"with {len(table.columns)} models: see tied_set")
        return *table.values.T, tuple(map(str, table.columns))
    one, two = (_single(name, path) for name, path in (("a", a), ("b", b)))
    return (*_aligned(one, two), tuple(os.path.basename(path) for path in (a, b)))


class Column:
    """A column of a table, as `verdict` takes it: scores with labels and a name."""

    def __init__(self, table, at):
        self.values, self.index, self.name = table.values[:, at], table.index, table.columns[at]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def _single(name, path):
    """Return the only column of scores of a file."""
    options = Options(least=1)
    table = with_names(opened(path, options), options)
    if isinstance(table, Blocks):
        raise ValueError(f"{name} must be a file that is read into memory; got {path!r}")
    if not isinstance(table, Scores):
        values = np.asarray(table)
        values = values.reshape(len(values), -1)
        table = Scores(list(range(values.shape[1])), range(len(values)), values, range(len(values)))
    if len(table.columns) != 1:
        raise ValueError(f"{name} must be a file with the scores of one model; got {path!r} with "
                         f"{len(table.columns)}: pass columns of read_scores")
    return Column(table, 0)


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
        self._options = _checked(margin, delta, check_ends(value_range), population_size, final)
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
        pair = [_scores(name, np.atleast_1d(check_in(name, values, "finite", np.isfinite)),
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
        return _decided(self._scores(), self._names, self._planned, 0, dict(self._options))

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
