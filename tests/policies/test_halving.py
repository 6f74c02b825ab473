"""Uniform, SuccessiveRejects, SequentialHalving, SHVar, SHAdaVar: cases, twins, protocol."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from policies import protocol
from policies.protocol import frozen, play
from policies.reference import halving as twin
from policies.reference import tables

OPTIONS = [dict(reuse=reuse, spend_all=spend) for reuse in (False, True)
           for spend in (False, True)]


def twin_of(policy):
    problem = policy.n_arms, policy.budget
    if not hasattr(policy, "reuse"):
        return getattr(twin, type(policy).__name__)(*problem)
    options = dict(reuse=policy.reuse, spend_all=policy.spend_all)
    if isinstance(policy, pb.SHVar):
        known = policy.get_state()["options"]["variances"].tolist()
        return twin.SHVar(*problem, known, **options)
    if isinstance(policy, pb.SHAdaVar):
        return twin.SHAdaVar(*problem, policy.delta, **options)
    return twin.SequentialHalving(*problem, **options)


def follow(policy, table):
    """Run it beside its twin, batch by batch; the twin, and how many batches of one pull."""
    bandit, reference, singles = pb.environments.TableBandit(table), twin_of(policy), 0

    def reward_of(arm):
        return float(table[arm][reference.pulls[arm] % len(table[arm])])

    while not policy.done:
        assert not reference.done and policy.survivors.tolist() == reference.alive
        arms = policy.ask().tolist()
        before = len(reference.order)
        for arm in arms:
            if isinstance(policy, pb.SHAdaVar):
                assert reference.could_be_next(arm)
                reference.step(reward_of, arm)
            else:
                reference.step(reward_of)
        theirs = reference.order[before:]
        assert arms == (sorted(theirs) if isinstance(policy, pb.SHVar) else theirs)
        policy.tell(arms, bandit.pull(arms))
        assert policy.pulls.tolist() == reference.pulls
        singles += len(arms) == 1
    assert reference.done and policy.survivors.tolist() == reference.alive
    assert policy.n_pulls == len(reference.order)
    assert policy.recommend().tolist() == [reference.recommend()]
    return reference, singles


# -- the cases ------------------------------------------------------------------------


def policy_of(case):
    p, name = case["params"], case["algorithm"]
    if name == "SHVar":
        return pb.SHVar(p["K"], p["n"], p["sigma2"])
    if name == "SHAdaVar":
        return pb.SHAdaVar(p["K"], p["n"], p["delta"])
    return {"SH": pb.SequentialHalving, "Unif": pb.Uniform}[name](p["K"], p["n"])


def case_id(case):
    return f"{case['algorithm']}-K{case['params']['K']}-n{case['params']['n']}"


@pytest.mark.parametrize("case", tables.halving_cases(), ids=case_id)
def test_cases(case):
    expect, policy = case["expect"], policy_of(case)
    bandit, order, stages = pb.environments.TableBandit(case["rewards"]), [], []
    while not policy.done:
        if policy.survivors.tolist() not in stages:
            stages.append(policy.survivors.tolist())
        arms, at = policy.ask(), len(order)
        order += arms.tolist()
        if isinstance(policy, pb.SHVar):
            assert arms.tolist() == sorted(expect["pulls"][at:len(order)])
        policy.tell(arms, bandit.pull(arms))
    if not isinstance(policy, pb.SHVar):
        assert order == expect["pulls"]
    assert len(order) == len(expect["pulls"])
    assert policy.recommend().tolist() == [expect["out"]]
    assert policy.pulls.tolist() == expect["counts"]
    if "stages" in expect:
        assert [*stages, policy.survivors.tolist()] == expect["stages"]
    reference, _ = follow(policy_of(case), case["rewards"])
    assert reference.order == expect["pulls"] or isinstance(policy, pb.SHAdaVar)


# -- the twins ------------------------------------------------------------------------


def grid_table(rng, n, steps=None):
    """Rewards on a grid of few steps, so that means and variances tie."""
    steps = int(rng.choice([1, 2, 4, 16])) if steps is None else steps
    return rng.integers(0, steps + 1, (n, 7)) / steps


def stages_of(K):
    return math.ceil(math.log2(K))


def random_budget(rng, least, spread=60):
    return least + int(rng.choice([0, 0, 1, 2, rng.integers(spread), rng.integers(6 * spread)]))


def test_the_twin_of_uniform():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        policy = pb.Uniform(K, random_budget(rng, K))
        follow(policy, grid_table(rng, K))
        assert policy.n_pulls == policy.budget and np.ptp(policy.pulls) <= 1
        assert policy.n_batches == 1


def test_the_twin_of_successive_rejects():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        policy = pb.SuccessiveRejects(K, random_budget(rng, K + 1))
        follow(policy, grid_table(rng, K))
        assert policy.n_pulls <= policy.budget and policy.survivors.size == 1


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_twin_of_sequential_halving(options):
    for seed in range(120):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        policy = pb.SequentialHalving(K, random_budget(rng, K * stages_of(K)), **options)
        follow(policy, grid_table(rng, K))
        assert policy.n_batches == stages_of(K)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_twin_of_shvar(options):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41))
        known = random_variances(rng, K)
        policy = pb.SHVar(K, random_budget(rng, K * stages_of(K)), known, **options)
        follow(policy, grid_table(rng, K))
        assert policy.n_batches == stages_of(K)


def test_arms_that_had_more_than_their_part():
    """With reuse a stage may begin with most survivors ahead of a very noisy one."""
    alone = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(9, 41))
        known = 10 ** rng.uniform(-1, 1, K)
        known[rng.integers(K, size=2)] = 10 ** rng.uniform(2, 6, 2)
        for spare in 0, 7, 300:
            problem, table = (K, K * stages_of(K) + spare, known), grid_table(rng, K, 1)
            follow(pb.SHVar(*problem, reuse=True), table)
            alone += leaves_most_alone(pb.SHVar(*problem, reuse=True), table)
    assert alone > 100


def leaves_most_alone(policy, table):
    """Whether a stage pulls fewer than half of the survivors."""
    bandit, found = pb.environments.TableBandit(table), False
    while not policy.done:
        arms = policy.ask()
        found |= 2 * np.unique(arms).size < policy.survivors.size
        policy.tell(arms, bandit.pull(arms))
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_twin_of_shadavar(options):
    """Its heap chooses as a scan of all arms does."""
    chosen = 0
    for seed in range(130):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 41 if seed % 4 == 0 else 9))
        delta = float(rng.choice([0.05, 0.3, 0.5, 0.9, 0.999]))
        budget = random_budget(rng, K * stages_of(K))
        policy = pb.SHAdaVar(K, budget, delta, **options)
        chosen += follow(policy, grid_table(rng, K))[1]
    assert chosen > 2500


def test_the_twin_of_shadavar_on_rewards_without_ties():
    chosen = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(2, 12))
        table = np.round(rng.normal(0, 10 ** rng.uniform(-2, 2, K)[:, None], (K, 40)), 3)
        policy = pb.SHAdaVar(K, 40 * K + 200, 0.5, reuse=seed % 2 == 0)
        reference, singles = follow(policy, table)
        chosen += singles
    assert chosen > 10_000


def test_deltas_at_which_the_bound_is_nearly_infinite():
    """4 log(1 / delta) is nearly an integer: rounding makes no bound negative or undefined."""
    table = np.random.default_rng(1).random((4, 31))
    table[1] = 0.5
    for quarter in range(1, 60):
        for delta in (math.exp(-quarter / 4), np.nextafter(math.exp(-quarter / 4), 0),
                      np.nextafter(math.exp(-quarter / 4), 1)):
            policy = pb.SHAdaVar(4, 2 * 4 * (quarter + 12), delta)
            bandit, first = pb.environments.TableBandit(table), True
            while policy.survivors.size == 4:
                arms = policy.ask()
                if first:
                    assert arms.size in (4 * (quarter + 1), 4 * (quarter + 2))
                    first = False
                policy.tell(arms, bandit.pull(arms))
                keys = policy.get_state()["progress"]["keys"]
                assert np.isfinite(keys).all() and (keys >= 0).all()


# -- apportionment ---------------------------------------------------------------------


def random_variances(rng, K):
    kind = rng.integers(5)
    if kind == 0:
        return np.full(K, float(rng.choice([1.0, 0.3, 1e-9])))
    if kind == 1:
        return rng.integers(1, 4, K) / 3.0
    if kind == 2:
        return 10 ** rng.uniform(-3, 3, K)
    if kind == 3:
        return np.where(rng.random(K) < 0.2, 1e6, 1.0)
    return rng.uniform(0.1, 1.5, K)


def one_at_a_time(variances, n_pulls):
    counts, ratios = np.zeros(len(variances), dtype=int), np.full(len(variances), np.inf)
    for _ in range(n_pulls):
        arm = int(np.argmax(ratios))
        counts[arm] += 1
        ratios[arm] = variances[arm] / counts[arm]
    return counts


def test_apportionment():
    rng = np.random.default_rng(3)
    for _ in range(10_000):
        K = int(rng.integers(2, 30))
        known, n = random_variances(rng, K), K + int(rng.integers(100))
        counts = np.bincount(pb.SHVar(K, n * stages_of(K), known).ask(), minlength=K)
        assert counts.tolist() == one_at_a_time(known, n).tolist(), known


@pytest.mark.parametrize("exponent", [-1073, -1030, 1000, 1023])
def test_variances_at_the_ends_of_float64(exponent):
    known, scale = np.array([1.0, 1.0, 0.5, 1.0, 0.5]), 2.0**exponent
    policy = pb.SHVar(5, 900, known * scale)
    assert policy.ask().tolist() == pb.SHVar(5, 900, known).ask().tolist()
    apart = pb.SHVar(3, 60, [1e308, 5e-324, 1e-300])
    assert np.bincount(apart.ask()).tolist() == [28, 1, 1]


def test_a_large_stage_is_apportioned_at_once():
    counts = pb.SHVar(4, 2 * 10**15, [1.0, 2.0, 3.0, 4.0]).get_state()["progress"]["counts"]
    assert counts.tolist() == [10**14, 2 * 10**14, 3 * 10**14, 4 * 10**14]


# -- budgets -----------------------------------------------------------------------------


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.integers(1, 50), st.integers(0, 200), st.booleans(), st.booleans(),
       st.integers(0, 2**32))
def test_budgets_are_kept(K, spare, reuse, spend_all, seed):
    rng = np.random.default_rng(seed)
    least = K * stages_of(K)
    options = dict(reuse=reuse, spend_all=spend_all)
    policies = [pb.SequentialHalving(K, least + spare, **options),
                pb.SHVar(K, least + spare, random_variances(rng, K), **options),
                pb.SHAdaVar(K, least + spare, 0.9, **options), pb.Uniform(K, K + spare),
                pb.SuccessiveRejects(K, K + 1 + spare)]
    for policy in policies:
        play(policy, pb.environments.TableBandit(grid_table(rng, K)))
        assert policy.n_pulls == policy.pulls.sum() <= policy.budget
        if isinstance(policy, pb.Uniform):
            assert policy.n_pulls == policy.budget
        elif K == 1:
            assert policy.n_pulls == 0
        elif isinstance(policy, pb.SuccessiveRejects):
            assert policy.pulls.min() >= 1
        else:
            unspent = 0 if spend_all else policy.budget % stages_of(K)
            assert policy.n_pulls == policy.budget - unspent


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 64, 65, 1000])
def test_the_least_budgets(K):
    stages = 0 if K == 1 else len(f"{K - 1:b}")
    makers = [(K, lambda n: pb.Uniform(K, n)),
              (K * stages, lambda n: pb.SequentialHalving(K, n)),
              (K * stages, lambda n: pb.SHVar(K, n, np.ones(K))),
              (K * stages, lambda n: pb.SHAdaVar(K, n)),
              (K + 1 if K > 1 else 0, lambda n: pb.SuccessiveRejects(K, n))]
    for least, make in makers:
        if least:
            with pytest.raises(pb.InfeasibleBudget,
                               match=f"budget must be at least {least} for {K} arms.*"
                                     f"got {least - 1}$"):
                make(least - 1)
        policy = make(least)
        table = np.arange(K)[:, None] / K
        play(policy, pb.environments.TableBandit(table))
        assert policy.recommend().tolist() == [K - 1] and policy.n_pulls <= least


def test_the_schedule_of_successive_rejects():
    """Of exact fractions, also where a quotient is an integer or just above one."""
    rng = np.random.default_rng(5)
    problems = [(2, n) for n in range(3, 60)] + [(3, 4 * n + 3) for n in range(1, 60)]
    problems += [(int(rng.integers(2, 13)), int(10 ** rng.uniform(1.5, 11)))
                 for _ in range(1500)]
    # quotients that are integers, and the next ones above and below
    for K in range(2, 13):
        logbar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, K + 1))
        for _ in range(20):
            many = int(rng.integers(1, 10**5)) * 2 * logbar.numerator
            problems += [(K, K + many), (K, K + many + 1), (K, K + many - 1)]
    for K, n in problems:
        if n > K:
            wanted = twin.SuccessiveRejects(K, n).schedule()
            assert pulls_by_rank(K, n) == [*wanted, wanted[-1]], (K, n)


def pulls_by_rank(K, n):
    """Pulls of the arms when arm 0 is the worst by far, then arm 1 ...; by sums of rewards."""
    made = []

    def factory(environment):
        made.append(pb.SuccessiveRejects(K, n))
        return made[0]

    pb.simulate(factory, pb.environments.GaussianBandit(np.arange(K) * 1e6, 1e-12), 1, rng=1,
                n_threads=1)
    return made[0].pulls.tolist()


# -- the protocol --------------------------------------------------------------------------

N = 12
MAKERS = {
    "uniform": lambda: pb.Uniform(N, 100),
    "rejects": lambda: pb.SuccessiveRejects(N, 150),
    "halving": lambda: pb.SequentialHalving(N, 203, spend_all=True),
    "halving reuse": lambda: pb.SequentialHalving(N, 203, reuse=True),
    "shvar": lambda: pb.SHVar(N, 203, np.arange(1, N + 1)),
    "shvar reuse": lambda: pb.SHVar(N, 203, np.arange(1, N + 1) ** 3, reuse=True),
    "shadavar": lambda: pb.SHAdaVar(N, 303, 0.7),
    "shadavar reuse": lambda: pb.SHAdaVar(N, 250, 0.3, reuse=True, spend_all=True),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def table_of(seed=5):
    """Sums are exact in any order, arms 11, 10, 9 the best, later ones noisier."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(-2**20, 2**20, (N, 11)) * 2.0**-20
    return np.arange(N)[:, None] / 4 + noise * (1 + np.arange(N)[:, None]) / 64


