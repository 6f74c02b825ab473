"""GLR stopping, TopTwo, TrackAndStop, LUCB and KLLUCB: reference runs, protocol, error rates."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import betaln, xlogy

import pybandit as pb
from pybandit._shared.generators import private_generator
from pybandit.policies.confidence._posterior import Posterior
from pybandit.stopping import GLR, lower_bound, optimal_proportions

from policies import protocol
from policies.confidence_runs import orders, table_of
from policies.reference import bounds as plain_bounds
from policies.reference import confidence as plain

LAWS = ["gaussian", "bernoulli", "poisson"]
EVERY_LAW = [*LAWS, "gaussian-unknown"]


# -- the rule ----------------------------------------------------------------------------


def rules(law, rng):
    options = dict(delta=float(rng.choice([0.3, 0.05, 1e-6])), law=law,
                   guarantee=str(rng.choice(["proven", "heuristic"])))
    if law == "gaussian":
        options |= dict(noise_std=float(rng.uniform(0.3, 3)), epsilon=float(rng.choice([0, 0.2])))
    return GLR(**options)


@pytest.mark.parametrize("law", LAWS)
def test_margins_match_reference(law):
    for seed in range(150):
        rng = np.random.default_rng([seed, LAWS.index(law)])
        n_arms = int(rng.integers(1, 7))
        pulls, means = rng.integers(1, 400, n_arms), rng.random(n_arms)
        if seed % 5 == 0 and law != "gaussian":
            means[0] = 0.0
        rule = rules(law, rng)
        margins, best = rule.margins(pulls=pulls, means=means), int(means.argmax())
        for arm in range(n_arms):
            if arm == best:
                assert np.isnan(margins[arm])
            else:
                expected = plain.margin(rule, max(n_arms, 2), (pulls[best], means[best]),
                                       (pulls[arm], means[arm]), pulls.sum(), rule.epsilon)
                assert margins[arm] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert rule.is_sure(pulls=pulls, means=means) == bool((np.delete(margins, best) > 0).all())


def test_margins_of_unknown_variances_match_reference():
    for seed in range(60):
        rng = np.random.default_rng([seed, 4])
        n_arms = int(rng.integers(2, 5))
        pulls = rng.integers(2, [6, 300][seed % 2], n_arms)
        means = rng.random(n_arms)
        variances = rng.choice([1e-4, 0.01, 1.0], n_arms) * rng.uniform(0.5, 2, n_arms)
        rule = GLR(delta=float(rng.choice([0.3, 1e-6])), law="gaussian-unknown",
                   guarantee=str(rng.choice(["proven", "heuristic"])),
                   epsilon=float(rng.choice([0.0, 0.2])))
        margins, best = rule.margins(pulls=pulls, means=means,
                                     variances=variances), int(means.argmax())
        arms = list(zip(pulls.tolist(), means.tolist(),
                        (variances * (pulls - 1) / pulls).tolist(), strict=True))
        for arm in set(range(n_arms)) - {best}:
            expected = plain.unknown_margin(rule.guarantee, rule.delta, n_arms, arms[best],
                                           arms[arm], pulls.sum(), rule.epsilon)
            assert margins[arm] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert rule.is_sure(pulls=pulls, means=means,
                            variances=variances) == bool((np.delete(margins, best) > 0).all())


@pytest.mark.parametrize("scale", [2.0**-490, 2.0**-365, 2.0**345, 2.0**480])
def test_margins_do_not_depend_on_the_unit(scale):
    """Squares and cubes of gaps underflow or overflow at these scales."""
    arms = [(60, 0.9, 0.25 * 59 / 60), (60, 0.5, 0.5 * 59 / 60)]
    unknown = GLR(delta=0.1, law="gaussian-unknown")
    means, variances = np.array([0.9, 0.5]), np.array([0.25, 0.5])
    expected = unknown.margins(pulls=[60, 60], means=means, variances=variances)[1]
    margin = unknown.margins(pulls=[60, 60], means=means * scale, variances=variances * scale**2)[1]
    assert margin == expected == pytest.approx(
        plain.unknown_margin("proven", 0.1, 2, *arms, 120), abs=1e-6)
    in_units = [(n, mean * scale, v * scale**2) for n, mean, v in arms]
    assert plain.unknown_margin("proven", 0.1, 2, *in_units, 120) == pytest.approx(margin, abs=1e-6)
    margin = GLR(delta=0.1, noise_std=scale).margins(pulls=[60, 60], means=means * scale)[1]
    assert margin == pytest.approx(GLR(delta=0.1).margins(pulls=[60, 60], means=means)[1],
                                   rel=1e-12)


def test_margins_of_equal_arms_do_not_depend_on_the_unit():
    rng = np.random.default_rng(5)
    table = rng.standard_normal((40, 2, 150))
    margins = np.array([[
        GLR(delta=0.3, law="gaussian-unknown").margins(pulls=[150, 150], means=(s * x).mean(axis=1),
                                                       variances=(s * x).var(axis=1, ddof=1))
        for x in table] for s in (1.0, 2.0**-365, 2.0**345)])
    assert np.array_equal(margins[1], margins[0], equal_nan=True)
    assert np.array_equal(margins[2], margins[0], equal_nan=True)


def test_equal_rewards_decide_nothing_with_unknown_variances():
    rule = GLR(delta=0.3, law="gaussian-unknown")
    assert rule.margins(pulls=[500, 500], means=[1.0, 0.0], variances=[0.0, 0.0])[1] == -np.inf
    assert rule.margins(pulls=[1, 500], means=[1.0, 0.0], variances=[np.nan, 1e-9])[1] < 0
    for variances in ([0.0, 1.0], [1.0, 0.0], [1e-33, 1.0], [1.0, 1e-300]):
        assert rule.margins(pulls=[500, 500], means=[0.1, -0.3], variances=variances)[1] == -np.inf
    for constant in (0.1, 0.3, 1 / 3, 0.7):  # deviations are only rounding errors
        policy = pb.policies.SuccessiveElimination(2, stopping=rule, max_pulls=200)
        rng = np.random.default_rng(1)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, np.where(arms == 0, constant, rng.normal(constant + 0.05, 1.0)))
        assert not policy.decided
        policy = pb.policies.GoodArms(1, delta=0.3, threshold=constant + 0.001,
                                      law="gaussian-unknown", max_pulls=99)
        while not policy.done:
            policy.tell(policy.ask(), np.full(policy.ask().size, constant))
        assert policy.bad.size == 0


def test_mixture_over_scales_has_mean_one():
    """Integrates over the t distribution, including tails that random draws would hardly reach."""
    for n in (2, 3, 5, 40, 500):
        def density(y, n=n):
            t = np.sinh(y)
            z = n / 2 * np.log1p(t * t / (n - 1))
            return np.exp(plain.unknown_logarithm(n, z) + stats.t.logpdf(t, n - 1)) * np.cosh(y)

        assert 2 * quad(density, 0, 40 / n**0.5 + 4, limit=500)[0] == pytest.approx(1, abs=1e-4)


def test_mixture_over_scales_is_rarely_large():
    """Checks 40,000 runs of 100 rewards, single arms and pairs."""
    rng, n = np.random.default_rng(3), np.arange(1, 101)
    x = rng.standard_normal((40_000, 100))
    means = np.cumsum(x, axis=1) / n
    v = np.maximum(np.cumsum(x**2, axis=1) / n - means**2, 1e-300)
    logs = n / 2 * (np.log(v + means**2) - np.log(v + means**2 / (n + 1))) - np.log(n + 1) / 2
    largest = logs.max(axis=1)
    for level in 1.0, 3.0:
        assert 0.1 * np.exp(-level) < (largest > level).mean() < np.exp(-level)
        pairs = largest[::2] + largest[1::2]
        assert (pairs > level).mean() < (1 + level) * np.exp(-level)


def test_unseen_arms_have_margin_minus_infinity():
    rule = GLR(delta=0.1)
    assert not rule.is_sure(pulls=[0, 0], means=[np.inf, 1.0])
    assert not rule.is_sure(pulls=[9, 0], means=[9.0, 1.0])
    assert rule.margins(pulls=[1000, 0, 1000], means=[0.0, np.inf, 5.0]).tolist()[1] == -np.inf
    assert rule.is_sure(pulls=[1], means=[0.0]) and not rule.is_sure(pulls=[0], means=[0.0])


def test_rules_compare_by_value():
    assert repr(GLR(delta=0.1, law="gaussian-unknown", epsilon=0.5)) == (
        "GLR(delta=0.1, law='gaussian-unknown', epsilon=0.5, guarantee='proven')")
    rule = GLR(delta=0.1, noise_std=2.0, epsilon=0.5, guarantee="heuristic")
    for other in pickle.loads(pickle.dumps(rule)), copy.deepcopy(rule), GLR(**rule.options()):
        assert other == rule and hash(other) == hash(rule) and repr(other) == repr(rule)
    assert rule != GLR(delta=0.1) and rule != 0.1
    assert repr(GLR(delta=0.1,
                    law="poisson")) == "GLR(delta=0.1, law='poisson', guarantee='proven')"


@pytest.mark.parametrize("law", LAWS)
def test_proportions_match_reference(law):
    for seed in range(60):
        rng = np.random.default_rng([seed, 7])
        means = rng.uniform(0.05, 0.95, int(rng.integers(2, 12)))
        if seed % 4 == 0:
            means = np.round(means, 1)
        expected, least = plain.proportions(law, means)
        assert optimal_proportions(means, law=law) == pytest.approx(expected, abs=1e-9)
        needed = 0.8 * np.log(9.0) / least if least else np.inf
        assert lower_bound(means, delta=0.1, law=law) == pytest.approx(needed, rel=1e-9)


def test_proportions_are_optimal_at_extreme_means():
    """Checks the optimality conditions where the reference fails numerically."""
    for law in "bernoulli", "poisson":
        cases = [[0.0, 0.4], [0.7, 0.0], [0.0, 0.0, 0.3], [0.5, 0.4999, 0.1]]
        for means in cases + [[1.0, 0.3, 0.0], [1.0, 0.0]] * (law == "bernoulli"):
            w, best = optimal_proportions(means, law=law), int(np.argmax(means))
            others = [b for b in range(len(means)) if b != best]
            costs, ratios = [], []
            for b in others:
                m = (w[best] * means[best] + w[b] * means[b]) / (w[best] + w[b])
                parts = [plain.divergence(law, means[a], m) for a in (best, b)]
                costs.append(w[best] * parts[0] + w[b] * parts[1])
                ratios.append(parts[0] / parts[1])
            assert w.sum() == pytest.approx(1.0) and (w > 0).all()
            assert costs == pytest.approx([costs[0]] * len(costs), rel=1e-6)
            assert sum(ratios) == pytest.approx(1.0, rel=1e-4)
    assert optimal_proportions([0.2, 0.5, 0.5]).tolist() == [0.0, 0.5, 0.5]
    assert optimal_proportions([3.0]).tolist() == [1.0] and lower_bound([3.0], delta=0.1) == 0.0
    assert lower_bound([1.0, 1.0], delta=0.1) == np.inf and lower_bound([1.0, 0.0],
                                                                        delta=0.5) == 0.0


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-664, 2.0**345, 2.0**900])
def test_proportions_do_not_depend_on_the_unit(scale):
    means = np.array([1.0, 0.0, -1.0])
    expected = optimal_proportions(means)
    assert expected == pytest.approx(plain.proportions("gaussian", means)[0], abs=1e-9)
    assert optimal_proportions(means * scale).tolist() == expected.tolist()
    noise_std = min(max(scale, 2.0**-490), 2.0**490)
    assert lower_bound(means * noise_std, delta=0.1,
                       noise_std=noise_std) == pytest.approx(lower_bound(means, delta=0.1))


def test_bernoulli_mixture_stays_within_its_bound():
    """Likelihood over mixture is at most sqrt(4 n) for any sum of n rewards in [0, 1]."""
    for n in (1, 2, 3, 5, 10, 100, 10**4):
        s = np.linspace(0.0, n, 3001)
        most = xlogy(s, s / n) + xlogy(n - s, 1 - s / n)
        mixed = betaln(s + 0.5, n - s + 0.5) - betaln(0.5, 0.5)
        assert (most - mixed).max() <= 0.5 * np.log(4 * n) + 1e-9


@pytest.mark.parametrize("law", LAWS)
def test_sums_of_two_arms_are_rarely_above_the_threshold(law):
    """Draws 1,000 rewards of each of two arms; most runs would exceed log(1/delta) alone."""
    rng, n_runs, n = np.random.default_rng(8), 400, np.arange(1, 1001)
    draws = {"gaussian": lambda: rng.standard_normal((n_runs, 1000)),
             "bernoulli": lambda: rng.random((n_runs, 1000)) < 0.3,
             "poisson": lambda: rng.poisson(0.7, (n_runs, 1000))}[law]
    true = {"gaussian": 0.0, "bernoulli": 0.3, "poisson": 0.7}[law]
    sums, sides = 0.0, 0.0
    for side in (1, -1):
        means = np.cumsum(draws(), axis=1) / n
        sums = sums + n * np.vectorize(lambda p: plain.divergence(law, p, true))(means)
        sides = sides + plain.evidence(n, side * means) if law == "gaussian" else 0.0
    if law == "gaussian":
        assert 0.02 < (sides > np.log(1 / 0.2)).any(axis=1).mean() <= 0.2
    else:
        level = np.array([plain.threshold(law, "proven", 0.2, 2, k, k, 2 * k) for k in n])
        assert 0 <= (sums > level).any(axis=1).mean() <= 0.2
    if law != "poisson":
        assert (sums > np.log(1 / 0.2)).any(axis=1).mean() > 0.5


def test_evidence_equals_the_mixture():
    """Compares with an integral of the likelihood of n rewards with mean d above the true mean."""
    for n in (1, 2, 10, 300, 10**6):
        for d in np.array([-2.0, 0.0, 0.5, 3.0]) / np.sqrt(n):
            total = 0.0
            for width, weight in zip(plain.WIDTHS, plain.WEIGHTS, strict=True):
                spread = 1 / np.sqrt(n + width**-2)
                total += weight * quad(
                    lambda x, d=d, n=n, s=width: 2 * np.exp(n * (x * d - x * x / 2))
                    * stats.norm.pdf(x, scale=s), 0, max(n * d * spread**2, 0) + 12 * spread,
                    limit=300)[0]
            assert np.exp(plain.evidence(n, d)) == pytest.approx(total, rel=1e-6)


def test_single_threshold_matches_its_mixture():
    """The mixed likelihood, by integral, is exp(x) at the level that a single arm needs."""
    x = np.log(7.0)
    for n in (1, 2, 10, 300):
        s = (1 + 1 / n) * (x + np.log(1 + n) / 2)
        d = np.sqrt(2 * s / n)

        def mixed(m, n=n, d=d):  # integrand; m ~ N(0, 1), and d is the mean reward
            return np.exp(n * (m * d - m * m / 2)) * stats.norm.pdf(m)

        centre, width = n * d / (1 + n), 12 / np.sqrt(1 + n)
        total = quad(mixed, centre - width, centre + width, limit=300)[0]
        assert total == pytest.approx(7.0, rel=1e-6)
        reference = plain_bounds.GoodArms(7, 1.0 - 1e-12, 0.0, "hdoc", "gaussian", 1.0, 0.0)
        assert reference.level(n) == pytest.approx(s, rel=1e-9)


@pytest.mark.parametrize("make, sides, least, most", [
    (lambda: plain.LUCB(3, 0.3, 1), 1, 0.95, 0.97),       # .8 zeta(3)
    (lambda: plain_bounds.UGapEc(3, 0.3, 1, 1.0, 0.0), 2, 0.81, 0.83)])  # zeta(2) / 2
def test_bounds_fail_with_probability_just_below_delta(make, sides, least, most):
    """Hoeffding's bound, summed over counts, sides, arms and t, is nearly delta, but not more."""
    total = 0.0
    for t in range(1, 3000):
        reference = make()
        reference.order = [0] * t
        reference.rewards = [[0.0], [0.0], [0.0]]
        rate = reference.width(0) ** 2 / 2  # for one reward
        total += sides * 3 * t * np.exp(-rate)
    assert least < total / 0.3 < most


