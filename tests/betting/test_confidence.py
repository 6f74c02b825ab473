"""Confidence sequences: exact values, reference implementation, properties for any values."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from betting.reference import confidence as twin
from betting.reference import scaled

METHODS = ["betting", "empirical-bernstein", "hoeffding", "asymptotic"]
GUARANTEED = METHODS[:3]


def draws(kind, n, seed):
    rng = np.random.default_rng(seed)
    return {
        "uniform": lambda: rng.random(n),
        "rare": lambda: (rng.random(n) < 0.1).astype(float),
        "zeros": lambda: np.zeros(n),
        "ones": lambda: np.ones(n),
        "halves": lambda: np.full(n, 0.5),
        "sorted": lambda: np.sort(rng.random(n)),
        "skewed": lambda: np.minimum(rng.lognormal(size=n), 20.0) / 20.0,
    }[kind]()


KINDS = ["uniform", "rare", "zeros", "ones", "halves", "sorted", "skewed"]


def mixture(size):
    """Return the bets for a population, as the reference takes them."""
    return scaled.mixture(scaled.FINITE if size and size <= 30_000 else scaled.ENDLESS)


def reference(x, size, alpha, method, bets=16):
    if method == "betting":
        return twin.betting(x, size, alpha, mixture(size))
    grid = twin.bets(bets, method)
    if method == "asymptotic":
        return twin.asymptotic(x, size, alpha, n_best=1000)
    return twin.tilted(x, size, alpha, grid, method)


@pytest.mark.some(15)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [None, 70, 200, 5_000, 100_000])
@pytest.mark.parametrize("method", METHODS)
def test_sequence_matches_the_reference(method, size, kind):
    x = draws(kind, 70, 3)
    bounds = pb.confidence_sequence(x, population_size=size or math.inf, method=method)
    expected = reference(x, size, 0.05, method)
    if method == "asymptotic":  # the reference does not clip bounds to the known range
        read = np.cumsum(x), np.cumsum(1 - x)
        least, most = (s / size if size else 0 * x for s in read)
        expected = np.maximum(expected[0], least), np.minimum(expected[1], 1 - most)
    np.testing.assert_allclose(bounds.lower, expected[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(bounds.upper, expected[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("bets", [1, 3, 4, 5, 12, 17, 64])
@pytest.mark.parametrize("method", GUARANTEED[1:])
def test_any_number_of_bets_matches_the_reference(method, bets):
    x = draws("uniform", 130, 4)
    bounds = pb.confidence_sequence(x[:60], population_size=130, delta=0.2, method=method,
                                    n_bets=bets)
    expected = reference(x[:60], 130, 0.2, method, bets)
    np.testing.assert_allclose(bounds, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [None, 2_000, 100_000])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "sorted"])
def test_walk_is_within_four_steps_of_exact_bound(kind, size):
    x = draws(kind, 700, 5)
    lower, upper = pb.confidence_sequence(x, population_size=size or math.inf)
    step = (upper[-1] - lower[-1]) / 256
    for found, side in [(lower[-1], x), (1 - upper[-1], 1 - x)]:
        exact = scaled.lower_bound(side, mixture(size), 0.05, size)
        assert exact - 4 * step - 1e-9 <= found <= exact + 1e-9


@pytest.mark.some(4)
@pytest.mark.parametrize("n", [30, 65, 100, 200, 400])
@pytest.mark.parametrize("kind", ["coins", "rare", "skewed", "uniform", "narrow"])
@pytest.mark.parametrize("size", [None, 420])
def test_bound_is_never_beyond_the_exact_one(size, kind, n):
    """The wealth of a new candidate is bounded below by that of one ahead, also at the caps."""
    for seed in range(4):
        rng = np.random.default_rng([n, seed])
        x = {"coins": rng.random(n) < 0.5, "rare": rng.random(n) < 0.03,
             "skewed": rng.lognormal(size=n).clip(0, 20) / 20,
             "uniform": rng.random(n), "narrow": rng.beta(200, 600, n)}[kind].astype(float)
        lower, upper = pb.confidence_sequence(x, population_size=size or math.inf)
        step = (upper[-1] - lower[-1]) / 256
        for found, side in [(lower[-1], x), (1 - upper[-1], 1 - x)]:
            exact = scaled.lower_bound(side, mixture(size), 0.05, size)
            # the bound on the wealth is loosest near the end of a population
            steps = 12 if size and n > 0.9 * size else 6
            assert exact - steps * step - 1e-9 <= found <= exact + 1e-9


@pytest.mark.parametrize("n, seed", [(20_000, 1), (12_000, 2)])
def test_bounds_of_many_coins_are_close_to_exact(n, seed):
    """Large bets have lost all wealth against the candidates ahead, and must not spoil the sum."""
    x = (np.random.default_rng(seed).random(n) < 0.1).astype(float)
    lower, upper = pb.confidence_sequence(x, population_size=10 * n)
    bets, step = mixture(10 * n), (upper[-1] - lower[-1]) / 256
    for found, side in [(lower[-1], x), (1 - upper[-1], 1 - x)]:
        above = scaled.log_wealth(side, found + 6 * step, bets, 0.05, 10 * n).max()
        at = scaled.log_wealth(side, found - 1e-9, bets, 0.05, 10 * n).max()
        assert above < math.log(40) <= at


# Bounds of `scaled.interval` on a published sequence of 300 zeros and ones, after 25, 100 and 300
# values: with the bets for at most 30,000 values, and with those for any number.
PUBLISHED = {
    1_000: [(.455518566, .939469860), (.573627567, .858663010), (.641594125, .820251954)],
    math.inf: [(.453673259, .939843077), (.573163619, .863596597), (.642854009, .820858857)],
}


@pytest.mark.parametrize("planned", PUBLISHED)
def test_bounds_match_published_numbers(planned):
    i = np.arange(300)
    x = ((i * 37) % 100 < 72).astype(float)
    x[((i * 53 + 11) % 100 >= 64) & (i % 4 == 0)] = 1.0
    bets = scaled.mixture(scaled.FINITE if planned == 1_000 else scaled.ENDLESS)
    for n, known in zip((25, 100, 300), PUBLISHED[planned], strict=True):
        np.testing.assert_allclose(scaled.interval(x[:n], bets, 0.05), known, rtol=0, atol=2e-9)
    if planned == math.inf:
        found = np.array(pb.confidence_sequence(x)).T[[24, 99, 299]]
        step = np.diff(PUBLISHED[planned]) / 256
        outside = np.array([1, -1]) * (np.array(PUBLISHED[planned]) - found)
        assert ((outside >= -1e-9) & (outside <= 4 * step)).all()


def test_plan_narrows_the_bounds_at_its_end():
    """Half of the wealth on the bet for n values pays at n, and costs little before."""
    rng, widths = np.random.default_rng(21), []
    for _ in range(40):
        x = rng.random(900)
        widths.append([np.ptp(np.array(pb.confidence_sequence(x, planned=planned))[:, [99, 899]],
                              axis=0) for planned in (None, 900)])
    (early, late), (planned_early, planned_late) = np.mean(widths, axis=0)
    assert planned_late < 0.95 * late
    assert planned_early < 1.15 * early


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 2, 3, 64, 65, 1_000])
def test_bounds_are_exact_once_everything_is_read(method, size):
    for kind in KINDS:
        x = draws(kind, size, 7)
        sequence = pb.betting.ConfidenceSequence(population_size=size or math.inf,
                                                 value_range=(-3, 5), method=method)
        lower, upper = sequence.tell(8 * x - 3)
        assert lower[-1] == upper[-1] == sequence.mean == sequence.lower == sequence.upper
        assert math.isclose(sequence.mean, (8 * x - 3).mean(), rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("method", GUARANTEED)
@pytest.mark.parametrize("size", [None, 300])
def test_bounds_narrow_and_contain_possible_means(method, size):
    for kind in ["uniform", "rare", "zeros", "halves", "skewed"]:
        x = draws(kind, 300, 8)
        lower, upper = pb.confidence_sequence(x, population_size=size or math.inf, method=method)
        assert (np.diff(lower) >= 0).all() and (np.diff(upper) <= 0).all()
        assert (lower <= upper).all() and lower.min() >= 0 and upper.max() <= 1
        if size:
            assert (lower >= np.cumsum(x) / size - 1e-12).all()
            assert (upper <= 1 - np.cumsum(1 - x) / size + 1e-12).all()


def test_bound_that_was_proved_wrong_is_replaced():
    """On sorted values early bounds are wrong, as a hundred zeros are not a random sample."""
    x = np.repeat([0.0, 1.0], 100)
    for method in GUARANTEED:
        lower, upper = pb.confidence_sequence(x, population_size=200, method=method)
        assert upper[99] < 0.5
        assert (upper >= np.cumsum(x) / 200).all()
        assert lower[-1] == upper[-1] == 0.5


@st.composite
def cuts(draw):
    x = np.array(draw(st.lists(st.floats(0, 1), min_size=1, max_size=150)))
    at = sorted(draw(st.lists(st.integers(0, len(x)), max_size=5)))
    size = draw(st.sampled_from([None, len(x), len(x) + 1, 500, 10**6]))
    return x, at, size


@settings(max_examples=60, deadline=None)
@given(cuts(), st.sampled_from(METHODS), st.sampled_from([0.01, 0.05, 0.5]))
def test_pieces_and_pickles_change_nothing(cut, method, alpha):
    x, at, size = cut
    whole = pb.confidence_sequence(x, population_size=size or math.inf, delta=alpha, method=method)
    sequence = pb.betting.ConfidenceSequence(population_size=size or math.inf, delta=alpha,
                                             method=method)
    pieces = []
    for piece in np.split(x, at):
        pieces.append(sequence.tell(piece))
        sequence = pickle.loads(pickle.dumps(sequence))
    for name in ("lower", "upper"):
        joined = np.concatenate([getattr(bounds, name) for bounds in pieces])
        np.testing.assert_array_equal(joined, getattr(whole, name))
    assert (sequence.lower, sequence.upper) == (whole.lower[-1], whole.upper[-1])
    assert sequence.n == len(x)


@settings(max_examples=60, deadline=None)
@given(cuts(), st.sampled_from(METHODS))
def test_reflected_values_give_reflected_bounds(cut, method):
    # values on a grid, so that 1 - x is exact
    x, _, size = np.round(cut[0] * 1024) / 1024, *cut[1:]
    lower, upper = pb.confidence_sequence(x, population_size=size or math.inf, method=method)
    reflected = pb.confidence_sequence(1 - x, population_size=size or math.inf, method=method)
    np.testing.assert_allclose(reflected.lower, 1 - upper, rtol=0, atol=1e-9)
    np.testing.assert_allclose(reflected.upper, 1 - lower, rtol=0, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(cuts(), st.sampled_from(METHODS), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_bounds_follow_the_units(cut, method, low, width):
    x, _, size = np.round(cut[0] * 1024) / 1024, *cut[1:]
    plain = np.array(pb.confidence_sequence(x, population_size=size or math.inf, method=method))
    high = low + width
    moved = pb.confidence_sequence(np.clip(low + width * x, low, high),
                                   population_size=size or math.inf, method=method,
                                   value_range=(low, high))
    epsilon = 1e-9 * (abs(low) + width)
    if method != "asymptotic":
        # within rounding of its threshold, a candidate may be excluded in only one of the units
        epsilon += width * 2 / 128 * (plain[1] - plain[0]).max()
    np.testing.assert_allclose(moved, low + width * plain, rtol=0, atol=epsilon)


@pytest.mark.parametrize("method", METHODS)
def test_independent_values_are_the_limit_of_large_populations(method):
    x = draws("skewed", 500, 9)
    independent = pb.confidence_sequence(x, population_size=math.inf, method=method)
    for size in (10**12, 10**15):
        finite = pb.confidence_sequence(x, population_size=size or math.inf, method=method)
        np.testing.assert_allclose(finite, independent, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(pb.confidence_sequence(x, population_size=math.inf,
                                                         method=method), independent)


def test_asymptotic_needs_no_range():
    x = np.random.default_rng(10).normal(1e3, 5.0, 500)
    lower, upper = pb.confidence_sequence(x, population_size=500, value_range=None,
                                          method="asymptotic")
    expected = twin.asymptotic(x, 500, 0.05, n_best=1000)
    assert (lower[0], upper[0]) == (-math.inf, math.inf)
    np.testing.assert_allclose([lower, upper], expected, rtol=1e-9)
    fresh = pb.betting.ConfidenceSequence(value_range=None, method="asymptotic")
    assert (fresh.lower, fresh.upper) == (-math.inf, math.inf) and math.isnan(fresh.mean)


# Widths after 25, 100, 400 and 2,000 independent values, means of 60 sequences, by another program.
KNOWN_WIDTHS = {
    "coin .1": (0.3428, 0.1597, 0.0907, 0.0413),
    "coin .5": (0.5206, 0.3100, 0.1592, 0.0688),
    "beta": (0.2188, 0.0652, 0.0218, 0.0083),
    "uniform": (0.3271, 0.1628, 0.0882, 0.0390),
    "three-point": (0.2987, 0.1300, 0.0697, 0.0309),
}


def of_law(kind, n, rng):
    return {"coin .1": lambda: rng.random(n) < 0.1, "coin .5": lambda: rng.random(n) < 0.5,
            "beta": lambda: rng.beta(10, 30, n), "uniform": lambda: rng.random(n),
            "three-point": lambda: rng.choice([0.0, 0.5, 1.0], n, p=[0.1, 0.8, 0.1])}[kind]()


@pytest.mark.parametrize("kind", KNOWN_WIDTHS)
def test_widths_match_known_numbers(kind):
    widths = []
    for seed in range(60):
        x = of_law(kind, 2_000, np.random.default_rng(seed))
        lower, upper = pb.confidence_sequence(x)
        widths.append((upper - lower)[[24, 99, 399, 1_999]])
    mean, error = np.mean(widths, axis=0), np.std(widths, axis=0) / np.sqrt(len(widths))
    for found, spread, known in zip(mean, error, KNOWN_WIDTHS[kind], strict=True):
        assert abs(found - known) <= 0.02 * known + 4 * spread, (kind, found, known)


def test_width_follows_the_population_because_of_the_tilt():
    """After 9/10 of the population the width is about a third of that for independent values."""
    x = np.random.default_rng(12).random(2_000)
    finite = np.diff(pb.confidence_sequence(x[:1_800], population_size=2_000), axis=0)[0, -1]
    independent = np.diff(pb.confidence_sequence(x[:1_800]), axis=0)[0, -1]
    assert finite < 0.5 * independent


@pytest.mark.parametrize(
    "values, words",
    [
        ([0.5, math.nan], ["values", "nan", "index 1"]),
        ([0.5, 0.2, 1.5], ["values", "1.5", "index 2", "[0.0, 1.0]"]),
        ([-1e-300], ["values", "-1e-300", "index 0"]),
        ([math.inf], ["values", "inf"]),
        (np.zeros((2, 2)), ["values", "(2, 2)"]),
        (np.zeros(9), ["values", "population_size = 10", "12"]),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_bad_values_change_nothing(method, values, words):
    sequence = pb.betting.ConfidenceSequence(population_size=10, method=method)
    sequence.tell([0.1, 0.9, 0.4])
    before = pickle.dumps(sequence)
    with pytest.raises(ValueError) as caught:
        sequence.tell(values)
    for word in words:
        assert word in str(caught.value)
    assert pickle.dumps(sequence) == before
    for bad in (["a"], [1j], None):
        with pytest.raises(TypeError, match="values"):
            sequence.tell(bad)
    assert pickle.dumps(sequence) == before


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"delta": 0.0}, ValueError, ["delta", "0"]),
        ({"delta": 1.0}, ValueError, ["delta", "1"]),
        ({"delta": math.nan}, ValueError, ["delta", "nan"]),
        ({"delta": [0.1, 0.2]}, ValueError, ["delta", "(2,)"]),
        ({"delta": "0.1"}, TypeError, ["delta"]),
        ({"population_size": 0}, ValueError, ["population_size", "0"]),
        ({"population_size": 2.5}, TypeError, ["population_size", "2.5"]),
        ({"population_size": math.nan}, TypeError, ["population_size", "nan"]),
        ({"population_size": None}, TypeError, ["population_size", "math.inf", "None"]),
        ({"value_range": None}, ValueError, ["value_range", "betting", "None"]),
        ({"value_range": (1, 1)}, ValueError, ["value_range", "(1, 1)"]),
        ({"value_range": (1, 0)}, ValueError, ["value_range", "(1, 0)"]),
        ({"value_range": (0, math.inf)}, ValueError, ["value_range", "inf"]),
        ({"value_range": (-1e308, 1e308)}, ValueError, ["value_range", "difference"]),
        ({"value_range": 1.0}, ValueError, ["value_range", "1.0"]),
        ({"method": "normal"}, ValueError, ["method", "normal", "betting"]),
        ({"n_bets": 16}, ValueError, ["n_bets", "left out", "betting", "16"]),
        ({"n_bets": 0, "method": "hoeffding"}, ValueError, ["n_bets", "0"]),
        ({"n_bets": 65, "method": "hoeffding"}, ValueError, ["n_bets", "64", "65"]),
        ({"n_bets": 1.5, "method": "hoeffding"}, TypeError, ["n_bets", "1.5"]),
        ({"planned": 0}, ValueError, ["planned", "0"]),
        ({"planned": 2.5}, TypeError, ["planned", "2.5"]),
        ({"planned": 20, "population_size": 10}, ValueError, ["planned", "20", "10"]),
        ({"planned": 20, "method": "hoeffding"}, ValueError, ["planned", "left out", "20"]),
    ],
)
def test_invalid_options_raise(options, error, words):
    for make in (pb.betting.ConfidenceSequence, lambda **o: pb.confidence_sequence([0.5], **o)):
        with pytest.raises(error) as caught:
            make(**options)
        for word in words:
            assert word in str(caught.value)


def test_asymptotic_refuses_values_that_overflow_when_squared():
    sequence = pb.betting.ConfidenceSequence(value_range=None, method="asymptotic")
    for bad in (math.nan, math.inf, 1e200):
        with pytest.raises(ValueError, match="values"):
            sequence.tell([0.0, bad])
    assert sequence.n == 0


def test_empty_and_single_values_are_accepted():
    sequence = pb.betting.ConfidenceSequence(population_size=5)
    assert sequence.tell([]).lower.shape == (0,)
    assert sequence.tell(0.5).lower.shape == (1,)
    assert sequence.tell(np.array([1, 0], dtype=np.int8)).upper.shape == (2,)
    assert sequence.n == 3 and "n=3" in repr(sequence)


@pytest.mark.parametrize("method", METHODS)
def test_states_are_plain_and_checked(method):
    sequence = pb.betting.ConfidenceSequence(population_size=50, method=method)
    sequence.tell(draws("uniform", 20, 13))
    state = sequence.get_state()
    assert all(isinstance(v, (int, float, str, tuple, np.ndarray, type(None)))
               for v in state.values())
    again = pb.betting.ConfidenceSequence.from_state(state)
    assert again.tell([0.5]).lower[0] == sequence.tell([0.5]).lower[0]
    wrongs = [("n", 51), ("method", "none")]
    wrongs += ([("history", np.zeros(7)), ("history", np.full(20, 1.5))] if method == "betting"
               else [("exponents", np.zeros(3)), ("sides", np.full((2, 2), np.nan))])
    for name, wrong in wrongs:
        with pytest.raises(ValueError):
            pb.betting.ConfidenceSequence.from_state({**state, name: wrong})


@pytest.mark.parametrize("method", METHODS)
def test_populations_of_any_size(method):
    """A population of 1e308 has the same bounds as an infinite one."""
    values = np.random.default_rng(3).random(300)
    whole = pb.confidence_sequence(values, population_size=1e308, method=method)
    endless = pb.confidence_sequence(values, method=method)
    assert np.isfinite(whole).all()
    np.testing.assert_allclose(whole, endless, atol=1e-9)
    with pytest.raises(ValueError, match="population_size must be at most"):
        pb.confidence_sequence(values, population_size=10**400, method=method)


@pytest.mark.parametrize("options, word", [
    ({"method": ["betting"]}, "method"), ({"method": {}}, "method"),
    ({"delta": [0.1, 0.2]}, "delta"), ({"population_size": [1, 2]}, "population_size"),
    ({"n_bets": 65, "method": "hoeffding"}, "n_bets must be at most 64"),
    ({"n_bets": np.array([1, 2]), "method": "hoeffding"}, "n_bets"),
    ({"value_range": np.ma.array([0.0, 1.0], mask=[1, 0])}, "value_range must not be masked"),
])
def test_errors_name_the_argument(options, word):
    with pytest.raises((ValueError, TypeError), match=word):
        pb.betting.ConfidenceSequence(**options)


def test_masked_values_raise():
    sequence = pb.betting.ConfidenceSequence()
    with pytest.raises(ValueError, match="values must not be masked; got a mask at index 1"):
        sequence.tell(np.ma.array([0.1, 99.0, 0.3], mask=[0, 1, 0]))
    sequence.tell(np.ma.array([0.1, 0.2]))
    assert sequence.n == 2
