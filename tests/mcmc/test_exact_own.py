"""ExactMinibatch.from_control: user-defined rows, expansions and bounds."""

import numpy as np
import pytest
from scipy import stats

import pybandit as pb
import pybandit.numba
from pybandit import mcmc
from pybandit.mcmc._exact import Chain
from pybandit.mcmc._problem import spread

from mcmc.reference import minibatch as twin
from mcmc.regressions import Case, cell_counts, cell_law

pytest.importorskip("xarray")

FORMS = ("line", "space", "own")
THIRD = twin.LOGISTIC


@pybandit.numba.factor
def log_ratios(factors, states, out, x, y, points):
    for f in range(factors.size):
        before = after = 0.0
        for j in range(x.shape[1]):
            before += x[factors[f], j] * points[0, j]
            after += x[factors[f], j] * points[1, j]
        out[f, 0] = (y[factors[f]] * (after - before) - max(after, 0.0) + max(before, 0.0)
                     - np.log1p(np.exp(-abs(after))) + np.log1p(np.exp(-abs(before))))


def compiled(case):
    return dict(factors=lambda points: pb.Factors(
        log_ratios.bind(case.x, case.y, points), len(case.x), 1))


def in_python(case):
    def log_likelihood(rows, points):
        s = case.x[rows] @ points.T
        return case.y[rows, None] * s - np.logaddexp(0.0, s)

    return dict(log_likelihood=log_likelihood)


def control_of(case, mode, form, third=THIRD):
    """Return a control that expands a logistic regression; only the form "line" has features."""
    p = 1 / (1 + np.exp(-case.x @ mode))
    slopes, curvatures = case.y - p, -p * (1 - p)
    if form == "line":
        return mcmc.GLMControl(case.x, slopes, curvatures, mode, third=third)
    lengths = np.linalg.norm(case.x, axis=1)
    return mcmc.TaylorControl(
        mode, slopes[:, None] * case.x,
        curvatures[:, None, None] * case.x[:, :, None] * case.x[:, None, :],
        third=third * lengths**3 if form == "space" else None)


def own_bounds(case, mode, part=1.0):
    """Return c_i and M of Cornish et al., whose product bounds the remainder of row i."""
    def own_spread(points):
        near = np.linalg.norm(points - mode, axis=1)
        return part * np.linalg.norm(points[1] - points[0]) * near.max()**2

    return dict(bounds=THIRD / 2 * np.linalg.norm(case.x, axis=1)**3, spread=own_spread)


def sampler_of(case, form, functions=compiled, part=1.0, mode=None, **options):
    if mode is None:
        mode = case.sampler().mode
    own = own_bounds(case, mode, part) if form == "own" else {}
    return mcmc.ExactMinibatch.from_control(
        control_of(case, mode, form, THIRD * part), prior_precision=case.prior,
        **functions(case), **own, **options)


def p_value(case, n_draws, sampler, thin):
    tree = sampler.sample(n_draws, n_warmup=200, n_chains=1, thin=thin, rng=7)
    plain = case.sampler()
    edges, law = cell_law(case, plain.mode, np.sqrt(np.diag(plain.covariance)),
                          n_cells=20 if plain.mode.size == 1 else 7)
    counts = cell_counts(tree["posterior"]["x"].to_numpy()[0], edges)
    assert counts.sum() > 0.999 * n_draws
    return stats.chisquare(counts, counts.sum() * law).pvalue


@pytest.mark.some(2)
@pytest.mark.parametrize("test", ["factorised", "auxiliary"])
@pytest.mark.parametrize("form, d", [("line", 1), ("space", 2), ("own", 1)])
def test_draws_have_the_posterior_distribution(form, d, test):
    """The posterior is far from normal; some steps read all rows, and others read only some."""
    case = Case("logistic", 12, d, size=2.0 / d)
    sampler = sampler_of(case, form, test=test, adapt=False)
    sampler._regression.decide_by(test, 0.5, 40.0)
    assert p_value(case, 4_000 if form == "own" else 20_000, sampler, 30) > 1e-6


@pytest.mark.parametrize("form", FORMS)
def test_python_functions_give_the_posterior(form):
    case = Case("logistic", 12, 1, size=2.0)
    sampler = sampler_of(case, form, in_python, adapt=False)
    sampler._regression.decide_by("factorised", 0.5, np.inf)
    assert p_value(case, 2_000, sampler, 15) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("test", ["factorised", "auxiliary"])
