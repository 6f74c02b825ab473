"""Which of two models is better, and are they? A verdict on scores of the same items."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pybandit._shared.checks import check_choice, check_delta, check_ends, check_scalar
from pybandit._shared.generators import as_generator
from pybandit._shared.types import Rng
from pybandit.betting._sequence_checks import check_population
from pybandit.evaluation._verdict_bets import evidence
from pybandit.evaluation._verdict_input import (
    check_planned,
    check_scores,
    is_at_ends,
    means_of_clusters,
    pair_of,
)
from pybandit.evaluation.verdict_result import Verdict

__all__ = ["verdict"]

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
    values_a, values_b, names = pair_of(a, b)
    options = checked_options(margin, delta, value_range, population_size, final)
    values_a = check_scores("a", values_a, value_range)
    values_b = check_scores("b", values_b, value_range)
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
    return decided(values, names, planned, rng, options)


def decided(values, names, planned, rng, options):
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


def checked_options(margin, delta, value_range, population_size, final):
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