def bandit_of(seed=5):
    return pb.environments.TableBandit(table_of(seed))


@makers
def test_asking_changes_nothing_and_the_order_of_telling_neither(make):
    protocol.assert_asking_changes_nothing(make, bandit_of())


@makers
def test_what_is_known_on_the_way(make):
    def check(policy):
        among = policy.survivors
        assert policy.recommend().tolist() == [among[np.argmax(policy.means[among])]]

    assert make().survivors.tolist() == list(range(N)) and make().recommend().tolist() == [0]
    policy = protocol.assert_known_on_the_way(make, bandit_of(), check)
    assert policy.recommend().tolist() == [11]


@makers
@pytest.mark.parametrize("seed", range(5))
def test_simulated_as_by_hand(make, seed):
    """Native and pull by pull: the same sums, the same state."""
    made, by_hand = protocol.assert_simulated_as_by_hand(make, table_of(seed))
    for policy in made:
        native, hand = policy.get_state(), by_hand.get_state()
        if not isinstance(policy, pb.SHAdaVar):  # else every reward was seen
            assert np.isnan(native.pop("deviations")).all() and hand.pop("deviations").any()
        else:
            assert frozen(policy.variances) == frozen(by_hand.variances)
        assert frozen(native) == frozen(hand)


@makers
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_a_bad_batch_changes_nothing(make, missing):
    protocol.assert_bad_batches_change_nothing(make, bandit_of(), missing)