@pytest.mark.parametrize("proposal", ["laplace", "walk", None])
@pytest.mark.parametrize("form, d", [("line", 1), ("line", 2), ("space", 1), ("space", 2)])
def test_million_draws_have_the_posterior_distribution(form, d, proposal, test):
    case = Case("logistic", 30, d, size=1.5 / d)
    sampler = sampler_of(case, form, test=test, proposal=proposal, adapt=False)
    sampler._regression.decide_by(test, 0.5, np.inf)
    assert p_value(case, 1_000_000, sampler, 60 if proposal == "walk" else 12) > 1e-6


@pytest.mark.parametrize("most", [np.inf, 0.0], ids=["drawn", "in order"])
@pytest.mark.parametrize("test", ["factorised", "auxiliary"])
@pytest.mark.parametrize("functions", [compiled, in_python])
@pytest.mark.parametrize("form", FORMS)
def test_violated_bound_raises(form, functions, test, most):
    case = Case("logistic", 40, 1, size=2.0)
    sampler = sampler_of(case, form, functions, part=0.02, test=test)
    sampler._regression.decide_by(test, 0.5, most)
    words = r"bound of row \d+ does not hold: .* changes by .* theta = \[.*\] and \["
    with pytest.raises(ValueError, match=words):
        sampler.sample(20_000, n_chains=1, rng=1)
    with pytest.raises(ValueError, match=words):
        sampler.step(sampler.mode, n_steps=20_000, rng=1)


def test_halved_bound_along_lines_raises():
    sampler = sampler_of(Case("logistic", 40, 1, size=2.0), "line", part=0.5)
    sampler._regression.decide_by("factorised", 0.5, np.inf)
    with pytest.raises(ValueError, match=r"bound of row \d+ does not hold"):
        sampler.sample(20_000, n_chains=1, rng=1)


@pytest.mark.parametrize("test, most", [("factorised", np.inf), ("auxiliary", np.inf),
                                        ("auxiliary", 30.0)])
@pytest.mark.parametrize("form", FORMS)
def test_chain_equals_its_reference(form, test, most):
    case = Case("logistic", 60, 3, size=1.0)
    sampler = sampler_of(case, form, test=test, gamma=0.7)
    problem = case.problem(sampler.mode)
    problem.is_own, problem.bounds = True, sampler._regression.rows[:, 0]
    if form == "space":
        problem.spread = lambda z, other: twin.spread_any(problem.factor @ z,
                                                          problem.factor @ other)
        assert np.allclose(problem.bounds, THIRD / 2 * np.linalg.norm(case.x, axis=1)**3)
    elif form == "own":
        mode, factor = sampler.mode, problem.factor
        m = own_bounds(case, mode)["spread"]
        problem.spread = lambda z, other: m(np.stack([mode + factor @ z, mode + factor @ other]))
    else:
        assert np.allclose(problem.bounds, case.problem(sampler.mode).bounds, rtol=1e-9)
    sampler._regression.decide_by(test, 0.7, most)
    moves = [twin.Move(m.is_walk, m.scale, m.target, below=m.below, target_all=m.target_all)
             for m in sampler._moves]
    chain = Chain(sampler._regression, sampler._moves, np.random.default_rng(9), sampler.mode,
                  False, sampler._own.own())
    other = twin.Chain(problem, moves, np.random.default_rng(9), test, 0.7, most)
    n_accepted = n_read = 0
    for _ in range(300):
        chain.steps(1)
        accepted, read = other.step()
        n_accepted, n_read = n_accepted + accepted, n_read + read
        assert chain.counts[:2] == (n_accepted, n_read)
        assert np.allclose(chain.values, sampler.mode + sampler._factor @ other.z, atol=1e-7)
    assert n_accepted > 20 and n_read > 100


def test_space_form_bounds_every_direction():
    """The bound holds for random cubic forms of norm at most 1, in any direction."""
    rng = np.random.default_rng(1)
    for trial in range(200):
        d = 1 + trial % 4
        z, other = rng.normal(size=(2, d))
        found = spread(z, other, True)
        assert found == pytest.approx(twin.spread_any(z, other), rel=1e-12)
        w = rng.normal(size=(6, d))
        w /= np.linalg.norm(w, axis=1)[:, None]
        weights = rng.dirichlet(np.ones(6)) * rng.choice([-1, 1], 6)  # the form has norm at most 1
        change = (weights * ((w @ other)**3 - (w @ z)**3)).sum() / 6
        assert abs(change) <= found / 2 * (1 + 1e-12)


def test_control_gives_the_draws_of_the_built_in_family():
    """The same expansion and bounds give the same distribution and as many rows per step."""
    case = Case("logistic", 20_000, 5, size=0.5)
    own, plain = sampler_of(case, "line"), case.sampler()
    runs = [one.sample(4000, n_warmup=500, n_chains=1, rng=3) for one in (own, plain)]
    rows = [run["sample_stats"]["n_evaluations"].to_numpy().mean() for run in runs]
    assert 0.8 < rows[0] / rows[1] < 1.25
    draws = [run["posterior"]["x"].to_numpy()[0] for run in runs]
    error = np.sqrt(np.diag(plain.covariance) / 1000)
    assert (np.abs(draws[0].mean(axis=0) - draws[1].mean(axis=0)) < 5 * error).all()
    assert np.allclose(draws[0].std(axis=0), draws[1].std(axis=0), rtol=0.1)