# -- reference runs of the policies ------------------------------------------------------


PAIRS = [(leader, challenger, beta) for leader in ("thompson", "empirical", "ucb")
         for challenger in ("cost", "cost-improved", "thompson") for beta in (0.5, "ids")]


@pytest.mark.some(3)
@pytest.mark.parametrize("law", EVERY_LAW)
@pytest.mark.parametrize("leader, challenger, beta", PAIRS)
def test_top_two_matches_reference(leader, challenger, beta, law):
    if (leader, law) == ("ucb", "poisson"):
        return
    # for unknown variances the reference checks all arms
    for seed in range(4 if law in LAWS else 2):
        rng = np.random.default_rng([seed, PAIRS.index((leader, challenger, beta))])
        n_arms = 1 if seed == 3 and beta == 0.5 else int(rng.integers(2, 8))
        rule = GLR(delta=0.1, law=law, guarantee=["proven", "heuristic"][seed % 2])
        names = dict(leader=leader, challenger=challenger, beta=beta)
        order, expected = orders(
            pb.policies.TopTwo(n_arms, stopping=rule, rng=seed, **names),
            plain.TopTwo(n_arms, private_generator(seed), rule=rule, **names),
            table_of(rng, n_arms, law), 160 if law in LAWS else 40)
        assert order == expected


