"""RacingSampler and exact_sample: reference implementation, distribution and state."""

import functools
import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from scipy import special, stats

import pybandit as pb

from _shared.reference.bits import Bits
from racing.reference import race as reference
from racing.reference import subsample
from racing.reference.problems import as_function

# probability that a correct sampler fails; seeds are fixed, so the tests repeat exactly
SMALLEST_P = 1e-6


def problem(seed, n_factors=600, n_states=5, spread=1.0):
    """Return log factors whose totals differ by a few units, and an uneven prior."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_factors, n_states)) * 0.01
    factors -= factors.mean(axis=0)
    factors += spread * rng.normal(size=n_states) / n_factors
    return factors, np.log(rng.dirichlet(np.full(n_states, 3.0)))


def exact_law(factors, log_prior):
    return special.softmax(factors.sum(axis=0) + log_prior)


def assert_law(states, law):
    counts = np.bincount(states, minlength=len(law))
    assert len(counts) == len(law) and not counts[law == 0].any()
    possible = law > 0
    assert stats.chisquare(counts[possible], len(states) * law[possible]).pvalue > SMALLEST_P


@pytest.mark.parametrize("source", ["matrix", "function"])
@pytest.mark.parametrize("indices, kind", [(k, k) for k in ("permutation", "rejection", "keyed")])
@pytest.mark.parametrize("bound", ["student", "normal"])
def test_outcomes_equal_the_reference_bit_for_bit(source, indices, kind, bound):
    """Each draw takes Gumbel noise, then an order; a permutation continues from the last draw."""
    for seed in range(4):
        factors, log_prior = problem(seed, n_factors=300, spread=2.0)
        options = reference.Options(bound, delta=0.2, first_look=8, max_fraction=0.5)
        bits, stream = Bits(seed), subsample.KINDS[kind](len(factors))
        expected = []
        for _ in range(30):
            perturbed = log_prior + bits.gumbels(5)
            stream.restart(bits)
            following = functools.partial(stream.next, bits)
            to_the_end = source == "function"
            expected.append(reference.race(factors, perturbed, following, options, to_the_end))
        looks = pb.racing.Looks(first=8, max_fraction=0.5, indices=indices)
        sampler = pb.RacingSampler(factors if source == "matrix" else as_function(factors),
                                   log_prior, bound=bound, delta=0.2, looks=looks)
        states, info = sampler.draw(30, rng=seed)
        columns = (states, info.n_looks, info.n_evaluations, info.exact)
        assert [tuple(row) for row in zip(*columns, strict=True)] == expected
        assert info.fraction == pytest.approx(info.n_evaluations.mean() / factors.size)
        assert len(set(expected)) > 5


def test_draws_use_gumbel_noise():
    """A draw with negligible factors is the Gumbel maximum of its first D random words."""
    log_prior = np.log([0.5, 0.3, 0.15, 0.05])
    sampler = pb.RacingSampler(np.zeros((1, 4)), log_prior)
    for seed in range(50):
        state, _ = sampler.draw(rng=seed)
        assert state == reference.gumbel_max(log_prior, Bits(seed).gumbels(4))
    states, _ = sampler.draw(200_000, rng=1)
    assert_law(states, np.exp(log_prior))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layout": "shuffled"},
        {"looks": pb.racing.Looks(indices="keyed")},
        {"looks": pb.racing.Looks(variance="marginal")},
        {"bound": "normal", "looks": pb.racing.Looks(first=100)},
        {"bound": pb.racing.EBSBound(value_range=0.12, delta=1e-7), "delta": None},
        {"looks": pb.racing.Looks(max_fraction=1.0)},
        {"looks": pb.racing.Looks(max_fraction=0.2, first=20)},
    ],
    ids=str,
)
def test_draws_at_tiny_delta_have_the_exact_distribution(options):
    for seed, spread in [(1, 1.0), (2, 5.0)]:
        factors, log_prior = problem(seed, spread=spread)
        sampler = pb.RacingSampler(factors, log_prior, rng=seed, **({"delta": 1e-7} | options))
        states, info = sampler.draw(20_000)
        assert_law(states, exact_law(factors, log_prior))
        assert np.all(info.n_evaluations <= factors.size)


def test_draws_that_read_little_are_within_delta():
    """Draws that read a tenth of the data are still within delta of p."""
    factors, log_prior = problem(3, n_factors=20_000, n_states=8, spread=30.0)
    factors -= 0.9 * (factors - factors.mean(axis=0))
    for options in ({}, {"layout": "shuffled"}, {"looks": pb.racing.Looks(max_fraction=1.0)}):
        sampler = pb.RacingSampler(factors, log_prior, delta=1e-6, rng=3, **options)
        states, info = sampler.draw(20_000)
        assert info.fraction < 0.5 and not info.exact.all()
        law = exact_law(factors, log_prior)
        likely = law > 1e-4
        grouped = np.append(np.where(likely, law, 0), law[~likely].sum())
        states = np.where(likely[states], states, len(law))
        assert_law(states, grouped)


def test_functions_draw_the_same_as_their_matrix():
    factors, log_prior = problem(4)
    for seed in range(100):
        # compare first draws only: later ones differ, as the last look on a matrix takes no indices
        by_matrix = pb.RacingSampler(factors, log_prior, delta=0.1,
                                     looks=pb.racing.Looks(max_fraction=1), rng=seed)
        by_function = pb.RacingSampler(as_function(factors), log_prior, delta=0.1, rng=seed)
        assert by_matrix.draw() == by_function.draw()


def test_exact_sample():
    factors, log_prior = problem(5)
    law = exact_law(factors, log_prior)
    assert_law(pb.racing.exact_sample(factors, log_prior, 100_000, rng=1), law)
    assert_law(pb.racing.exact_sample(as_function(factors), log_prior, 100_000, rng=1), law)
    assert_law(pb.racing.exact_sample(factors, size=100_000, rng=1), exact_law(factors, 0.0))
    log_prior[2] = -np.inf
    assert_law(pb.racing.exact_sample(factors, log_prior, 100_000, rng=1),
               exact_law(factors, log_prior))
    assert isinstance(pb.racing.exact_sample(factors, rng=1), int)
    assert pb.racing.exact_sample(factors, size=(3, 4), rng=1).shape == (3, 4)


def test_many_exact_draws_take_little_memory():
    """Many draws in one call equal the draws from a single array of noise."""
    factors, log_prior = problem(6, n_states=200)
    tracemalloc.start()
    states = pb.racing.exact_sample(factors, log_prior, (300, 200), rng=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e7  # the noise takes 96 MB in total
    noise = np.random.default_rng(2).gumbel(size=(300, 200, 200))
    totals = (factors - factors[:, :1]).sum(axis=0) + log_prior
    assert (states == (totals + noise).argmax(axis=2)).mean() > 0.9999


def test_impossible_states_are_never_drawn():
    factors, log_prior = problem(6)
    log_prior[[0, 3]] = -np.inf
    sampler = pb.RacingSampler(factors, log_prior, delta=1e-6, rng=6)
    states, info = sampler.draw(20_000)
    assert_law(states, exact_law(factors, log_prior))
    assert info.n_evaluations.max() <= 3 * len(factors)
    sampler.log_prior = [-np.inf, -np.inf, 0.0, -np.inf, -np.inf]
    states, info = sampler.draw(10)
    assert np.all(states == 2) and not info.n_evaluations.any() and info.exact.all()


def test_one_state_and_one_factor():
    states, info = pb.RacingSampler(np.zeros((10, 1))).draw(5, rng=0)
    assert not states.any() and not info.n_looks.any() and info.fraction == 0.0
    row = np.log([[0.7, 0.2, 0.1]])
    states, info = pb.RacingSampler(row).draw(50_000, rng=0)
    assert_law(states, np.exp(row[0]))
    assert np.all(info.n_looks == 1) and np.all(info.exact) and info.fraction == 1.0


def test_shapes_of_draws():
    sampler = pb.RacingSampler(problem(7)[0], rng=7)
    state, info = sampler.draw()
    assert isinstance(state, int) and isinstance(info.n_evaluations, int)
    assert isinstance(info.n_looks, int) and isinstance(info.exact, bool)
    for size, shape in [(0, (0,)), (3, (3,)), ((2, 3), (2, 3)), ((), ())]:
        states, info = sampler.draw(size)
        assert states.dtype == np.int64
        for part in (states, info.n_evaluations, info.n_looks, info.exact):
            assert part.shape == shape
        assert info.exact.dtype == np.bool_


def test_seeds():
    factors, log_prior = problem(8)

    def draw(rng):
        return pb.RacingSampler(factors, log_prior, rng=rng).draw(50)[0].tolist()

    assert draw(5) == draw(5) == draw(np.random.default_rng(5)) != draw(6)
    sampler = pb.RacingSampler(factors, log_prior, rng=5)
    assert sampler.draw(50)[0].tolist() == draw(5)
    assert sampler.draw(50)[0].tolist() != draw(5)
    # draw(50) equals 50 single draws
    sampler = pb.RacingSampler(factors, log_prior, rng=5)
    assert [sampler.draw()[0] for _ in range(50)] == draw(5)
    for generator in (np.random.MT19937(1), np.random.Philox(1), np.random.SFC64(1)):
        assert len(draw(np.random.Generator(generator))) == 50
    first, second = (draw(np.random.SeedSequence(9)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("options, by_seed_alone", [
    (dict(looks=pb.racing.Looks(indices="rejection")), True),
    (dict(looks=pb.racing.Looks(indices="keyed")), True),
    (dict(looks=pb.racing.Looks(indices="permutation")), False),
    (dict(layout="shuffled"), False),
])
def test_a_call_depends_on_its_seed_and_a_persistent_order(options, by_seed_alone):
    """A call also depends on earlier ones if the order persists (inside_samplers.md)."""
    factors = np.random.default_rng(0).normal(0.0, 0.05, (20_000, 4))
    sampler = pb.RacingSampler(factors, rng=5, **options)
    one, two = (sampler.draw(200, rng=1) for _ in range(2))
    assert np.array_equal(one[0], two[0]) == by_seed_alone
    assert np.array_equal(one[1].n_evaluations, two[1].n_evaluations) == by_seed_alone


def test_every_draw_reads_the_matrix_again():
    factors, log_prior = problem(9)
    factors = np.ascontiguousarray(factors)
    gathered = pb.RacingSampler(factors, log_prior, rng=9)
    shuffled = pb.RacingSampler(factors, log_prior, layout="shuffled", rng=9)
    factors[:, 1] += 1.0
    assert np.all(gathered.draw(200)[0] == 1)
    assert not np.all(shuffled.draw(200)[0] == 1)


def test_the_prior_is_copied_and_can_be_replaced():
    factors, log_prior = problem(10)
    given = log_prior.copy()
    sampler = pb.RacingSampler(factors, given, rng=10)
    given[:] = 0.0
    sampler.log_prior[:] = 0.0
    np.testing.assert_array_equal(sampler.log_prior, log_prior)
    sampler.log_prior = [0, 0, 500, 0, 0]
    assert np.all(sampler.draw(100)[0] == 2)
    assert (sampler.n_factors, sampler.n_states) == factors.shape


@pytest.mark.parametrize("bound", ["student", "normal", "ebs"])
@pytest.mark.parametrize("variance", ["pairwise", "marginal"])
def test_the_schedule_equals_the_bound(bound, variance):
    """scale * sd + slack * range equals the formula of the bound at every partial look."""
    given_bound = (dict(bound=pb.racing.EBSBound(value_range=3.0, delta=0.1)) if bound == "ebs"
                   else dict(bound=bound, delta=0.1))
    looks = pb.racing.Looks(variance=variance, first=20, max_fraction=0.6)
    sampler = pb.RacingSampler(np.zeros((5000, 4)), looks=looks, **given_bound)
    schedule = sampler.schedule
    options = reference.Options(bound, 0.1, value_range=3.0, skewness=False)
    assert schedule.rows.tolist() == reference.schedule(5000, 20, 0.6)
    share = 0.1 / (3 if variance == "pairwise" else 4)
    rng = np.random.default_rng(11)
    assert (schedule.unit is None) == (bound != "student")
    for look, rows in enumerate(schedule.rows[:-1]):
        scale, slack = schedule.scale[look], schedule.slack[look]
        sample = rng.normal(size=rows)
        expected = reference.one_width(options, schedule.rows.tolist(), share, sample, 3.0)
        assert scale * sample.std() + slack * 3.0 == pytest.approx(expected, rel=1e-9)
        if bound == "student":
            error = sample.std(ddof=1) * np.sqrt((1 - (rows - 1) / 4999) / rows)
            assert schedule.unit[look] * sample.std() == pytest.approx(error, rel=1e-12)


def test_threads_with_separate_samplers_share_a_generator():
    """Draws from two threads interleave; each has the right distribution."""
    factors, log_prior = problem(12)
    rng = np.random.default_rng(12)
    results = {}

    def work(name, source):
        sampler = pb.RacingSampler(source, log_prior, delta=1e-6, rng=rng)
        results[name] = np.concatenate([sampler.draw(100)[0] for _ in range(30)])

    threads = [
        threading.Thread(target=work, args=(name, source))
        for name, source in [("a", factors), ("b", factors), ("c", as_function(factors))]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    for states in results.values():
        assert_law(states, exact_law(factors, log_prior))
    assert not np.array_equal(results["a"], results["b"])


def test_results_can_be_pickled():
    factors, _ = problem(13)
    result = pb.race(factors, rng=1)
    assert pickle.loads(pickle.dumps(result)) == result
    for bound in (pb.racing.StudentBound(delta=0.1), pb.racing.NormalBound(boundary=2.0),
                  pb.racing.EBSBound(delta=0.1, value_range=2.0)):
        assert pickle.loads(pickle.dumps(bound)) == bound
        assert hash(bound) == hash(pickle.loads(pickle.dumps(bound)))
