"""Gibbs chains on pairwise models: enumeration, reference implementations, and errors."""

import itertools

import numpy as np
import pytest
from scipy import stats

import pybandit as pb
from pybandit import mcmc

from mcmc.reference.graph import Graph

pytest.importorskip("xarray")

RNG = np.random.default_rng(3)
TABLE = np.array([[1.0, 0.0, 0.3], [0.0, 0.5, 0.0], [0.3, 0.0, 0.8]])
# a triangle with a tail and an isolated variable; a pair that occurs twice
NEIGHBOURS = [[1, 2], [0, 2], [0, 1, 3, 3], [2, 2], []]
WEIGHTS = [[0.5, -0.7], [0.5, 0.9], [-0.7, 0.9, 0.4, 0.2], [0.4, 0.2], []]
PRIOR = RNG.normal(size=(5, 3)) * 0.5
PRIOR[1, 2] = -np.inf
MODELS = {
    "plain": dict(table=TABLE, neighbours=NEIGHBOURS),
    "weights": dict(table=TABLE, neighbours=NEIGHBOURS, weights=WEIGHTS, log_prior=PRIOR),
    "no ties": dict(table=np.ones((3, 3)), neighbours=NEIGHBOURS, log_prior=PRIOR),
}


def many_factors(n=400, spread=0.02):
    """Three variables with many small factors of both signs, so that races end early."""
    weights = RNG.normal(size=n) * spread
    both = [[1] * n + [2] * n, [0] * n + [2] * n, [0] * n + [1] * n]
    return dict(table=TABLE, neighbours=both, weights=[np.concatenate([weights, weights])] * 3)


def shares(tree, n_states=3):
    x = tree["posterior"]["x"].to_numpy()
    places = n_states ** np.arange(x.shape[-1])[::-1]
    return np.array([np.bincount(chain, minlength=n_states ** x.shape[-1]) for chain in x @ places])


def assert_law(tree, law):
    """Compare the chains' means with exact probabilities, in standard errors between chains."""
    found = shares(tree) / tree["posterior"].sizes["draw"]
    n = len(found)
    error = found.std(axis=0, ddof=1) / np.sqrt(n)
    # t statistics with 7 degrees of freedom or more: |t| > 14 has probability 1e-6
    assert (np.abs(found.mean(axis=0) - law) < 14 * error + 2e-3).all()
    # independent draws would err by sum sqrt(2 p / (pi n)) / 2 on average; these are correlated
    expected = np.sqrt(2 * law / (np.pi * n * tree["posterior"].sizes["draw"])).sum() / 2
    assert np.abs(found.mean(axis=0) - law).sum() / 2 < 1.7 * expected
    assert not found[:, law == 0.0].any()


@pytest.mark.parametrize("method", ["race", "exact", "poisson"])
@pytest.mark.parametrize("name", MODELS)
def test_draws_have_the_joint_distribution(name, method):
    sampler = mcmc.RacingGibbs(mcmc.PairwiseTable(**MODELS[name]), method=method)
    tree = sampler.sample(1500, n_warmup=50, n_chains=16, thin=3, initial=[0, 1, 2, 0, 0], rng=1)
    assert_law(tree, Graph(**MODELS[name]).joint())
    assert tree.attrs["method"] == method


def test_races_have_exact_distribution_for_tiny_delta():
    model = many_factors()
    sampler = mcmc.RacingGibbs(mcmc.PairwiseTable(**model), delta=1e-6)
    tree = sampler.sample(1000, n_warmup=20, n_chains=16, rng=2)
    assert 0.3 < float(tree["sample_stats"]["fraction"].mean()) < 0.999
    assert_law(tree, Graph(**model).joint())


@pytest.mark.parametrize("order", ["sequential", "random"])
def test_sweeps_equal_their_reference(order):
    for name in ("weights", "plain"):
        model, values = Graph(**MODELS[name]), np.array([0, 1, 2, 0, 0])
        sampler = mcmc.RacingGibbs(mcmc.PairwiseTable(**MODELS[name]), method="exact",
                                   order=order)
        chain = sampler._native_chain(np.random.default_rng(7), values.copy())
        rng = np.random.default_rng(7)
        for _ in range(200):
            chain.step()
            for v in rng.permutation(5) if order == "random" else range(5):
                values[v] = model.draw(v, values, rng)
            assert chain.values.tolist() == values.tolist()
    assert chain.take_statistics(1) == (1.0, 1000, 200 * 3 * 10, 1000)