@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
def test_lazy_posteriors_choose_as_often_as_drawn_ones(law):
    rng, n_arms, n = np.random.default_rng(8), 40, 40_000
    counts = rng.integers(1, 30, n_arms)
    totals = (rng.binomial(counts, np.linspace(0.2, 0.7, n_arms)) if law == "bernoulli"
              else counts * np.linspace(0.0, 1.0, n_arms))
    posterior = Posterior(n_arms) if law == "bernoulli" else Posterior(n_arms, 0.5)
    chosen = posterior.choices(rng, np.stack([counts, totals], axis=1), n)
    drawn = (rng.beta(1 + totals, 1 + counts - totals, (n, n_arms)) if law == "bernoulli"
             else rng.normal(totals / counts, 0.5 / np.sqrt(counts), (n, n_arms))).argmax(axis=1)
    both = np.stack([np.bincount(one, minlength=n_arms) for one in (chosen, drawn)])
    both = np.c_[both[:, both.sum(axis=0) >= 20], both[:, both.sum(axis=0) < 20].sum(axis=1) + 1]
    assert stats.chi2_contingency(both).pvalue > 1e-4


@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("leader, challenger", [("thompson", "cost"), ("ucb", "thompson")])
def test_top_two_of_many_arms_resumes_bit_for_bit(law, leader, challenger):
    rng, n_arms = np.random.default_rng(9), 40
    rewards = (rng.random((600, n_arms)) < np.linspace(0.2, 0.7, n_arms)) * 1.0
    policy = pb.policies.TopTwo(n_arms, law=law, leader=leader, challenger=challenger, rng=3)
    for t in range(600):
        if t == 300:
            resumed = pb.policies.TopTwo.from_state(policy.get_state())
        arms = policy.ask()
        if t >= 300:
            assert np.array_equal(arms, resumed.ask())
            resumed.tell(arms, rewards[t, arms])
        policy.tell(arms, rewards[t, arms])
    state = policy.get_state()
    assert state["progress"]["age"] > 0
    state["progress"]["seen"][0, 2] += 0.1
    with pytest.raises(ValueError, match="posteriors' probabilities"):
        pb.policies.TopTwo.from_state(state)


