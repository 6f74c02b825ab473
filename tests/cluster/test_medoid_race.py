"""Races, planes and sums of medoids compared with NumPy, and the promise of the race."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pybandit.cluster import medoid
from pybandit.cluster._distances import Distances
from pybandit.cluster._find import student_quantiles
from pybandit.cluster._planes import Planes
from pybandit.cluster._race import MedoidRace
from pybandit.cluster._rows import METRICS, as_rows, unit_rows
from pybandit.cluster._sums import exact_sums, full_sums, separable_totals

from cluster.data import data
from cluster.reference.medoid import Race, plane_of, planes, totals_of
from cluster.reference.medoid import separable_totals as plain_totals


def weights_of(n, seed=1):
    w = np.random.default_rng(seed).pareto(1.5, n)
    return w / w.mean()


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "hamming", "manhattan"])
@pytest.mark.parametrize("kind", ["gauss", "dups", "bits"])
@pytest.mark.parametrize("weighted", [False, True])
def test_separable_sums(metric, kind, weighted):
    x = data(kind, 700, 9)
    x[5] = 0
    w = weights_of(700) if weighted else None
    rows = unit_rows(as_rows("X", x)) if metric == "cosine" else x
    found = separable_totals(Distances(rows, METRICS[metric]), w)
    expected = plain_totals(x, metric, w)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if metric == "cosine" else 1e-11)
    np.testing.assert_allclose(expected, totals_of(x.astype(float), metric, w), rtol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_full_sums(metric, dtype):
    x, w = data("blobs", 1300, 7).astype(dtype), weights_of(1300)
    source, some = Distances(x, METRICS[metric]), np.arange(0, 1300, 3)
    for weights in (None, w):
        expected = totals_of(x.astype(float), metric, weights)
        for few in (some, some[:5]):
            for n_threads in (1, 3):
                found = full_sums(source, weights, few, n_threads)
                np.testing.assert_allclose(found, expected[few], rtol=1e-7)
                np.testing.assert_allclose(exact_sums(source, weights, few, n_threads),
                                           expected[few], rtol=1e-13)


@pytest.mark.parametrize("kind, n, d", [("unif", 3000, 2), ("gauss", 2000, 3), ("dups", 1000, 2),
                                        ("blobs", 2000, 5), ("heavyrow", 600, 6)])
@pytest.mark.parametrize("weighted", [False, True])
def test_planes_find_the_medoid_in_the_passes_of_the_reference(kind, n, d, weighted):
    x = data(kind, n, d)
    w = weights_of(n) if weighted else None
    found = Planes(Distances(x, 0), w, np.arange(n))
    assert found.run(0, 1, 1.0, n)
    winner, passes = planes(x, 0, w)
    assert found.winner == winner and found.n_passes == passes
    totals = totals_of(x.astype(float), "euclidean", w)
    assert totals[winner] <= totals.min() * (1 + 1e-12)
    assert found.best == pytest.approx(totals.min() / n, rel=1e-12)


def test_bounds_of_planes_are_below_the_means():
    x = data("gauss", 400, 4).astype(float)
    totals = totals_of(x, "euclidean")
    for a in range(0, 400, 40):
        theta, slope = plane_of(x, a)
        assert (theta - (x - x[a]) @ slope <= totals / 400 * (1 + 1e-12)).all()


RACES = [("gauss", "euclidean", 30), ("unif", "euclidean", 2), ("heavyrow", "euclidean", 12),
         ("dups", "euclidean", 3), ("scrna", "manhattan", 15), ("bits", "hamming", 10)]


@pytest.mark.parametrize("kind, metric, d", RACES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_race_follows_the_reference(kind, metric, d, weighted, dtype):
    x = data(kind, 1500, d).astype(dtype)
    w = weights_of(1500) if weighted else None
    precision = 2.0**-50 if dtype == "float64" else 2.0**-21
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(1500)
        twin = Race(x, metric, 1e-2, w, precision)
        cost = twin.run(order, 375)
        parts = iter(np.split(order, [16, *range(80, 1500, 64)]))
        race = MedoidRace(Distances(x, METRICS[metric]), w, np.arange(1500),
                          "euclidean" if metric == "euclidean" else "metric", 1e-2)
        race.run_bets(lambda n, parts=parts: next(parts), 375)
        if dtype == "float64":
            assert race.alive.tolist() == twin.alive.tolist()
            assert (race.anchor, race.n_distances) == (twin.anchor, cost)
            np.testing.assert_allclose(race.wealth, twin.wealth, rtol=1e-6, atol=1e-6)
        else:  # rounding decides ties between leaders, and moves eliminations by a tile
            assert race.n_distances == pytest.approx(cost, rel=0.3)
            assert set(race.alive) & set(twin.alive)


def compiled(x, metric, delta, weights):
    kind = "euclidean" if metric == "euclidean" else "metric"
    return MedoidRace(Distances(x, METRICS[metric]), weights, np.arange(len(x)), kind, delta)


def loses(race, order, tile, choose, medoids):
    """Return True if the race eliminates every medoid, with anchors from `choose`."""
    race.read(order[:1])
    for t in range(1, len(order), tile):
        anchor = choose(race, t)
        if anchor is not None:
            race.set_anchor(anchor)
        race.read(order[t:t + tile])
        race.drop()
        if not medoids & set(race.alive.tolist()):
            return True
    return False


def by_leader(race, t):
    """The rule of the race."""
    return race.leader if race.leader != race.anchor and (race.anchor < 0 or t % 2) else None


def against(medoids):
    """Anchors chosen against the bets: the survivor, other than a medoid, read as the best."""

    def choose(race, t):
        others = [i for i in race.alive.tolist() if i not in medoids]
        return others[t % len(others)] if others else None

    return choose


def small_populations():
    rng = np.random.default_rng(12)
    line = np.array([0.0, 1.0, 2.1, 3.0, 9.0, 10.0])[:, None]
    near = np.array([0.0, 5.0, 5.001, 5.002, 9.0, 30.0])[:, None]
    for x in (rng.random((6, 2)), rng.normal(size=(6, 2)) ** 3, line, near):
        yield x, None
    yield near, np.array([3.0, 0.2, 0.5, 0.3, 1.5, 0.5])
    yield rng.random((6, 2)), weights_of(6, 3)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("tile", [1, 2])
@pytest.mark.parametrize("adversarial", [False, True])
def test_promise_holds_by_enumeration(metric, tile, adversarial):
    """All orders of six points: the share in which the medoid is eliminated is at most delta."""
    delta, orders = 0.3, np.array(list(itertools.permutations(range(6))))
    for x, w in small_populations():
        totals = totals_of(x, metric, w)
        medoids = set(np.flatnonzero(totals <= totals.min() * (1 + 1e-12)).tolist())
        choose = against(medoids) if adversarial else by_leader
        lost = sum(loses(compiled(x, metric, delta, w), order, tile, choose, medoids)
                   for order in orders)
        assert lost <= delta * len(orders), (lost, x)


def test_enumeration_can_fail():
    """Bets that assume a mean half as large eliminate the medoid more often than delta."""
    x, orders = np.array([0.0, 5.0, 5.001, 5.002, 9.0, 30.0])[:, None], \
        np.array(list(itertools.permutations(range(6))))
    totals = totals_of(x, "manhattan")
    medoids = {int(totals.argmin())}

    class Wrong(Race):
        def set_anchor(self, a):
            super().set_anchor(a)
            self.shift = 0.5 * self.shift

    lost = sum(loses(Wrong(x, "manhattan", 0.3), order, 1, by_leader, medoids)
               for order in orders)
    assert lost > 0.3 * len(orders)


def test_no_y_is_negative():
    """The bets rest on y >= 0: random rows, copies with noise, and rows far from zero."""
    rng = np.random.default_rng(2)
    near = np.repeat(rng.normal(size=(30, 8)), 20, axis=0) + 1e-5 * rng.normal(size=(600, 8))
    for x in (data("gauss", 600, 8), near.astype(np.float32),
              (1e6 + rng.normal(size=(600, 8))).astype(np.float32)):
        race = Race(x, "euclidean", 1e-3)
        race.read(np.arange(16))
        race.set_anchor(race.leader)
        r, far = race.apart, race.apart
        d = Distances(x, 0).block(np.arange(600), np.arange(600))
        gap, sure = d - far, ~race.near
        c = (r[:, None] ** 2 - gap * (d + far))[:, sure] * (0.5 / far[sure])
        y = gap[:, sure] + c
        # an error of d is multiplied by d / far
        scale = d[:, sure] * (1.0 + d[:, sure] / far[sure])
        assert (y >= -(2.0**-21) * scale - 1e-15 * far[sure]).all()


@pytest.mark.parametrize("kind", ["gauss", "heavyrow", "heavy", "copies", "offset"])
def test_rounding_adds_at_most_the_slack(kind):
    """The sums of y_ij of float32 distances, next to those of float64."""
    rng = np.random.default_rng(3)
    x = (np.repeat(rng.normal(size=(30, 8)), 20, axis=0) + 1e-5 * rng.normal(size=(600, 8))
         if kind == "copies" else 1e6 + rng.normal(size=(600, 8)) if kind == "offset"
         else data(kind, 600, 8)).astype(np.float32)
    rounded = Distances(x, 0).block(np.arange(600), np.arange(600))
    exact = Distances(x.astype(float), 0).block(np.arange(600), np.arange(600))
    exceeded = False
    for anchor in (int(exact.sum(axis=1).argmin()), 17):
        race = Race(x, "euclidean", 1e-3, precision=2.0**-21)
        race.read(np.arange(16))
        race.set_anchor(anchor)
        kept = race.alive
        errors = np.zeros(kept.size)
        for part in np.split(np.arange(16, 600), [200, 400]):
            sums = []
            for d in (rounded, exact):
                before = race.read_.copy()
                race.bet(d[np.ix_(kept, part)], part)
                sums.append(race.read_ - before)
            errors += sums[0] - sums[1]
        assert (np.abs(errors) <= 600 * race.slack()).all()
        exceeded |= (np.abs(errors) > 600 * race.precision * race.theta).any()
    # rows far from the anchor need more than the errors of distances
    assert exceeded or kind != "heavyrow"


def best_of(x, metric):
    """Return the medoid by all pairs, with SciPy."""
    return int(cdist(x, x, {"manhattan": "cityblock"}.get(metric, metric)).sum(axis=1).argmin())


FIVE = [("gauss", "euclidean", 20), ("blobs", "euclidean", 100), ("unif", "euclidean", 11),
        ("heavyrow", "euclidean", 20), ("scrna", "manhattan", 100)]


@pytest.mark.parametrize("kind, metric, d", FIVE)
@pytest.mark.parametrize("n_races", [4, pytest.param(300, marks=pytest.mark.slow)])
def test_no_race_is_wrong(kind, metric, d, n_races):
    """At delta = .001, 1,500 races on five data sets have no wrong answer."""
    x = data(kind, 4000, d)
    best = best_of(x, metric)
    assert all(medoid(x, metric=metric, rng=seed).index == best for seed in range(n_races))


@pytest.mark.slow
@pytest.mark.parametrize("kind, metric, d", FIVE)
def test_races_without_bets_are_rarely_wrong(kind, metric, d):
    x = data(kind, 2000, d)
    best = best_of(x, metric)
    wrong = sum(medoid(x, metric=metric, bound="student", delta=0.05, rng=seed).index != best
                for seed in range(150))
    assert wrong <= 15  # 7.5 expected at delta


def test_quantiles_of_students_looks():
    from scipy.stats import t

    found = student_quantiles(500, 0.05)
    assert len(found) == 3
    np.testing.assert_allclose(found, [t.ppf(1 - 0.05 / 3, 64 * 2**k - 1) for k in range(3)])


@pytest.mark.parametrize("kind, metric, d", [("gauss", "euclidean", 20), ("bits", "manhattan", 30)])
def test_race_computes_few_distances(kind, metric, d):
    x = data(kind, 20_000, d)
    result = medoid(x, metric=metric, rng=1)
    assert not result.exact and result.n_distances < 20_000 * 400


def test_exact_medoid_is_certified():
    for kind, d in (("gauss", 12), ("blobs", 30), ("unif", 11)):
        x = data(kind, 3000, d)
        result = medoid(x, exact=True, rng=1)
        assert result.exact and result.index == best_of(x, "euclidean")