@makers
@pytest.mark.parametrize("seed", range(8))
def test_lost_pulls(make, seed):
    """An arm of which nothing is known goes first."""
    full = play(make(), bandit_of())[0].n_pulls
    policy = protocol.assert_lost_pulls_count(make, bandit_of(), np.random.default_rng(seed), 4)
    assert policy.n_pulls == full
    assert len(policy.recommend()) == 1 and policy.recommend()[0] != 4
    policy = protocol.lose_all(make())
    assert policy.n_pulls == full and policy.recommend().tolist() == [0]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(MAKERS)), st.integers(0, 999), st.integers(0, 200))
def test_a_policy_continues_bit_for_bit(name, seed, stop):
    rng = np.random.default_rng(seed)
    table = rng.random((N, 11)) / 3 + np.linspace(0, 1, N)[:, None]
    protocol.assert_copies_continue(MAKERS[name], table, rng, stop)


@makers
def test_a_copy_is_on_its_own(make):
    protocol.assert_a_copy_is_on_its_own(make, bandit_of(), 2)


@makers
def test_states_that_do_not_fit(make):
    policy, _ = play(make(), bandit_of(), 1)
    protocol.assert_states_of_others_refused(policy, [other() for other in MAKERS.values()])
    protocol.assert_bad_rings_refused(make())
    for name in "stage", "left":
        protocol.assert_entries_refused(policy, [{name: -1}, {name: 10**6}], f"hold {name} in")


