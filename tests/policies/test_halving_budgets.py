"""Budgets of the policies that halve: shares of the arms, stages, least budgets."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pybandit as pb
from costly import examples, part

from policies.halving_runs import grid_table, random_variances, stages_of
from policies.protocol import play
from policies.reference import halving as plain

# -- apportionment ---------------------------------------------------------------------


def one_at_a_time(variances, n_pulls):
    counts, ratios = np.zeros(len(variances), dtype=int), np.full(len(variances), np.inf)
    for _ in range(n_pulls):
        arm = int(np.argmax(ratios))
        counts[arm] += 1
        ratios[arm] = variances[arm] / counts[arm]
    return counts


@pytest.mark.examples
def test_apportionment_matches_one_by_one_allocation():
    rng = np.random.default_rng(3)
    for _ in range(part(3000, of=10_000)):
        K = int(rng.integers(2, 30))
        known, n = random_variances(rng, K), K + int(rng.integers(100))
        policy = pb.policies.SHVar(K, budget=n * stages_of(K), noise_std=np.sqrt(known))
        counts = np.bincount(policy.ask(), minlength=K)
        assert counts.tolist() == one_at_a_time(known, n).tolist(), known


@pytest.mark.parametrize("exponent", [-490, -300, 300, 490])
def test_extreme_standard_deviations_are_apportioned(exponent):
    known, scale = np.array([1.0, 1.0, 0.5, 1.0, 0.5]), 2.0**exponent
    policy = pb.policies.SHVar(5, budget=900, noise_std=known * scale)
    assert policy.ask().tolist() == pb.policies.SHVar(5, budget=900, noise_std=known).ask().tolist()
    apart = pb.policies.SHVar(3, budget=60, noise_std=[1e150, 1e-150, 1e-100])
    assert np.bincount(apart.ask()).tolist() == [28, 1, 1]


def test_large_stage_is_apportioned_quickly():
    policy = pb.policies.SHVar(4, budget=6 * 10**15, noise_std=[1.0, 2.0, 3.0, 4.0])
    counts = policy.get_state()["progress"]["counts"]
    assert counts.tolist() == [10**14, 4 * 10**14, 9 * 10**14, 16 * 10**14]


# -- budgets -----------------------------------------------------------------------------


@examples(150, of=500, derandomize=True)
@given(st.integers(1, 50), st.integers(0, 200), st.booleans(), st.booleans(),
       st.integers(0, 2**32))
def test_budgets_are_kept(K, spare, reuse, spend_all, seed):
    rng = np.random.default_rng(seed)
    least = K * stages_of(K)
    options = dict(reuse=reuse, spend_all=spend_all)
    policies = [pb.policies.SequentialHalving(K, budget=least + spare, **options),
                pb.policies.SHVar(K, budget=least + spare,
                                  noise_std=np.sqrt(random_variances(rng, K)), **options),
                pb.policies.SHAdaVar(K, budget=least + spare, delta=0.9, **options),
                pb.policies.Uniform(K, budget=K + spare),
                pb.policies.SuccessiveRejects(K, budget=K + 1 + spare)]
    for policy in policies:
        play(policy, pb.environments.TableBandit(grid_table(rng, K)))
        assert policy.n_pulls == policy.pulls.sum() <= policy.budget
        if isinstance(policy, pb.policies.Uniform):
            assert policy.n_pulls == policy.budget
        elif K == 1:
            assert policy.n_pulls == 0
        elif isinstance(policy, pb.policies.SuccessiveRejects):
            assert policy.pulls.min() >= 1
        else:
            unspent = 0 if spend_all else policy.budget % stages_of(K)
            assert policy.n_pulls == policy.budget - unspent


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 64, 65, 1000])
def test_least_budgets_suffice(K):
    stages = 0 if K == 1 else len(f"{K - 1:b}")
    makers = [(K, lambda n: pb.policies.Uniform(K, budget=n)),
              (K * stages, lambda n: pb.policies.SequentialHalving(K, budget=n)),
              (K * stages, lambda n: pb.policies.SHVar(K, budget=n, noise_std=np.ones(K))),
              (K * stages, lambda n: pb.policies.SHAdaVar(K, budget=n)),
              (K + 1 if K > 1 else 0, lambda n: pb.policies.SuccessiveRejects(K, budget=n))]
    for least, make in makers:
        if least:
            with pytest.raises(pb.errors.InfeasibleBudgetError,
                               match=f"budget must be at least {least} for {K} arms.*"
                                     f"got {least - 1}$"):
                make(least - 1)
        policy = make(least)
        table = np.arange(K)[:, None] / K
        play(policy, pb.environments.TableBandit(table))
        assert policy.recommend().tolist() == [K - 1] and policy.n_pulls <= least


@pytest.mark.examples
def test_schedule_of_successive_rejects_is_exact():
    """Compares with exact fractions, also if a quotient is an integer or just above one."""
    rng = np.random.default_rng(5)
    problems = [(2, n) for n in range(3, 60)] + [(3, 4 * n + 3) for n in range(1, 60)]
    problems += [(int(rng.integers(2, 13)), int(10 ** rng.uniform(1.5, 11)))
                 for _ in range(part(300, of=1500))]
    # quotients that are integers, and the next values above and below
    for K in range(2, 13):
        logbar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, K + 1))
        for _ in range(part(5, of=20)):
            many = int(rng.integers(1, 10**5)) * 2 * logbar.numerator
            problems += [(K, K + many), (K, K + many + 1), (K, K + many - 1)]
    for K, n in problems:
        if n > K:
            wanted = plain.SuccessiveRejects(K, n).schedule()
            assert pulls_by_rank(K, n) == [*wanted, wanted[-1]], (K, n)


def pulls_by_rank(K, n):
    """Return pulls per arm if arm 0 is the worst by far, then arm 1 and so on."""
    created = []

    def factory(environment):
        created.append(pb.policies.SuccessiveRejects(K, budget=n))
        return created[0]

    pb.simulate(factory, pb.environments.GaussianBandit(np.arange(K) * 1e6, 1e-06), 1, rng=1,
                n_threads=1)
    return created[0].pulls.tolist()
