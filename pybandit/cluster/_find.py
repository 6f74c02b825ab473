"""Find one medoid: exactly if that is cheap, otherwise by planes or a race."""

from typing import Any, NamedTuple

import numpy as np

from pybandit.cluster._planes import Planes
from pybandit.cluster._race import MedoidRace, check_distances
from pybandit.cluster._rows import METRICS
from pybandit.cluster._sparse import first_of_equal, is_sparse
from pybandit.cluster._sums import distances_from, exact_sums, full_sums, separable_totals
from pybandit.racing._track import Subsample

SEPARABLE = {METRICS[name] for name in ("sqeuclidean", "cosine", "hamming")}
MANHATTAN, EUCLIDEAN = METRICS["manhattan"], METRICS["euclidean"]
PRECOMPUTED = METRICS["precomputed"]
ALL_PAIRS = 256          # fewer points are compared in full, without a race
ALL_PAIRS_LABELLED = 512
SORTED = 2000            # fewer rows are sorted by column for the Manhattan metric
FEW = 16                 # candidates up to this number are compared in double precision at once
FEW_COLUMNS = 10         # Euclidean rows with at most this number start with planes
# A race ends if the full sums of its survivors cost this share of the distances so far. Tiles of
# few survivors are cheap, so a small share saves sums: 1/16 instead of 1/4 saves about 10 %.
FULL_SUMS = 16.0
ROWS_AT_ONCE = 1 << 18   # rows compared with their mean at once
LARGEST_ORDER = 2**32 - 1


class Question(NamedTuple):
    """What to find the medoid of, and how."""

    distances: Any          # Distances
    metric: int             # number of the metric of rows; PRECOMPUTED: a matrix or a function
    triangle: bool          # the triangle inequality holds
    weights: np.ndarray | None  # mean 1; None: all 1
    bound: str              # "betting" or "student"
    delta: float
    exact: bool
    rng: np.random.Generator
    n_threads: int
    bar: Any
    all_pairs: int = ALL_PAIRS

    @property
    def has_rows(self):
        return self.metric != PRECOMPUTED


class Found(NamedTuple):
    """The medoid of a `Question`."""

    index: int
    mean_distance: float
    exact: bool
    bound: str | None
    n_distances: int
    n_survivors: int


def find(q):
    """Return the `Found` of a question."""
    n = q.distances.n
    everything = np.arange(n)
    if n < q.all_pairs:
        return compared(q, everything, None, 0)
    if q.metric in SEPARABLE or q.metric == MANHATTAN and (q.exact or n < SORTED):
        totals = separable_totals(q.distances, q.weights)
        q.bar.update(n)
        return settled(q, nearly_best(everything, totals, 1e-10), None, n, n)
    if q.metric == EUCLIDEAN:
        return euclidean(q)
    if q.exact:
        return compared(q, everything, None, 0)
    return compared(q, *raced(q, everything, q.bound))


def euclidean(q):
    """Return the `Found` of rows: by planes, by a race, or both."""
    n, n_columns = q.distances.rows.shape
    planes = Planes(q.distances, q.weights, np.arange(n))
    done = n_columns <= FEW_COLUMNS and planes.run(first_anchor(q), 8, 0.5, n)
    if done:
        return by_planes(q, planes, 0)
    candidates = candidates_of(planes)
    survivors, bound, n_distances, totals = raced(q, candidates, q.bound)
    best = compared(q, survivors, bound, n_distances + n * planes.n_passes, totals)
    if not q.exact:
        return best
    n_before = planes.n_passes
    if planes.run(best.index, 20, 0.0, 20):
        return by_planes(q, planes, best.n_distances - n * n_before)
    rest = candidates_of(planes)
    return compared(q, rest, None, best.n_distances + n * (planes.n_passes - n_before))


def candidates_of(planes):
    """Return the survivors of planes and their winner, increasing."""
    return planes.alive if planes.winner < 0 else np.union1d(planes.alive, [planes.winner])


def first_anchor(q):
    """Return the row closest to the mean, which is usually close to the medoid."""
    rows, w = q.distances.rows, q.weights
    parts = [slice(first, first + ROWS_AT_ONCE) for first in range(0, len(rows), ROWS_AT_ONCE)]
    mean = (rows.mean(axis=0, dtype=np.float64) if w is None
            else sum(w[part] @ rows[part] for part in parts) / w.sum())
    squares = np.empty(len(rows), rows.dtype)
    for part in parts:
        apart = rows[part] - mean.astype(rows.dtype)
        np.einsum("ij,ij->i", apart, apart, out=squares[part])
    return int(np.argmin(squares))