@pytest.mark.some(2)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("tracking", ["D", "C"])
def test_track_and_stop_matches_reference(tracking, law):
    for seed in range(3):
        rng = np.random.default_rng([seed, 3])
        n_arms = int(rng.integers(2, 6))
        rule = GLR(delta=0.2, law=law, guarantee="heuristic")
        table = table_of(rng, n_arms, law)
        if law != "gaussian":  # the reference's root finder fails at 0 and 1
            table = 0.125 + 0.75 * table
        order, expected = orders(pb.policies.TrackAndStop(n_arms, stopping=rule, tracking=tracking),
                                 plain.TrackAndStop(n_arms, tracking, rule=rule), table, 120)
        assert order == expected


@pytest.mark.parametrize("kl", [False, True], ids=["LUCB", "KLLUCB"])
def test_lucb_matches_reference(kl):
    for seed in range(40):
        rng = np.random.default_rng([seed, kl])
        n_arms = int(rng.integers(2, 9))
        k = int(rng.integers(1, n_arms))
        options = dict(delta=float(rng.choice([0.1, 1e-4])), k=k,
                       epsilon=float(rng.choice([0.0, 0.4])))
        table = table_of(rng, n_arms, "bernoulli" if kl else "gaussian")
        if kl:
            policy = pb.policies.KLLUCB(n_arms, **options)
        else:
            options["noise_std"] = 0.5
            policy = pb.policies.LUCB(n_arms, **options)
        order, expected = orders(policy, plain.LUCB(n_arms, kl=kl, **options), table)
        assert order == expected


