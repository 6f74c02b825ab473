"""Several metrics of one web test, with one bound on the probability of any wrong claim."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from pybandit._shared.checks import check_delta, shown
from pybandit._shared.types import ArrayLike, Ints
from pybandit.betting import CountRace
from pybandit.studies.results import TellResult
from pybandit.webtests._counts import checked_counts
from pybandit.webtests.guardrail import Guardrail
from pybandit.webtests.metric import Metric, MetricResult, checked_metrics
from pybandit.webtests.webtest import WebTest

__all__ = ["Metrics"]

KEY = "metric"  # of the settings of a metric's file


class Metrics:
    """Several metrics of one A/B test: goals and guardrails, told once per day.

    Created by `Metrics.create` or `Metrics.open`. The first arm is the control. Each metric has
    a file of its own in one folder, a `WebTest`, and its share ``delta / m`` of the permitted
    error, where m is the number of metrics.

    Attributes
    ----------
    path : str
        The folder, or ":memory:".
    names : tuple of str
        Names of the arms.
    metrics : dict of Metric
        By name.
    delta : float
    tests : dict of WebTest
        The file of each metric, by name; `WebTest.amend_counts` corrects it.

    See Also
    --------
    Guardrail : one metric that must not get worse.
    Cuped, Ratio : report their counts as those of a metric with values in (0, 1).

    Notes
    -----
    *Promise.* With probability at least ``1 - delta``, none of these claims is ever made, for any
    metric, at any look:

    - a goal has a winner that is not its single best arm;
    - an arm is harmed whose loss is below the margin in all batches, or safe although its loss is
      above the margin in all batches.

    The assumptions are those of `CountRace`, for each metric.

    *Proof.* By the union bound. A goal's `CountRace` at ``delta / m`` names a wrong winner with
    probability at most ``delta / m``. A guardrail gives each of its n_arms - 1 arms the share
    ``delta / (m (n_arms - 1))``. An arm whose loss is below the margin can only be wrongly harmed,
    and an arm whose loss is above it only wrongly safe. Either has at most this probability. The
    sum over arms and metrics is at most delta. Metrics of the same visitors may depend on each
    other in any way. The intervals of the lifts in a report are another family: all of them hold
    together with probability at least ``1 - delta``.

    The split of visits may depend on all results so far, as in `CountRace`.

    *Cost of a metric.* The threshold of the wealth grows by the factor m. With three metrics
    instead of one, a test takes about a fifth longer.

    *Crashes.* Metrics are recorded one after the other. After a crash, repeat the call: it
    adds the counts that are missing. The same if a call is refused for one metric.

    **Threads.** Several processes and threads may use one test at once, as with `WebTest`.

    Examples
    --------
    >>> from pybandit.webtests import Metric, Metrics
    >>> test = Metrics.create(":memory:", {
    ...     "conversion": Metric(), "revenue": Metric(value_range=(0, 60)),
    ...     "errors": Metric(margin=0.002, lower_is_better=True)}, arms=["old", "new"])
    >>> for day in range(1, 6):
    ...     result = test.tell_counts({
    ...         "conversion": {"old": (2500, 100), "new": (2500, 150 + day)},
    ...         "revenue": {"old": (2500, 2100.0, 70e3), "new": (2500, 3300.0 + day, 110e3)},
    ...         "errors": {"old": (2500, 25), "new": (2500, 75 + day)}}, key=f"2025-03-0{day}")
    >>> print(test.summary())
    conversion: new won.
    revenue: new won.
    errors: new is harmed.
    """

    def __init__(self, path: str, tests: dict[str, WebTest]) -> None:
        self._path, self._tests = path, tests
        settings = {name: test.settings[KEY] for name, test in tests.items()}
        self._delta = float(next(iter(settings.values()))["delta"])
        self._metrics = {name: Metric(tuple(one["value_range"]), one["margin"],
                                      one["lower_is_better"]) for name, one in settings.items()}

    @classmethod
    def create(cls, path: str | os.PathLike[str], metrics: Mapping[str, Metric],
               arms: Sequence[str], *, delta: float = 0.05, shares: ArrayLike | None = None,
               who: str | None = None) -> Self:
        """Create a test.

        Parameters
        ----------
        path : str or path-like
            Folder to create, or ``":memory:"``. After a crash it is complete or absent; a draft
            ``<path>.*.new`` may be left, which can be deleted.
        metrics : dict of Metric
            By name: letters, digits, ``_`` and ``-``. At least one must be a goal. The first goal
            decides how `split` divides the visits.
        arms : sequence of str
            Unique names of the arms, the control first.
        delta : float, default 0.05
            Maximum probability of any wrong claim, in (0, 1).
        shares, who : optional
            As in `WebTest.create`.

        Raises
        ------
        FileExistsError
            If the folder exists.
        ValueError, TypeError
            If an argument is invalid.
        StudyError
            If a file cannot be written.

        Examples
        --------
        >>> from pybandit.webtests import Metric, Metrics
        >>> with Metrics.create("shop", {"sales": Metric(), "errors": Metric(margin=0.01)},
        ...                     arms=["old", "new"]) as test:
        ...     print(test, test.tests["sales"].policy.delta)
        <Metrics 'shop': 2 metrics, 2 arms> 0.025
        """
        path, metrics, delta = os.fspath(path), checked_metrics(metrics), check_delta(delta)
        if isinstance(arms, (str, bytes)) or not 2 <= len(arms):
            raise ValueError(f"arms must be at least 2 names; got {shown(arms)}")
        options = {"shares": shares, "who": who}
        if path == ":memory:":
            return cls(path, _created(metrics, arms, delta, lambda name: path, options))
        if os.path.exists(path):
            raise FileExistsError(f"path must be a new folder; {path} exists: open it with "
                                  "Metrics.open")
        draft = tempfile.mkdtemp(suffix=".new", prefix=f"{os.path.basename(path)}.",
                                 dir=os.path.dirname(os.path.abspath(path)))
        try:
            for test in _created(metrics, arms, delta, lambda name: _file(draft, name),
                                 options).values():
                test.close()
            os.rename(draft, path)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return cls.open(path, who=who)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, who: str | None = None) -> Self:
        """Open an existing test.

        Raises
        ------
        FileNotFoundError
            If there is no such folder.
        ValueError
            If it is not the folder of a test, or a metric's file is missing.
        StudyError
            As in `WebTest.open`.

        Examples
        --------
        >>> from pybandit.webtests import Metric, Metrics
        >>> Metrics.create("shop2", {"sales": Metric()}, arms=["old", "new"]).close()
        >>> with Metrics.open("shop2") as test:
        ...     print(test.names, list(test.metrics))
        ('old', 'new') ['sales']
        """
        path, found = os.fspath(path), {}
        try:
            for file in sorted(os.listdir(path)):
                if file.endswith(".db"):
                    found[file.removesuffix(".db")] = WebTest.open(os.path.join(path, file),
                                                                   who=who)
            return cls(path, _in_order(path, found))
        except BaseException:
            for test in found.values():
                test.close()
            raise

    @property
    def path(self) -> str:
        """The folder."""
        return self._path

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arms, the control first."""
        return self._first.names

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name; a copy."""
        return dict(self._metrics)

    @property
    def tests(self) -> dict[str, WebTest]:
        """The file of each metric by name; a copy of the dict."""
        return dict(self._tests)

    @property
    def delta(self) -> float:
        """Maximum probability of any wrong claim."""
        return self._delta

    @property
    def _first(self):
        """The file of the first goal."""
        return next(self._tests[name] for name, one in self._metrics.items()
                    if not one.is_guardrail)

    def tell_counts(self, counts: Mapping[str, Mapping[str, tuple[float, ...]]], *, key: str,
                    cumulative: bool = False, repeated: bool = False,
                    who: str | None = None) -> TellResult:
        """Record a batch: the counts of each metric.

        Parameters
        ----------
        counts : dict of dict
            By metric and arm, as in `WebTest.tell_counts`: visitors and successes of a
            conversion, or visitors, sum and sum of squares of values. Visitors without a value
            count, with 0. A metric that is not named may be reported later, under the same key.
        key : str
            Name of the batch, such as a day. A call may be repeated.
        cumulative, repeated, who
            As in `WebTest.tell_counts`.

        Returns
        -------
        TellResult
            Numbers of counts recorded now and before, over all metrics.

        Raises
        ------
        ValueError, TypeError, StudyError
            As in `WebTest.tell_counts`, with the metric's name. Sums that no values can have are
            found before anything is recorded. After other errors, repeat the call when the cause
            is corrected.

        Warns
        -----
        UserWarning
            As in `WebTest.tell_counts`.
        """
        if not isinstance(counts, Mapping) or not counts:
            raise TypeError(f"counts must be a dict of counts by metric; got {shown(counts)}")
        for name in counts:
            if name not in self._tests:
                raise ValueError(f"counts must name metrics of the test, "
                                 f"{', '.join(self._tests)}; got {shown(name)}")
        if not isinstance(key, str):
            raise TypeError(f"key must be text; got {shown(key)}")
        # all values are checked first, so that most errors leave every metric as it was
        for name, rows in counts.items():
            _named(name, self._tests[name]._read, lambda _, name=name, rows=rows: checked_counts(
                rows, self._tests[name]._names, self._tests[name]._policy))
        told, doubts = [], {}
        for name, rows in counts.items():
            result, words = _named(name, self._tests[name]._tell_counts, rows, key, cumulative,
                                   repeated, who, None)
            told.append(result)
            doubts.update(dict.fromkeys(words))
        for words in doubts:
            warnings.warn(words, UserWarning, stacklevel=2)
        return TellResult(n_new=sum(one.n_new for one in told),
                          n_known=sum(one.n_known for one in told), complete=True)

    def results(self) -> dict[str, MetricResult]:
        """Return the state of each metric by name."""
        return {name: self._result(name) for name in self._tests}

    def _result(self, name):
        test, metric, names = self._tests[name], self._metrics[name], self.names
        batches = test._batches()
        trials, sums = (np.sum([one[at] for one in batches], axis=0) if batches
                        else np.zeros(len(names)) for at in (0, 1))
        with np.errstate(all="ignore"):
            means = sums / trials
        harmed, safe, winner = (), (), None
        if metric.is_guardrail:
            rail = self._guardrail(name).replay(test)
            harmed, safe = rail.harmed, rail.safe
        elif (race := test.policy).done:
            winner = names[int(race.recommend()[0])]
        return MetricResult(name=name, is_guardrail=metric.is_guardrail, means=means,
                            winner=winner, harmed=[names[arm] for arm in harmed],
                            safe=[names[arm] for arm in safe])

    def _guardrail(self, name):
        metric = self._metrics[name]
        return Guardrail(len(self.names), margin=metric.margin, value_range=metric.value_range,
                         delta=self._delta / len(self._tests),
                         lower_is_better=metric.lower_is_better)

    def split(self, n: int) -> Ints:
        """Split the next n visitors among the arms.

        Returns
        -------
        ndarray of int64, shape (n_arms,)
            As `WebTest.split` of the first goal.
        """
        return self._first.split(n)

    def summary(self) -> str:
        """Return the state of each metric, in one sentence per line."""
        return "\n".join(one.summary() for one in self.results().values())

    def close(self) -> None:
        """Close the files. Closing them again has no effect."""
        for test in self._tests.values():
            test.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a Metrics has open files and cannot be pickled or copied; open the folder "
                        f"where it is needed: Metrics.open({self._path!r})")

    def __repr__(self) -> str:
        return f"<Metrics {self._path!r}: {len(self._tests)} metrics, {len(self.names)} arms>"


def _file(folder, name):
    return os.path.join(folder, f"{name}.db")


def _created(metrics, arms, delta, path_of, options):
    """Create the file of each metric; return them by name."""
    found = {}
    for at, (name, one) in enumerate(metrics.items()):
        settings = {KEY: {"name": name, "at": at, "of": len(metrics), "delta": delta,
                          "value_range": list(one.value_range), "margin": one.margin,
                          "lower_is_better": one.lower_is_better}}
        race = CountRace(len(arms), delta=delta / len(metrics), value_range=one.value_range)
        found[name] = WebTest.create(path_of(name), race, arms, settings=settings, **options)
    return found


def _in_order(path, found):
    """Return the files of a folder by name, in the order of their metrics."""
    parts = {name: test.settings.get(KEY) for name, test in found.items()}
    if not parts or not all(isinstance(one, dict) for one in parts.values()):
        raise ValueError(f"path must be a folder written by Metrics.create; got {path}")
    order = sorted(found, key=lambda name: parts[name]["at"])
    n = parts[order[0]]["of"]
    if [(parts[name]["name"], parts[name]["at"], parts[name]["of"]) for name in order] != [
            (name, at, n) for at, name in enumerate(order)] or len(order) != n:
        raise ValueError(f"path must have the files of {n} metrics; {path} has those of "
                         f"{', '.join(order)}")
    return {name: found[name] for name in order}


def _named(name, function, *arguments):
    """Call a function; its errors begin with the name of the metric."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error