def by_planes(q, planes, n_distances):
    """Return the `Found` that planes certify."""
    n_distances += q.distances.n * planes.n_passes
    q.bar.update(n_distances)
    return settled(q, planes.winners, None, n_distances, 1)


def raced(q, candidates, bound):
    """Return the survivors of a race, its bound, the number of distances computed, and the sums
    of the distances of survivors to all points, None if the race did not read all.
    """
    n = q.distances.n
    if len(candidates) == 1:
        return candidates, None, 0, None
    kind = "student" if bound == "student" else "euclidean" if q.metric == EUCLIDEAN else "metric"
    race = MedoidRace(q.distances, q.weights, candidates, kind, q.delta, q.n_threads, q.bar)
    order = Subsample("permutation" if n <= LARGEST_ORDER else "keyed", n)
    order.restart(q.rng)

    def draw(count):
        return order.next(count, q.rng)

    if kind == "student":
        race.run_student(draw, n // 4, student_quantiles(n // 4, q.delta), ratio=FULL_SUMS)
    else:
        race.run_bets(draw, n // 4, ratio=FULL_SUMS)
    totals = race.totals if race.n_read == n else None
    return race.alive, bound, race.n_distances, totals


def student_quantiles(limit, delta):
    """Return the quantiles of the looks after 64, 192, 448, ... of at most `limit` references."""
    from scipy.special import stdtrit

    n_looks = max(1, int(np.log2(limit / 64 + 1)))
    sizes = 64 * 2 ** np.arange(n_looks)
    return stdtrit(sizes - 1.0, 1.0 - delta / n_looks)


def compared(q, candidates, bound, n_distances, totals=None):
    """Return the candidate with the smallest sum of distances to all points.

    The sums may be given as `totals`, up to the rounding of each distance.
    """
    n_survivors = len(candidates)
    if totals is not None:
        candidates = nearly_best(candidates, totals, rounding(q))
        return settled(q, candidates, bound, n_distances, n_survivors)
    candidates = without_copies(q, candidates)
    if len(candidates) > 1:
        n_distances += len(candidates) * q.distances.n
        q.bar.update(len(candidates) * q.distances.n)
    if q.has_rows and len(candidates) > FEW:
        sums = full_sums(q.distances, q.weights, candidates, q.n_threads)
        candidates = nearly_best(candidates, sums, rounding(q))
    return settled(q, candidates, bound, n_distances, n_survivors)


def rounding(q):
    """Return a bound of the relative error of sums of distances that are rounded one by one."""
    if not q.has_rows:
        return 2.0**-20  # functions may use float32, and round another block differently
    if q.distances.rows.dtype != np.float32:
        return 1e-12
    # float32 distances are sums of n_columns terms, each rounded
    return 2.0**-22 * (2.0 + q.distances.rows.shape[1] ** 0.5)


def nearly_best(candidates, sums, error):
    """Return the candidates whose sums are within this relative error of the smallest."""
    if not (candidates.size and np.isfinite(sums).all()):
        raise ValueError("distances between the rows of X must be finite; got NaN or infinity: "
                         "do not write to X during the call")
    return candidates[sums <= sums.min() * (1.0 + error)]


def settled(q, candidates, bound, n_distances, n_survivors):
    """Return the best candidate by sums in double precision.

    Sums that differ by rounding only are equal, and the lowest index counts.
    """
    candidates = without_copies(q, candidates)
    sums = exact_sums(q.distances, q.weights, candidates, q.n_threads)
    best = int(nearly_best(np.arange(len(sums)), sums, 1e-13)[0])
    return Found(first_copy(q, int(candidates[best])), float(sums[best]) / q.distances.n,
                 bound is None, bound, n_distances, n_survivors)


def without_copies(q, candidates):
    """Return the first of each group of equal rows among the candidates."""
    if not q.has_rows or len(candidates) < 2:
        return candidates
    rows = q.distances.rows
    if is_sparse(rows):
        return candidates[first_of_equal(rows, candidates)]
    _, first = np.unique(rows[candidates], axis=0, return_index=True)
    return candidates[np.sort(first)]


def first_copy(q, index):
    """Return the lowest index at distance 0 from the medoid, which has the same mean distance."""
    if not (q.has_rows or q.triangle):
        return index
    if q.has_rows and not is_sparse(q.distances.rows):
        rows = q.distances.rows
        same = np.flatnonzero(rows[:index, 0] == rows[index, 0])
        same = same[(rows[same] == rows[index]).all(axis=1)]
        return int(same[0]) if same.size else index
    apart = check_distances(distances_from(q.distances, index), index)
    return min(index, int(np.argmax(apart == 0.0))) if (apart == 0.0).any() else index