def test_draws_by_counts_equal_their_reference():
    model, values = Graph(**MODELS["plain"]), np.array([0, 1, 2, 0, 0])
    sampler = mcmc.RacingGibbs(mcmc.PairwiseTable(**MODELS["plain"]), method="poisson")
    chain = sampler._native_chain(np.random.default_rng(8), values.copy())
    rng, n_read = np.random.default_rng(8), 0
    for _ in range(200):
        chain.step()
        for v in range(5):
            values[v], n = model.draw_counts(v, values, rng)
            n_read += n
        assert chain.values.tolist() == values.tolist()
    assert chain.n_evaluations == 3 * n_read and chain.n_exact == 0


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_draws_by_counts_leave_the_conditional_invariant(rate):
    """Compute the transition matrix by summing over all counts instead of drawing them."""
    model = Graph(0.6 * TABLE, [[1, 2], [0], [0]], weights=[[0.9, -0.5], [0.9], [-0.5]],
                  log_prior=[0.0, 0.4, -0.3])
    for values in itertools.product(range(3), repeat=2):
        values = np.array([0, *values])
        law = np.exp(model.totals(0, values) + model.log_prior[0])
        law /= law.sum()
        kernel = np.array([model.kernel(0, np.array([s, *values[1:]]), rate)[s]
                           for s in range(3)])
        assert np.allclose(kernel.sum(axis=1), 1.0, atol=1e-9)
        assert np.allclose(law @ kernel, law, atol=1e-9)
        assert np.allclose(law[:, None] * kernel, (law[:, None] * kernel).T, atol=1e-9)


def test_called_table_samples_the_same_model():
    """A PairwiseTable can be called as a conditional; its exact chain samples the same model."""
    table = mcmc.PairwiseTable(**MODELS["weights"])
    sampler = mcmc.RacingGibbs(lambda v, x: table(v, np.array(x)), 5, method="exact")
    tree = sampler.sample(400, n_warmup=20, n_chains=8, thin=3, rng=1)
    assert_law(tree, Graph(**MODELS["weights"]).joint())
    assert float(tree["sample_stats"]["fraction"].mean()) == 1.0
    factors, prior = table(3, np.array([0, 1, 2, 0, 0]))
    assert factors.evaluate([0, 1], [0, 1, 2]).tolist() == [
        (w * TABLE[2]).tolist() for w in (0.4, 0.2)]
    assert prior.tolist() == PRIOR[3].tolist() and prior.flags.owndata


def test_exact_gibbs_is_the_same_for_arrays_and_factors():
    """The chain is the same for factors as an array, a function or compiled code."""
    y = RNG.normal(0.5, 1.0, 300)
    means = np.linspace(0.3, 0.7, 5)
    matrix = -0.5 * (y[:, None] - means) ** 2
    draws = [mcmc.RacingGibbs(lambda v, x, f=factors: f, 2, method="exact").sample(
        200, n_chains=2, rng=3) for factors in (
            matrix, pb.Factors(lambda n, i: matrix[n][:, i], 300, 5),
            pb.factors.gaussian(y, means))]
    assert draws[0]["posterior"].identical(draws[1]["posterior"])
    assert np.array_equal(draws[0]["posterior"]["x"], draws[2]["posterior"]["x"])
    law = np.exp(matrix.sum(axis=0) - matrix.sum(axis=0).max())
    counts = np.bincount(draws[0]["posterior"]["x"].to_numpy().ravel(), minlength=5)
    assert stats.chisquare(counts, 800 * law / law.sum()).pvalue > 1e-6
    statistics = draws[0]["sample_stats"]
    assert (statistics["n_evaluations"] == 3000).all() and (statistics["n_exact"] == 2).all()
    assert draws[0].attrs["bound"] == "none" and draws[0].attrs["delta"] == 0.0