def test_rates_of_kl_lucb_sum_to_at_most_delta():
    """Sums the bound of the docstring, at the worst K and delta, up to t = 10^6 and beyond."""
    t = np.arange(1.0, 1e6)
    x = np.log((4 * np.e + 2) * t**2 / 0.999999)
    rate = x + np.log(x)
    total = (np.e * np.ceil(np.maximum(rate * np.log(t), 1.0)) * np.exp(-rate)).sum()
    assert total + 1e-4 < 1.0


def test_state_stopped_without_evidence_is_refused():
    bandit = pb.environments.TableBandit([[0.1, 0.4], [0.5, 0.2], [0.3, 0.6]])
    policy, _ = protocol.play(pb.policies.TopTwo(3, stopping=GLR(delta=0.1), rng=1), bandit, 3)
    state = policy.get_state()
    state["progress"]["stopped"] = True
    with pytest.raises(ValueError, match="stopped only with a stopping rule"):
        pb.policies.TopTwo.from_state(state)


def test_equal_arms_do_not_stop():
    for policy in (pb.policies.TopTwo(3, stopping=GLR(delta=0.5), rng=1),
                   pb.policies.TrackAndStop(3, stopping=GLR(delta=0.5)),
                   pb.policies.LUCB(3, delta=0.5),
                   pb.policies.KLLUCB(3, delta=0.5), pb.policies.EBTC(3, stopping=GLR(delta=0.5))):
        for _ in range(500):
            arms = policy.ask()
            policy.tell(arms, np.full(arms.size, 0.5))
        assert not policy.done and not policy.decided and not policy.is_endless