def test_draws_are_centered_at_the_quadratic_maximum():
    """Draws are centered at the maximum of the quadratic part, not at the expansion point."""
    case = Case("logistic", 12, 1, size=2.0)
    plain = case.sampler()
    away = plain.mode + 0.5 * np.sqrt(plain.covariance[0])
    sampler = sampler_of(case, "line", mode=away, adapt=False, proposal="laplace")
    assert abs(sampler._moves[0].center[0]) > 0.1
    sampler._regression.decide_by("factorised", 0.5, np.inf)
    assert p_value(case, 20_000, sampler, 30) > 1e-6


def test_draws_stay_in_the_ball():
    case = Case("logistic", 200, 2)
    sampler = sampler_of(case, "line", radius=1.5)
    draws = sampler.sample(2000, n_chains=1, rng=1)["posterior"]["x"].to_numpy()[0]
    z = np.linalg.solve(sampler._factor, (draws - sampler.mode).T)
    assert 1.4 < np.linalg.norm(z, axis=0).max() <= 1.5


def test_chains_do_not_depend_on_threads():
    sampler = sampler_of(Case("logistic", 300, 3), "space")
    trees = [sampler.sample(60, n_warmup=40, n_chains=4, rng=4, n_threads=n) for n in (1, 3)]
    assert trees[0].identical(trees[1])


def test_exceptions_of_functions_are_propagated():
    case, error = Case("logistic", 40, 1, size=2.0), KeyError("mine")

    def bad(*arguments):
        raise error

    mode = case.sampler().mode
    for options in (dict(own_bounds(case, mode), log_likelihood=bad),
                    dict(in_python(case), bounds=1.0, spread=bad)):
        sampler = mcmc.ExactMinibatch.from_control(control_of(case, mode, "line"), **options)
        for call in (lambda s: s.sample(50, n_threads=2, rng=1),
                     lambda s: s.step(mode, n_steps=50, rng=1)):
            with pytest.raises(KeyError) as caught:
                call(sampler)
            assert caught.value is error


CASE = Case("logistic", 40, 2)
CONTROL = control_of(CASE, np.zeros(2), "line")


def make(control=CONTROL, **options):
    if not {"log_likelihood", "factors"} & set(options):
        options |= in_python(CASE)
    return mcmc.ExactMinibatch.from_control(control, **options)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: make(3), TypeError, "control must be"),
    (lambda: make(control_of(CASE, np.zeros(2), "line", None)), ValueError, "must have third"),
    (lambda: make(log_likelihood=None), ValueError, "log_likelihood and factors"),
    (lambda: make(log_likelihood=3), TypeError, "log_likelihood must be callable"),
    (lambda: make(bounds=1.0), ValueError, "bounds and spread must be given together"),
    (lambda: make(bounds=-1.0, spread=len), ValueError, "bounds must be finite and at least 0"),
    (lambda: make(bounds=np.ones(3), spread=len), ValueError, "bounds must be a scalar or have"),
    (lambda: make(bounds=np.full(40, 1e308), spread=len), ValueError, "finite sum"),
    (lambda: make(bounds=1.0, spread=3), TypeError, "spread must be callable"),
    (lambda: make(bounds=1.0, spread=lambda points: np.nan).step(np.ones(2), n_steps=9, rng=1),
     ValueError, "spread must be finite and at least 0; got nan"),
    (lambda: make(log_likelihood=lambda n, p: np.full((n.size, 2), np.nan)).step(
        np.ones(2), n_steps=999, rng=1), ValueError, r"log ratio of row \d+ must be finite"),
    (lambda: make(slack=-1.0), ValueError, "slack"),
    (lambda: make(radius=0.0), ValueError, "radius"),
    (lambda: make(prior_precision=[1.0]), ValueError, "prior_precision"),
    (lambda: make(factors=lambda points: 3), TypeError, "factors must return"),
    (lambda: make(factors=lambda points: pb.Factors(len, 3, 1)), ValueError, "3"),
    (lambda: mcmc.GLMControl(CASE.x, CASE.y, CASE.y, [0, 0], third=-1.0), ValueError, "third"),
    (lambda: mcmc.TaylorControl([0, 0], CASE.x, third=[1.0]), ValueError, "third must be"),
])
def test_invalid_arguments_raise(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