def test_heaps_that_do_not_fit():
    policy, _ = play(MAKERS["shadavar"](), bandit_of(), 3)
    assert policy.get_state()["progress"]["by_heap"]
    protocol.assert_bad_heaps_refused(policy)
    protocol.assert_entries_refused(policy, [dict(pending=-1)], "hold pending in")


# -- what is refused -------------------------------------------------------------------------

CLASSES = {
    pb.Uniform: dict(n_arms=5, budget=50),
    pb.SuccessiveRejects: dict(n_arms=5, budget=50),
    pb.SequentialHalving: dict(n_arms=5, budget=50),
    pb.SHVar: dict(n_arms=5, budget=50, variances=[1, 2, 3, 4, 5]),
    pb.SHAdaVar: dict(n_arms=5, budget=50),
}
REFUSED = [
    (None, dict(n_arms=0), ValueError, "n_arms.*1.*0"),
    (None, dict(n_arms=2.5), TypeError, "n_arms.*2.5"),
    (None, dict(n_arms="5"), TypeError, "n_arms.*'5'"),
    (None, dict(budget=-1), ValueError, "budget.*0.*-1"),
    (None, dict(budget=50.5), TypeError, "budget.*50.5"),
    (None, dict(budget=None), TypeError, "budget.*None"),
    (None, dict(budget=True), TypeError, "budget.*True"),
    (None, dict(budget=np.nan), TypeError, "budget.*nan"),
    (None, dict(budget=2**53 + 1), ValueError, f"budget must be at most {2**53}; got {2**53 + 1}"),
    (None, dict(budget=2**70), ValueError, f"budget must be at most {2**53}"),
    (None, dict(budget=1), pb.InfeasibleBudget, "at least"),
    (pb.SHVar, dict(variances=[1, 2, 3, 4]), ValueError, r"variances.*\(5,\).*\(4,\)"),
    (pb.SHVar, dict(variances=1.0), ValueError, r"variances.*\(5,\).*\(\)"),
    (pb.SHVar, dict(variances=np.ones((5, 1))), ValueError, r"variances.*\(5, 1\)"),
    (pb.SHVar, dict(variances=[1, 2, 0, 4, 5]), ValueError, "variances.*above 0.*0.0"),
    (pb.SHVar, dict(variances=[1, 2, -1, 4, 5]), ValueError, "variances.*-1.0 at index 2"),
    (pb.SHVar, dict(variances=[1, np.nan, 1, 4, 5]), ValueError, "variances.*nan"),
    (pb.SHVar, dict(variances=[1, np.inf, 1, 4, 5]), ValueError, "variances.*inf"),
    (pb.SHVar, dict(variances=["1"] * 5), TypeError, "variances"),
    (pb.SHAdaVar, dict(delta=0), ValueError, "delta.*0.0"),
    (pb.SHAdaVar, dict(delta=1), ValueError, "delta.*1.0"),
    (pb.SHAdaVar, dict(delta=np.nan), ValueError, "delta.*nan"),
    (pb.SHAdaVar, dict(delta="0.1"), TypeError, "delta"),
    (pb.SHAdaVar, dict(delta=[0.1, 0.2]), (TypeError, ValueError), "delta|scalar|array"),
]


@pytest.mark.parametrize("only, options, error, words", REFUSED,
                         ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_arguments(only, options, error, words):
    for cls in [only] if only else CLASSES:
        with pytest.raises(error, match=words):
            cls(**{**CLASSES[cls], **options})
        cls(**CLASSES[cls])


def test_attributes():
    policy = pb.SHAdaVar(5, 50, 0.1, reuse=True, spend_all=True)
    assert (policy.n_arms, policy.k, policy.budget) == (5, 1, 50)
    assert (policy.delta, policy.reuse, policy.spend_all) == (0.1, True, True)
    for name in "budget", "delta", "reuse", "spend_all":
        with pytest.raises(AttributeError):
            setattr(policy, name, 1)