def test_equal_arms_end_with_epsilon():
    for policy in (pb.policies.TopTwo(3, stopping=GLR(delta=0.1, noise_std=0.1, epsilon=0.5),
                                      rng=1),
                   pb.policies.LUCB(3, delta=0.1, noise_std=0.1, epsilon=0.5)):
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, np.full(arms.size, 0.5))
        assert policy.decided and policy.n_pulls < 200


def test_finding_all_arms_or_none_needs_no_pulls():
    for k in 0, 3:
        policy = pb.policies.LUCB(3, delta=0.1, k=k)
        assert policy.done and policy.decided and policy.n_pulls == 0
        assert policy.recommend().size == k
        assert pb.policies.LUCB.from_state(policy.get_state()).done


def test_rewards_outside_the_law_are_refused():
    policy = pb.policies.TopTwo(2, stopping=GLR(delta=0.1, law="bernoulli"))
    with pytest.raises(ValueError, match=r"rewards must be in \[0, 1\]; got 1.5 at index 1, arm 1"):
        policy.tell([0, 1], [0.5, 1.5])
    with pytest.raises(ValueError, match=r"rewards must be in \[0, inf\]; got -1.0"):
        pb.policies.TrackAndStop(2, stopping=GLR(delta=0.1, law="poisson")).tell([0, 1],
                                                                                 [0.5, -1.0])
    bandit = pb.environments.GaussianBandit([0.2, 0.8], 1.0)
    with pytest.raises(ValueError, match=r"rewards must be in \[0, 1\]"):
        pb.simulate(lambda e: pb.policies.KLLUCB(2, delta=0.1), bandit, 2, rng=1, max_pulls=50)


