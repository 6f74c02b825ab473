"""race and RacingSampler on tiny populations, against the exact distribution of outcomes."""

import collections
from fractions import Fraction

import numpy as np
import pytest

import pybandit as pb

from racing.reference import race as reference
from racing.reference import tables
from racing.reference.problems import as_bound, as_function, parts, run

N_RACES = 200_000
# Factor that makes rewards so large that Gumbel noise, at most 37, has no effect: draws
# of a sampler are then races without noise, 100 times as fast as calls of race
HUGE = 2.0**50
# z = 5.7 is exceeded with probability 1.2e-8; the tests here compare about 60 shares
Z = 5.7

ENUMERABLE = ["case1", "case3_", "case3b", "case5", "case7"]
# more cases, enumerated by the reference implementation: all bounds, and both kinds of variances
ENUMERATED = {
    "marginal": reference.Options("normal", boundary=0.7, variance="marginal", first_look=2),
    "student": reference.Options("student", delta=0.45, first_look=2, skewness=False),
    "student marginal": reference.Options(
        "student", delta=0.6, convention="union", variance="marginal", first_look=4,
        skewness=False
    ),
    "skewness": reference.Options("student", boundary=0.2, first_look=6),
    "skewness marginal": reference.Options("student", boundary=0.1, variance="marginal",
                                           first_look=7),
    "ebs": reference.Options("ebs", delta=0.9, first_look=4, difference_range=2e-3),
    "cut short": reference.Options("normal", boundary=0.9, first_look=2, max_fraction=0.4),
}


def find_case(prefix):
    case = next(case for name, case in tables.exact_cases().items() if name.startswith(prefix))
    rewards = np.array(case["rewards"]).T
    log_prior = np.array(case["params"].get("const", np.zeros(case["D"]))) * case["N"]
    if case["params"]["bound"] == "ebs":
        spread = tuple(np.ptp(rewards, axis=0).tolist())
        options = reference.Options(
            "ebs", case["params"]["delta"], first_look=case["m1"], value_range=spread
        )
    else:
        options = reference.Options(
            "normal", boundary=case["params"]["B"], first_look=case["m1"]
        )
    return case, rewards, log_prior, options


def assert_law(observed, law, n):
    """Check every share against its binomial interval; impossible outcomes must not occur."""
    assert set(observed) <= {outcome for outcome, p in law.items() if p > 0}
    for outcome, p in law.items():
        width = Z * np.sqrt(float(p) * (1 - float(p)) / n) + 1 / n
        share = observed.get(outcome, 0) / n
        assert abs(share - float(p)) <= width * (0 < p < 1), (outcome, share, float(p))


def marginal(law, key):
    totals = collections.Counter()
    for outcome, weight in law.items():
        totals[key(reference.Outcome(*outcome))] += weight
    return totals


def fractions_of(law):
    return {int(key): Fraction(p) for key, p in law.items()}


@pytest.mark.parametrize("prefix", ENUMERABLE)
def test_the_reference_has_the_exact_distribution(prefix):
    case, rewards, log_prior, options = find_case(prefix)
    law = reference.enumerate_law(rewards, log_prior, options)
    rows = case["looks"]
    assert marginal(law, lambda o: o.best) == fractions_of(case["P_winner"])
    assert marginal(law, lambda o: rows[o.n_looks - 1]) == fractions_of(case["P_T_last"])
    assert marginal(law, lambda o: o.n_evaluations) == fractions_of(case["P_rewards"])


@pytest.mark.some(2)
@pytest.mark.parametrize("prefix", ENUMERABLE)
def test_exact_cases(prefix):
    case, rewards, log_prior, options = find_case(prefix)
    counts = sampled_races(rewards, log_prior, options, np.random.default_rng(2016))
    winner_only = prefix == "case3_"  # gaps tie, so rounding decides the stopping time
    assert_case(case, counts, N_RACES, winner_only)
    n_races, rng = N_RACES // 20, np.random.default_rng(2017)
    for factors in (rewards, as_function(rewards)):
        counts = collections.Counter(
            parts(run(factors, log_prior, options, rng)) for _ in range(n_races)
        )
        assert_case(case, counts, n_races, winner_only)


def assert_case(case, counts, n_races, winner_only):
    rows = case["looks"]
    laws = [("P_winner", lambda o: o.best)]
    if not winner_only:
        laws += [("P_T_last", lambda o: rows[o.n_looks - 1])]
        laws += [("P_rewards", lambda o: o.n_evaluations)]
    for name, key in laws:
        assert_law(marginal(counts, key), fractions_of(case[name]), n_races)


def sampled_races(rewards, log_prior, options, rng, indices="auto", n_races=N_RACES):
    """Return outcomes of many races, run as draws of a sampler with negligible noise."""
    if options.bound == "ebs":
        ranges = options.value_range, options.difference_range
        scaled = [None if c is None else (np.array(c) * HUGE).tolist() for c in ranges]
        bound = pb.racing.EBSBound(delta=options.delta, value_range=scaled[0],
                                   difference_range=scaled[1])
    else:
        bound = as_bound(options)
    looks = pb.racing.Looks(variance=options.variance, first=options.first_look,
                            max_fraction=options.max_fraction, indices=indices)
    sampler = pb.RacingSampler(rewards * HUGE, log_prior * HUGE, bound=bound, looks=looks)
    winners, info = sampler.draw(n_races, rng=rng)
    columns = (winners, info.n_looks, info.n_evaluations, info.exact)
    return collections.Counter(zip(*(column.tolist() for column in columns), strict=True))


def enumerated_problem(name):
    """Return nine factors of three states on which several outcomes are likely."""
    rng = np.random.default_rng(53)
    if name == "ebs":
        rewards = rng.choice([0.0, 1e-3], size=(9, 3)) - [0.0, 7.5e-3, 4.2e-3]
        return rewards, np.zeros(3)
    rewards = rng.normal(size=(9, 3)) * [1.0, 0.3, 0.5] + [0.2, 0.0, 0.1]
    return rewards, np.array([0.3, 0.7, -0.4])


@pytest.mark.some(5)
@pytest.mark.parametrize("indices", ["permutation", "rejection", "keyed"])
@pytest.mark.parametrize("name", ENUMERATED)
def test_outcomes_have_the_enumerated_distribution(name, indices):
    options = ENUMERATED[name]
    rewards, log_prior = enumerated_problem(name)
    law = reference.enumerate_law(rewards, log_prior, options)
    assert len(law) >= 2, "a law of one outcome tests nothing"
    counts = sampled_races(rewards, log_prior, options, np.random.default_rng(59), indices)
    assert_law(counts, {tuple(outcome): p for outcome, p in law.items()}, N_RACES)


def test_the_order_of_factors_does_not_change_the_distribution():
    case, rewards, log_prior, options = find_case("case5")
    rng = np.random.default_rng(29)
    for _ in range(5):
        shuffled = rewards[rng.permutation(case["N"])]
        counts = sampled_races(shuffled, log_prior, options, rng, n_races=20_000)
        assert_case(case, counts, 20_000, winner_only=False)
