"""Cuped and Ratio: sums of adjusted rewards, their promise and their gain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from pybandit.webtests import Cuped, Ratio

VALUES = st.floats(0, 1, allow_subnormal=False)


def row(y, z):
    """Return the sums that a report of one arm holds."""
    y, z = np.asarray(y, float), np.asarray(z, float)
    return len(y), y.sum(), (y * y).sum(), z.sum(), (z * z).sum(), (y * z).sum()


def adjusted(one, y, z):
    """Return the adjusted rewards, visitor by visitor: the definition in counts.md."""
    (low, high), (z_low, z_high) = one.value_range, (
        one.covariate_range if isinstance(one, Cuped) else one.denominator_range)
    b = one.coefficient if isinstance(one, Cuped) else one.theta
    unit_y, unit_z = (y - low) / (high - low), (z - z_low) / (z_high - z_low)
    b = b * (z_high - z_low) / (high - low)
    return (unit_y - b * unit_z + max(b, 0)) / (1 + abs(b))


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=9), st.floats(-3, 3),
       st.floats(-5, 5), st.floats(0.1, 9))
@settings(deadline=None)
def test_sums_are_those_of_the_adjusted_rewards(pairs, b, low, width):
    y, z = np.array(pairs).T * width + low
    for one in (Cuped(b, (low, low + width), (low, low + width)),
                Ratio(abs(b), (low, low + width), (max(low, 0), max(low, 0) + width))):
        own = z if isinstance(one, Cuped) or low >= 0 else z - low
        x = adjusted(one, y, own)
        assert x.min() >= -1e-9 and x.max() <= 1 + 1e-9
        n, total, squares = one.counts({"a": row(y, own)})["a"]
        assert n == len(y)
        assert total == pytest.approx(x.sum(), abs=1e-8)
        assert squares == pytest.approx((x * x).sum(), abs=1e-7)
        pb.CountRace(2).tell_counts([n, n], [total, total], [squares, squares])  # consistent


def test_coefficient_is_that_of_the_regression_within_arms_and_batches():
    rng = np.random.default_rng(1)
    batches, ys, zs = [], [], []
    for level in (0.2, 0.5):
        rows = {}
        for name, n in (("a", 50), ("b", 80)):
            z = rng.random(n) * 0.4 + level
            y = np.clip(0.5 * z + rng.random(n) * 0.3, 0, 1)
            rows[name] = row(y, z)
            ys.append(y - y.mean())
            zs.append(z - z.mean())
        batches.append(rows)
    y, z = np.concatenate(ys), np.concatenate(zs)
    assert Cuped.fit(batches).coefficient == pytest.approx((y @ z) / (z @ z))
    assert Ratio.fit(batches, value_range=(0, 1), denominator_range=(0, 1)).theta == pytest.approx(
        sum(one[1] for rows in batches for one in rows.values())
        / sum(one[3] for rows in batches for one in rows.values()))


def test_scale_turns_differences_back():
    rng = np.random.default_rng(2)
    z = rng.integers(0, 9, 400).astype(float)
    y = np.minimum(z, rng.integers(0, 9, 400))
    for one in (Cuped(0.7, (0, 9), (0, 9)), Cuped(-0.7, (-3, 9), (-1, 9)),
                Ratio(0.3, (0, 9), (0, 9))):
        b = one.coefficient if isinstance(one, Cuped) else one.theta
        rows = one.counts({"a": row(y[:200], z[:200]), "b": row(y[200:], z[200:])})
        means = [total / n for n, total, _ in rows.values()]
        plain = [np.mean((y - b * z)[part]) for part in (slice(200), slice(200, None))]
        assert (means[1] - means[0]) * one.scale == pytest.approx(plain[1] - plain[0])


def days_to_a_winner(rng, correlation, lift, use):
    """Run one test of two pages, 1,000 visitors a day; return its days and its winner."""
    race, fitted = pb.CountRace(2), None
    for day in range(1, 60):
        rows = {}
        for name, more in (("a", 0.0), ("b", lift)):
            u, v = rng.normal(size=(2, 500))
            z = np.clip(0.5 + 0.12 * u, 0, 1)
            noise = correlation * u + np.sqrt(1 - correlation**2) * v
            rows[name] = row(np.clip(0.5 + more + 0.12 * noise, 0, 1), z)
        fitted = fitted or (Cuped.fit([rows]) if use else Cuped(0.0))
        race.tell_counts(*zip(*fitted.counts(rows).values(), strict=True))
        if race.done:
            return day, int(race.recommend()[0])
    return 60, -1


def test_adjusted_tests_take_the_days_of_the_table():
    """counts.md: medians 11, 10 and 4 days at correlations 0, .7 (8) and .9; 11 without."""
    medians = {}
    for correlation, use in ((0.9, False), (0.0, True), (0.9, True)):
        rng = np.random.default_rng(5)
        days, winners = zip(*[days_to_a_winner(rng, correlation, 0.008, use) for _ in range(30)],
                            strict=True)
        assert winners.count(0) <= 3  # delta is .05; four of 30 have a chance below .02 each
        medians[correlation, use] = np.median(days)
    assert 8 <= medians[0.9, False] <= 14 and 8 <= medians[0.0, True] <= 14
    assert medians[0.9, True] <= 5


def test_equal_arms_are_separated_at_most_as_often_as_promised():
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(60):
        wrong += days_to_a_winner(rng, 0.9, 0.0, True)[1] >= 0
    assert wrong <= 14  # 60 tests at .05: a true one exceeds this with probability below 1e-6


def test_ratio_of_clicks_and_views_finds_the_better_page():
    rng = np.random.default_rng(3)

    def day(rates):
        rows = {}
        for name, rate in zip("ab", rates, strict=True):
            views = np.minimum(1 + rng.poisson(3, 1000), 12)
            rows[name] = row(rng.binomial(views, rate), views)
        return rows

    first = day([0.1, 0.13])
    ratio = Ratio.fit([first], value_range=(0, 12), denominator_range=(1, 12))
    race = pb.CountRace(2)
    race.tell_counts(*zip(*ratio.counts(first).values(), strict=True))
    while not race.done:
        race.tell_counts(*zip(*ratio.counts(day([0.1, 0.13])).values(), strict=True))
    assert race.recommend()[0] == 1 and race.n_batches < 20
    shown = (race.means[1] - race.means[0]) * ratio.scale / 4
    assert shown == pytest.approx(0.03, abs=0.01)


GOOD = (10, 4.0, 2.0, 5.0, 3.0, 2.2)


@pytest.mark.parametrize("at, value, words", [
    (0, 10.5, "trials of arm 'a' must be an integer"), (0, -1, "trials of arm"),
    (1, 11.0, "sum of arm 'a' must be of 10 values"), (1, np.nan, "sum of arm 'a' must be finite"),
    (2, 1.5, "squares of arm 'a'"), (2, 4.5, "squares of arm 'a'"),
    (3, -1.0, "sum of the other values"), (4, 2.0, "squares of arm 'a'"),
    (5, 9.0, "Cauchy and Schwarz")])
def test_impossible_sums_are_refused(at, value, words):
    bad = [*GOOD]
    bad[at] = value
    Cuped(0.5).counts({"a": GOOD})
    for call in (lambda: Cuped(0.5).counts({"a": tuple(bad)}), lambda: Cuped.fit([{"a": bad}]),
                 lambda: Ratio.fit([{"a": bad}], value_range=(0, 1), denominator_range=(0, 1))):
        with pytest.raises(ValueError, match=words):
            call()


def test_bad_arguments_are_refused():
    for call, error, words in (
            (lambda: Cuped(np.inf), ValueError, "coefficient must be finite"),
            (lambda: Cuped(1, (1, 0)), ValueError, "value_range"),
            (lambda: Cuped(1, (0, 1), (0, np.inf)), ValueError, "covariate_range"),
            (lambda: Ratio(-1, (0, 1), (0, 1)), ValueError, "theta"),
            (lambda: Ratio(1, (0, 1), (-1, 1)), ValueError, "denominator_range must be at least"),
            (lambda: Cuped.fit([{"a": (2, 1.0, 0.5, 1.0, 0.5, 0.5)}]), ValueError, "vary within"),
            (lambda: Cuped.fit([]), ValueError, "vary within"),
            (lambda: Ratio.fit([], value_range=(0, 1), denominator_range=(0, 1)), ValueError,
             "denominators above 0"),
            (lambda: Cuped(1).counts({"a": (1, 2)}), TypeError, "rows must be .trials, sum"),
            (lambda: Cuped(1).counts({"a": 5}), TypeError, "rows must be .trials, sum"),
            (lambda: Cuped(1).counts({"a": (0, 0, 0, 0, 0, 1)}), ValueError, "0 without trials")):
        with pytest.raises(error, match=words):
            call()