@pytest.mark.parametrize("make, error, message", [
    (lambda: GLR(delta=0.0), ValueError, r"delta must be in \(0, 1\); got 0.0"),
    (lambda: GLR(delta=0.1, law="beta"), ValueError,
     "law must be one of 'gaussian', 'bernoulli', 'poisson'"),
    (lambda: GLR(delta=0.1, noise_std=np.inf), ValueError,
     "noise_std must be finite and above 0; got inf"),
    (lambda: GLR(delta=0.1, noise_std=1e-155), ValueError,
     r"noise_std must be in \[1/1e\+150, 1e\+150\]; got"),
    (lambda: pb.policies.GoodArms(2, delta=0.1, threshold=0.0, noise_std=1e160), ValueError,
     r"noise_std must be in \[1/1e\+150, 1e\+150\]; got"),
    (lambda: pb.policies.TopTwo(2, noise_std=1e-155), ValueError, r"noise_std must be in \[1/1e"),
    (lambda: pb.policies.TrackAndStop(2, noise_std=1e160), ValueError,
     r"noise_std must be in \[1/1e"),
    (lambda: optimal_proportions([1.0, 0.0], noise_std=1e160), ValueError,
     r"noise_std must be in \[1/1e"),
    (lambda: GLR(delta=0.1, law="bernoulli", noise_std=2.0), ValueError,
     "noise_std must be 1 unless law='gaussian'"),
    (lambda: GLR(delta=0.1, law="poisson", epsilon=0.1), ValueError,
     "epsilon must be 0 unless the law is Gaussian"),
    (lambda: GLR(delta=0.1, law="gaussian-unknown", noise_std=2.0), ValueError,
     "noise_std must be 1 unless law='gaussian'"),
    (lambda: GLR(delta=0.1, law="gaussian-unknown").margins(pulls=[3, 3], means=[1.0, 0.0]),
     ValueError,
     "variances must be given for law='gaussian-unknown'; got None"),
    (lambda: GLR(delta=0.1, law="gaussian-unknown").margins(pulls=[3, 3], means=[1.0, 0.0],
                                                            variances=[1.0]), ValueError,
     r"variances must have shape \(2,\)"),
    (lambda: GLR(delta=0.1, law="gaussian-unknown").is_sure(pulls=[3, 3], means=[1.0, 0.0],
                                                            variances=[1.0, -1.0]), ValueError,
     "variances must be finite and at least 0 for arms with two or more rewards; got -1.0"),
    (lambda: GLR(delta=0.1).margins(pulls=[3, 3], means=[1.0, 0.0], variances=[1.0, 1.0]),
     ValueError,
     "variances must be None unless law='gaussian-unknown'"),
    (lambda: pb.policies.TrackAndStop(3, stopping=GLR(delta=0.1, law="gaussian-unknown")),
     ValueError,
     "stopping must have a law with one parameter"),
    (lambda: lower_bound([1.0, 0.0], delta=0.1, law="gaussian-unknown"), ValueError,
     "law must be one of"),
    (lambda: GLR(delta=0.1, guarantee="mine"), ValueError,
     "guarantee must be one of 'proven', 'heur"),
    (lambda: GLR(delta=0.1).margins(pulls=[1, 2], means=[1.0]), ValueError,
     r"same shape, \(n_arms,\); got \(2,\)"),
    (lambda: GLR(delta=0.1).margins(pulls=[1, 1.5], means=[1, 1]), ValueError,
     "pulls must be whole numbers of at"),
    (lambda: GLR(delta=0.1, law="bernoulli").margins(pulls=[1, 1], means=[1, 2]), ValueError,
     r"means must be finite and "
     r"in \[0, 1\] for law='bernoulli'; got 2.0"),
    (lambda: optimal_proportions([]), ValueError, r"means must have shape \(n_arms,\); got \(0,\)"),
    (lambda: lower_bound([0.1, np.nan], delta=0.1), ValueError, "means must be finite; got nan"),
    (lambda: pb.policies.TopTwo(3, stopping=0.1), TypeError,
     "stopping must be a pybandit.stopping.GLR, a .*Betting or None; got 0.1"),
    (lambda: pb.policies.TopTwo(3, leader="best"), ValueError,
     "leader must be one of 'thompson', 'empir"),
    (lambda: pb.policies.TopTwo(3, beta=1.0), ValueError,
     r"beta must be in \(0, 1\), or 'ids'; got 1.0"),
    (lambda: pb.policies.TopTwo(3, beta="id"), TypeError, "beta must hold real numbers"),
    (lambda: pb.policies.TopTwo(3, stopping=GLR(delta=0.1), noise_std=2.0), ValueError,
     "noise_std must be None if stopping"),
    (lambda: pb.policies.TopTwo(3, stopping=GLR(delta=0.1), law="poisson"), ValueError,
     "law must be None if stopping"),
    (lambda: pb.policies.TopTwo(3, law="poisson", leader="ucb"), ValueError,
     "leader must be 'thompson' or"),
    (lambda: pb.policies.TopTwo(3, max_pulls=2), pb.errors.InfeasibleBudgetError,
     "max_pulls must be at least 3 for 3 arms"),
    (lambda: pb.policies.TrackAndStop(3, tracking="E"), ValueError,
     "tracking must be one of 'D', 'C'"),
    (lambda: pb.policies.LUCB(3, delta=1.5), ValueError, r"delta must be in \(0, 1\); got 1.5"),
    (lambda: pb.policies.LUCB(3, delta=0.1, k=4), ValueError,
     "k must be at most n_arms = 3; got 4"),
    (lambda: pb.policies.KLLUCB(3, delta=0.1, epsilon=-1), ValueError,
     "epsilon must be finite and at least 0"),
])
def test_bad_input_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -- error rates ---------------------------------------------------------------------------