def test_chains_do_not_depend_on_threads():
    sampler = mcmc.RacingGibbs(mcmc.PairwiseTable(**many_factors()), method="race",
                               order="random")
    one, two = (sampler.sample(30, n_warmup=10, n_chains=4, rng=4, n_threads=n) for n in (1, 2))
    assert one.identical(two)
    assert len({chain.tobytes() for chain in one["posterior"]["x"].to_numpy()}) == 4


@pytest.mark.parametrize("change, kind, words", [
    (dict(table=np.ones((2, 3))), ValueError, r"table must have shape \(D, D\)"),
    (dict(table=[[0.0, 1.0], [0.0, 0.0]]), ValueError, "table must be symmetric"),
    (dict(table=[[np.nan]]), ValueError, "table"),
    (dict(neighbours=[[1], [0, 0], []]), ValueError, "neighbours must be mutual"),
    (dict(neighbours=[[1], [2], [0]]), ValueError, "neighbours must be mutual"),
    (dict(neighbours=[[3], [0]]), ValueError, r"in \[0, 2\); got 3 as neighbour of 0"),
    (dict(neighbours=[[-1], [0]]), ValueError, "got -1 as neighbour of 0"),
    (dict(neighbours=[[0], []]), ValueError, "itself"),
    (dict(neighbours=[[0.5], []]), TypeError, "integers"),
    (dict(neighbours=[]), ValueError, "list 1 to"),
    (dict(neighbours=5), TypeError, "neighbours must be an array"),
    (dict(neighbours=np.zeros(3, dtype=int)), ValueError, "neighbours must have shape"),
    (dict(neighbours=[[1], [0]], weights=[[1.0], [2.0]]), ValueError, "weights must be mutual"),
    (dict(neighbours=[[1], [0]], weights=[[1.0]]), ValueError, "weights must have the shape"),
    (dict(neighbours=[[1], [0]], weights=[[np.inf], [np.inf]]), ValueError, "weights"),
    (dict(log_prior=[0.0, 0.0]), ValueError, "log_prior must have shape"),
    (dict(log_prior=[np.nan] * 3), ValueError, "log_prior must be below"),
    (dict(log_prior=[-np.inf] * 3), ValueError, "at least one state"),
    (dict(table=[[1e160]]), ValueError, "small enough"),
])
def test_invalid_tables_raise(change, kind, words):
    with pytest.raises(kind, match=words):
        mcmc.PairwiseTable(**(dict(table=TABLE, neighbours=NEIGHBOURS) | change))


def test_invalid_sampler_arguments_raise():
    table = mcmc.PairwiseTable(TABLE, NEIGHBOURS)
    assert mcmc.RacingGibbs(table).n_variables == 5 == table.n_variables and table.n_states == 3
    for make, words in (
            (lambda: mcmc.RacingGibbs(table, 4), "n_variables must equal that of"),
            (lambda: mcmc.RacingGibbs(table, method="fast"), "method must be one of"),
            (lambda: mcmc.RacingGibbs(lambda v, x: x, 4, method="poisson"), "method must be"),
            (lambda: mcmc.RacingGibbs(table).sample(3, initial=[0, 0, 0, 0, 3]), "initial"),
            (lambda: mcmc.RacingGibbs(table).sample(3, initial=[0, -1, 0, 0, 0]), "initial"),
            (lambda: mcmc.RacingGibbs(lambda v, x: [np.ones(3)], 1, method="exact").sample(3),
             "method='exact'")):
        with pytest.raises(ValueError, match=words):
            make()
    for values in ([0] * 5, np.zeros(4, dtype=np.int64), np.zeros(5)):
        with pytest.raises(TypeError, match="values must be"):
            table(0, values)
    with pytest.raises(ValueError, match="variable"):
        table(5, np.zeros(5, dtype=np.int64))
    narrow = mcmc.RacingGibbs(mcmc.PairwiseTable(**many_factors()),
                              bound=pb.racing.EBSBound(value_range=1e-6))
    with pytest.raises(ValueError, match="value_range must be at least"):
        narrow.sample(50, rng=1)