TWO_EQUAL = pb.environments.GaussianBandit([0.0, 0.0], 1.0)


@pytest.mark.parametrize("make", [
    lambda e: pb.policies.TopTwo(2, stopping=GLR(delta=0.1)),
    lambda e: pb.policies.TrackAndStop(2, stopping=GLR(delta=0.1)),
    lambda e: pb.policies.EBTC(2, epsilon=0.0, stopping=GLR(delta=0.1)),
    lambda e: pb.policies.LUCB(2, delta=0.1),
    lambda e: pb.policies.TopTwo(2, stopping=GLR(delta=0.1, law="gaussian-unknown")),
    lambda e: pb.policies.UGapEc(2, delta=0.1),
    lambda e: pb.policies.SuccessiveElimination(2, stopping=GLR(delta=0.1)),
    lambda e: pb.policies.LilUCB(2, delta=0.1)])
def test_equal_arms_are_rarely_decided(make):
    """Every stop is an error; at delta = 0.1, more than 50 of 300 have probability below 10^-4."""
    result = pb.simulate(make, TWO_EQUAL, 300, rng=3, max_pulls=400)
    assert (result.pulls < 400 - 1).sum() <= 50


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.1, 0.01])
@pytest.mark.parametrize("name", ["T3C", "T3C unknown", "track", "EBTC", "LUCB", "UGapEc", "lil",
                                  "elimination", "KLLUCB", "T3C bernoulli"])
def test_errors_are_at_most_delta(name, delta):
    """Runs ten thousand times: two equal arms, where each stop is an error, and ten arms."""
    bernoulli = name in ("KLLUCB", "T3C bernoulli")
    makers = {
        "T3C": lambda e: pb.policies.TopTwo(e.n_arms, stopping=GLR(delta=delta)),
        "T3C bernoulli": lambda e: pb.policies.TopTwo(e.n_arms,
                                                      stopping=GLR(delta=delta, law="bernoulli")),
        "T3C unknown": lambda e: pb.policies.TopTwo(e.n_arms, stopping=GLR(delta=delta,
                                                                           law="gaussian-unknown")),
        "elimination": lambda e: pb.policies.SuccessiveElimination(e.n_arms,
                                                                   stopping=GLR(delta=delta)),
        "UGapEc": lambda e: pb.policies.UGapEc(e.n_arms, delta=delta),
        "lil": lambda e: pb.policies.LilUCB(e.n_arms, delta=delta),
        "track": lambda e: pb.policies.TrackAndStop(e.n_arms, stopping=GLR(delta=delta)),
        "EBTC": lambda e: pb.policies.EBTC(e.n_arms, epsilon=0.0, stopping=GLR(delta=delta)),
        "LUCB": lambda e: pb.policies.LUCB(e.n_arms, delta=delta),
        "KLLUCB": lambda e: pb.policies.KLLUCB(e.n_arms, delta=delta),
    }
    most = 1e4 * delta + 5 * np.sqrt(1e4 * delta)
    equal = pb.environments.BernoulliBandit([0.5, 0.5]) if bernoulli else TWO_EQUAL
    result = pb.simulate(makers[name], equal, 10_000, rng=4, max_pulls=1000)
    assert (result.pulls < 999).sum() <= most
    means = np.arange(10, 0, -1) / 10
    ten = (pb.environments.BernoulliBandit(0.05 + 0.9 * means) if bernoulli
           else pb.environments.GaussianBandit(3 * means, 1.0))
    result = pb.simulate(makers[name], ten, 10_000, rng=5)
    assert result.errors.sum() <= most
