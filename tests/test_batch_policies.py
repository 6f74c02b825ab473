"""RoundRobin, BatchHalving, BatchSAR, BatchRacing: the cases, the twins, the protocol."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from reference import batch as twin
from reference import tables


def case_id(case):
    return "-".join(f"{name}{value}" for name, value in case["params"].items() if name in "nkbrB")


def policy_of(case):
    """The policy of a case; Halving's leftover batches go to the first stages."""
    p, name = case["params"], case["algorithm"]
    problem = p["n"], p["k"]
    if name == "BatchRacing":
        return pb.BatchRacing(*problem, p["delta"], p["b"], p["r"])
    if name == "Halving":
        policies = (pb.BatchHalving(*problem, p["b"], p["B"], p["r"], rng=i) for i in range(50))
        return next(one for one in policies if (np.diff(one.stage_batches) <= 0).all())
    return pb.BatchSAR(*problem, p["b"], p["B"], p["r"], improved=name == "BatchSAR'",
                       tie="index")


def twin_of(policy):
    problem = policy.n_arms, policy.k, policy.batch_size, policy.max_repeats
    if isinstance(policy, pb.BatchRacing):
        return twin.BatchRacing(*problem, delta=policy.delta, sigma=policy.sigma)
    problem += (policy.max_batches,)
    if isinstance(policy, pb.BatchHalving):
        return twin.BatchHalving(*problem, stage_batches=policy.stage_batches.tolist())
    if isinstance(policy, pb.BatchSAR):
        return twin.BatchSAR(*problem, improved=policy.improved, tie=policy.tie)
    return twin.RoundRobin(*problem)


def accepted_of(policy):
    return set(policy.accepted.tolist()) if hasattr(policy, "accepted") else set()


def play(policy, bandit, most_batches=100_000, copied=lambda policy: policy):
    """Run it; the counts of each batch, and what left or was accepted after which."""
    log, events, known = [], [], (set(policy.survivors.tolist()), accepted_of(policy))
    while not policy.done and policy.n_batches < most_batches:
        policy = copied(policy)
        arms = policy.ask()
        log.append(np.bincount(arms, minlength=policy.n_arms).tolist())
        policy.tell(arms, bandit.pull(arms))
        before, known = known, (set(policy.survivors.tolist()), accepted_of(policy))
        if before[0] != known[0]:
            events.append((policy.n_batches, before[0] - known[0], known[1] - before[1]))
    return policy, log, events


# -- the cases of the paper's algorithms ------------------------------------------------


@pytest.mark.parametrize("case", tables.batch_cases("BatchRacing", "BatchSAR", "BatchSAR'",
                                                    "Halving"),
                         ids=lambda case: f"{case['algorithm']}-{case_id(case)}")
def test_cases(case):
    expect, policy = case["expect"], policy_of(case)
    reference = twin_of(policy)
    policy, log, events = play(policy, pb.environments.TableBandit(case["rewards"]))
    assert sorted(policy.recommend()) == expect["out"]
    assert policy.n_batches == expect["batches"] == len(log)
    assert policy.pulls.tolist() == expect["T"] and policy.n_pulls == sum(expect["T"])
    if "log" in expect:
        assert log == expect["log"]
    else:
        assert log[:8] == expect["first_batches"]
    play(ReferencePolicy(reference), pb.environments.TableBandit(case["rewards"]))
    if "removed" in expect:
        assert reference.removed == expect["removed"]
        # the last stage of BatchSAR' ignores its m
        stages = len(expect["removed"]) if policy.improved else len(expect["ms"])
        assert reference.ms[:stages] == expect["ms"][:stages]
        seen = [(batch, arm) for batch, gone, _ in events[:-1] for arm in sorted(gone)]
        told = [(batch, arm) for arm, _, batch in expect["removed"]]
        assert seen == sorted(told)[:len(seen)]
        assert set(policy.accepted) >= {arm for arm, good, _ in expect["removed"] if good}
    if "events" in expect:
        assert reference.events == expect["events"]
        assert events == [(e["batch"], {*e["accept"], *e["reject"]}, set(e["accept"]))
                          for e in expect["events"]]
    if "stages" in expect:
        assert reference.stages == expect["stages"]
        assert policy.survivors.tolist() == expect["stages"][-1]


class ReferencePolicy:
    """A twin as what `play` takes."""

    def __init__(self, reference):
        self.reference, self.n_arms = reference, reference.n

    done = property(lambda self: self.reference.done)
    n_batches = property(lambda self: self.reference.n_batches)
    survivors = property(lambda self: np.array([] if self.done else self.reference.alive))
    accepted = property(lambda self: np.array(self.reference.accepted))

    def ask(self):
        return np.array(self.reference.ask())

    def tell(self, arms, rewards):
        self.reference.tell(arms.tolist(), rewards.tolist())


@pytest.mark.parametrize("case", tables.batch_cases("RoundRobin"), ids=case_id)
def test_cases_of_round_robin(case):
    p, expect = case["params"], case["expect"]
    sequence = twin.round_robin(p["active"], p["counts"], p["b"], p["r"])
    assert sequence == expect["pull_sequence"]
    assert [sequence.count(arm) for arm in p["active"]] == expect["a"]
    if len(set(p["counts"])) == 1:  # what a run can come to
        assert ring(p["active"], 0, p["counts"][0], p["b"], p["r"]).ask().tolist() == sequence


def ring(active, cursor, rounds, b, r):
    """A RoundRobin with these arms left, the first `cursor` one pull ahead."""
    policy = pb.RoundRobin(max(active) + 1, 1, b, 9, r)
    state = policy.get_state()
    state["progress"]["ring"][:len(active)] = active
    state["progress"].update(ring_n_arms=len(active), ring_cursor=cursor, ring_rounds=rounds)
    return pb.RoundRobin.from_state(state)


def test_the_ring_is_the_printed_round_robin():
    """The same pulls; in the printed order but for where a batch goes round."""
    rng = np.random.default_rng(1)
    for _ in range(400):
        n = int(rng.integers(1, 12))
        active = sorted(rng.choice(30, n, replace=False).tolist())
        cursor, rounds = int(rng.integers(n)), int(rng.integers(5))
        b, r = (int(x) for x in rng.integers(1, 20, 2))
        counts = {arm: rounds + (i < cursor) for i, arm in enumerate(active)}
        policy = ring(active, cursor, rounds, b, r)
        expected = twin.round_robin(active, counts, min(b, policy.batch_size), r)
        assert sorted(policy.ask().tolist()) == sorted(expected), (active, cursor, b, r)
        if b <= n:
            assert policy.ask().tolist() == expected


# -- the twins ------------------------------------------------------------------------


def least_batches(*problem):
    """The smallest B that BatchSAR takes, of its own message."""
    with pytest.raises(pb.InfeasibleBudget) as caught:
        pb.BatchSAR(*problem[:3], 1, problem[3])
    return int(str(caught.value).split("must be at least ")[1].split()[0])


def random_problem(rng, largest=40):
    n = int(rng.integers(2, largest + 1))
    b = int(rng.choice([1, 2, 3, rng.integers(1, 2 * n + 1), rng.integers(1, 4 * n + 1)]))
    r = int(rng.choice([1, 2, b, rng.integers(1, b + 1)]))
    return n, int(rng.integers(1, n)), b, r


def grid_bandit(rng, n, steps=None):
    """Rewards on a grid of few steps, so that means and gaps tie."""
    steps = int(rng.choice([1, 2, 4, 16])) if steps is None else steps
    return pb.environments.TableBandit(rng.integers(0, steps + 1, (n, 7)) / steps)


def assert_equals_the_twin(policy, bandit, most_batches=100_000, lost=lambda rewards: rewards):
    reference, batches = twin_of(policy), 0
    while not policy.done and batches < most_batches:
        arms = policy.ask()
        expected = reference.ask()
        assert sorted(arms.tolist()) == sorted(expected)
        rewards = lost(bandit.pull(arms))
        policy.tell(arms, rewards, missing="drop")
        reference.tell(arms.tolist(), rewards.tolist())
        batches += 1
        assert policy.pulls.tolist() == reference.seen
        if hasattr(policy, "accepted"):
            assert policy.accepted.tolist() == sorted(reference.accepted)
        alive = [] if reference.done and hasattr(policy, "accepted") else reference.alive
        assert policy.survivors.tolist() == alive
    assert policy.done == reference.done and policy.n_batches == reference.n_batches == batches
    assert policy.n_pulls == sum(reference.asked)
    if policy.done:
        assert policy.recommend().tolist() == reference.recommend()


@pytest.mark.parametrize("tie", ["reject", "index"])
@pytest.mark.parametrize("improved", [True, False])
def test_the_twin_of_sar(improved, tie):
    for seed in range(150):
        rng = np.random.default_rng([seed, improved, tie == "index"])
        problem = random_problem(rng)
        most = least_batches(*problem)
        assert most == twin.BatchSAR(*problem, most).least()
        B = most + int(rng.choice([0, 0, 1, rng.integers(20)]))
        policy = pb.BatchSAR(*problem[:3], B, problem[3], improved=improved, tie=tie)
        assert_equals_the_twin(policy, grid_bandit(rng, problem[0]))


@pytest.mark.parametrize("n, b, r, B, m", [(5, 1, 1, 118, 12), (5, 2, 2, 220, 48),
                                           (5, 4, 3, 31, 12)])
def test_quotients_that_are_integers(n, b, r, B, m):
    """Floats put these m_1 above the integer that they are."""
    for improved in (True, False):
        policy = pb.BatchSAR(n, 2, b, B, r, improved=improved)
        assert twin_of(policy).stage_pulls() == m
        bandit = grid_bandit(np.random.default_rng(1), n, 16)
        while policy.survivors.size == n:
            arms = policy.ask()
            policy.tell(arms, bandit.pull(arms))
        assert policy.n_batches == -(-n * m // b)
        bandit.reset()
        policy = pb.BatchSAR(n, 2, b, B, r, improved=improved)
        assert_equals_the_twin(policy, bandit)


def test_the_twin_of_halving():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng)
        stages = int(np.ceil(np.log2(n / k)))
        policy = pb.BatchHalving(n, k, b, stages + int(rng.integers(9)), r, rng=seed)
        assert policy.stage_batches.size == stages
        assert policy.stage_batches.sum() == policy.max_batches
        assert np.ptp(policy.stage_batches) <= 1
        assert_equals_the_twin(policy, grid_bandit(rng, n))
        assert policy.n_batches == policy.max_batches


def test_the_twin_of_round_robin():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng)
        policy = pb.RoundRobin(n, k, b, int(rng.integers(1, 9)), r)
        assert_equals_the_twin(policy, grid_bandit(rng, n))
        assert np.ptp(policy.pulls) <= 1


def test_the_twin_of_racing():
    """Ties at the boundary never end, so these stop after some batches; most are done."""
    done = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng, 12)
        sigma = float(rng.choice([0.5, 0.1, 0.02]))
        policy = pb.BatchRacing(n, k, float(rng.choice([0.9, 0.1])), b, r, sigma)
        assert_equals_the_twin(policy, grid_bandit(rng, n, 4), 300)
        done += policy.done
    assert 30 < done < 100


def losing(rng, share):
    return lambda rewards: np.where(rng.random(rewards.size) < share, np.nan, rewards)


@pytest.mark.parametrize("kind", ["sar", "halving", "racing", "round robin"])
def test_the_twins_where_pulls_are_lost(kind):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng, 15)
        lost = losing(rng, rng.choice([0.1, 0.5, 0.9, 1.0]))
        B = least_batches(n, k, b, r) + int(rng.integers(4))
        policy = {
            "sar": lambda: pb.BatchSAR(n, k, b, B, r),  # noqa: B023
            "halving": lambda: pb.BatchHalving(n, k, b, B, r, rng=1),  # noqa: B023
            "racing": lambda: pb.BatchRacing(n, k, 0.5, b, r, 0.05),  # noqa: B023
            "round robin": lambda: pb.RoundRobin(n, k, b, B, r),  # noqa: B023
        }[kind]()
        assert_equals_the_twin(policy, grid_bandit(rng, n), 100, lost)


# -- budgets ----------------------------------------------------------------------------

PROBLEMS = st.integers(1, 60).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, 3 * n), st.integers(1, 9)))


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(PROBLEMS, st.integers(0, 6), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_sar_never_exceeds_its_batches(problem, spare, improved, by_index, seed):
    n, k, b, r = problem
    B = (least_batches(*problem) if 0 < k < n else 1) + spare
    policy = pb.BatchSAR(n, k, b, B, r, improved=improved, tie="index" if by_index else "reject")
    bandit = grid_bandit(np.random.default_rng(seed), n)
    early = k in (0, n)
    while not policy.done:
        arms = policy.ask()
        assert arms.size == policy.batch_size == min(b, n * r)
        assert np.bincount(arms).max() <= r
        policy.tell(arms, bandit.pull(arms))
        assert policy.n_batches <= B
    # the end came before the last stage where fewer than n_tilde were in the running
    ends = twin.BatchSAR(n, k, b, r, B).n_tilde if not early else 0
    if not improved and not early:
        assert policy.n_batches <= B - 2
    elif not early and policy.n_batches < B:
        assert ends_early(policy, bandit, ends)
    assert len(set(policy.recommend())) == k


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 13, 21, 34, 47, 60])
def test_budgets_over_20_000_problems(n):
    """A tenth of them: full batches, never more than B; m_s leaves at least two."""

    def make(environment):
        rng = np.random.default_rng(environment.means.view(np.uint64))
        problem = n, int(rng.integers(1, n)), int(rng.integers(1, 3 * n)), int(rng.integers(1, 10))
        spare, improved = rng.choice([0, 0, 1, 2, 10, 100]), rng.random() < 0.5
        B = least_batches(*problem) + int(spare)
        return pb.BatchSAR(*problem[:3], B, problem[3], improved=improved)

    def unused(policy, environment):
        return policy.max_batches - policy.n_batches - 2 * (not policy.improved)

    def lacking(policy, environment):
        return policy.n_batches * policy.batch_size - policy.n_pulls

    result = pb.simulate(make, lambda rng: pb.environments.BernoulliBandit(rng.random(n)), 2000,
                         rng=n, metrics=[unused, lacking])
    assert result.metrics["unused"].min() == 0 and not result.metrics["lacking"].any()


def ends_early(policy, bandit, n_tilde):
    """Whether the twin ran out of places, or of arms, before its last stage."""
    reference = twin_of(policy)
    bandit.reset()
    play(ReferencePolicy(reference), bandit)
    return len(reference.removed) < policy.n_arms - n_tilde or (
        policy.k - sum(good for _, good, _ in reference.removed) in (0, len(reference.alive)))


@settings(max_examples=600, deadline=None, derandomize=True)
@given(PROBLEMS, st.integers(1, 30), st.integers(0, 2**32))
def test_the_others_use_their_batches(problem, B, seed):
    n, k, b, r = problem
    policies = [pb.RoundRobin(n, k, b, B, r)]
    if k and n <= k << B:
        policies.append(pb.BatchHalving(n, k, b, B, r, rng=seed))
    bandit = grid_bandit(np.random.default_rng(seed), n)
    for policy in policies:
        trivial = isinstance(policy, pb.BatchHalving) and k == n
        while not policy.done:
            arms = policy.ask()
            assert arms.size == min(b, n * r) and np.bincount(arms).max() <= r
            policy.tell(arms, bandit.pull(arms))
        assert policy.n_batches == (0 if trivial else B)
        assert len(set(policy.recommend())) == k


@settings(max_examples=300, deadline=None, derandomize=True)
@given(PROBLEMS, st.integers(0, 2**32))
def test_a_batch_of_racing(problem, seed):
    n, k, b, r = problem
    policy = pb.BatchRacing(n, k, 0.5, b, r, sigma=0.05)
    bandit = grid_bandit(np.random.default_rng(seed), n)
    while not policy.done and policy.n_batches < 60:
        arms = policy.ask()
        assert arms.size == min(b, policy.survivors.size * r) and np.bincount(arms).max() <= r
        assert set(arms) <= set(policy.survivors)
        policy.tell(arms, bandit.pull(arms))


@pytest.mark.parametrize(
    "n, k, b, r, least",
    [(522_062, 100, 60_000, 12, 22), (12_979, 100, 384, 384, 75), (100, 10, 1, 1, 202),
     (12_979, 100, 384, 1, 69)],
)
def test_the_smallest_budgets(n, k, b, r, least):
    assert least_batches(n, k, b, r) == least
    assert not pb.BatchSAR(n, k, b, least, r).done
    with pytest.raises(pb.InfeasibleBudget, match=rf"max_batches must be at least {least} .*got "
                                                  rf"{least - 1}$"):
        pb.BatchSAR(n, k, b, least - 1, r)


def test_the_smallest_budget_suffices_and_one_less_is_refused():
    rng = np.random.default_rng(7)
    for _ in range(200):
        n, k, b, r = random_problem(rng)
        least = least_batches(n, k, b, r)
        bandit = grid_bandit(rng, n)
        for improved in (True, False):
            with pytest.raises(pb.InfeasibleBudget, match=f"at least {least} "):
                pb.BatchSAR(n, k, b, least - 1 or 1, r, improved=improved)
            policy, log, _ = play(pb.BatchSAR(n, k, b, least, r, improved=improved), bandit)
            assert policy.done and len(log) <= least


def test_the_smallest_budget_of_halving():
    for n, k, stages in (8, 1, 3), (9, 1, 4), (7, 2, 2), (6, 5, 1), (5, 5, 0), (5, 0, 0):
        for B in range(1, 5):
            if B < stages:
                with pytest.raises(pb.InfeasibleBudget, match=f"at least {stages},.* got {B}$"):
                    pb.BatchHalving(n, k, 2, B)
            else:
                assert pb.BatchHalving(n, k, 2, B, rng=0).stage_batches.size == stages


# -- the protocol -------------------------------------------------------------------------

N = 12
MAKERS = {
    "round robin": lambda **o: pb.RoundRobin(N, 3, 7, o.pop("max_batches", 15), 2, **o),
    "halving": lambda **o: pb.BatchHalving(N, 3, 7, o.pop("max_batches", 15), 2, rng=3, **o),
    "sar": lambda **o: pb.BatchSAR(N, 3, 7, o.pop("max_batches", 15), 2, **o),
    "sar m": lambda **o: pb.BatchSAR(N, 3, 7, 25, 2, improved=False, tie="index", **o),
    "racing": lambda **o: pb.BatchRacing(N, 3, 0.5, 7, 2, sigma=0.05, **o),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def bandit_of(seed=5):
    rng = np.random.default_rng(seed)
    return pb.environments.TableBandit(np.linspace(0, 1, N)[:, None] + rng.random((N, 11)) / 8)


def frozen(value):
    """A state, or anything in it, as what can be compared bit for bit."""
    if isinstance(value, dict):
        return {name: frozen(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return repr(value)


@makers
def test_asking_changes_nothing_and_the_order_of_telling_neither(make):
    rng, policy, other = np.random.default_rng(0), make(), make()
    bandit = grid_bandit(rng, N, 16)  # sums are exact in any order
    while not policy.done and policy.n_batches < 400:
        before = frozen(policy.get_state())
        arms = policy.ask()
        for again in policy.ask(), policy.ask():
            assert again.dtype == np.int64 and np.array_equal(again, arms)
            again[:] = -1
        assert frozen(policy.get_state()) == before
        rewards = bandit.pull(arms)
        mixed = rng.permutation(arms.size)
        rewards.flags.writeable = False
        policy.tell(arms, rewards)
        other.tell(arms[mixed].astype(np.int16), rewards[mixed].tolist())
        assert other.pulls.tolist() == policy.pulls.tolist()
        assert frozen(other.means) == frozen(policy.means)
        assert np.allclose(other.variances, policy.variances, atol=1e-12, equal_nan=True)
        assert np.array_equal(other.ask(), policy.ask())
        assert np.array_equal(other.survivors, policy.survivors)
    assert policy.n_batches > 3
    assert np.array_equal(other.recommend(), policy.recommend())


@makers
def test_what_is_known_on_the_way(make):
    policy, bandit, read = make(), bandit_of(), {arm: [] for arm in range(N)}
    assert not policy.done and policy.n_pulls == policy.n_batches == 0
    assert np.isnan(policy.means).all() and np.isnan(policy.variances).all()
    assert policy.pulls.dtype == np.int64 and not policy.pulls.any()
    assert policy.survivors.tolist() == list(range(N)) and policy.recommend().tolist() == [0, 1, 2]
    assert not accepted_of(policy)
    while not policy.done:
        arms = policy.ask()
        assert set(arms) <= set(policy.survivors) and f"{policy.n_pulls} pulls" in repr(policy)
        rewards = bandit.pull(arms)
        policy.tell(arms, rewards)
        for arm, reward in zip(arms, rewards, strict=True):
            read[arm].append(reward)
        assert policy.n_pulls == policy.pulls.sum() and policy.pulls.max() > 0
        assert policy.pulls.tolist() == [len(read[arm]) for arm in range(N)]
        for arm, seen in read.items():
            mean = np.mean(seen) if seen else np.nan
            variance = np.var(seen, ddof=1) if len(seen) > 1 else np.nan
            assert policy.means[arm] == pytest.approx(mean, rel=1e-12, nan_ok=True)
            assert policy.variances[arm] == pytest.approx(variance, rel=1e-9, nan_ok=True)
        chosen = policy.recommend()
        assert chosen.dtype == policy.survivors.dtype == np.int64 and len(set(chosen)) == 3
        assert accepted_of(policy) <= set(chosen)
        known = policy.means[chosen]
        assert np.all(np.diff(known[~np.isnan(known)]) <= 0)
    assert policy.recommend().tolist() == [11, 10, 9] and "done" in repr(policy)
    assert policy.ask().shape == (0,) and policy.ask().dtype == np.int64
    if hasattr(policy, "accepted"):
        assert policy.accepted.tolist() == [9, 10, 11] and policy.survivors.size == 0
    for values in policy.pulls, policy.means, policy.survivors:
        values[:] = -1
    assert policy.pulls.min() >= 0 and policy.recommend().tolist() == [11, 10, 9]
    before = frozen(policy.get_state())
    for arms, rewards in ([0], [0.5]), (policy.ask(), []):
        with pytest.raises(ValueError, match="done"):
            policy.tell(arms, rewards)
    assert frozen(policy.get_state()) == before


def replaced(values, at, value):
    values = np.array(values, dtype=float if isinstance(value, float) else None)
    values[at] = value
    return values


# what is told instead of (arms a, rewards r), the error, its words
BAD = {
    "NaN": (lambda a, r: (a, replaced(r, 3, np.nan)), ValueError, ["rewards", "nan", "index 3"]),
    "inf": (lambda a, r: (a, replaced(r, 3, np.inf)), ValueError, ["rewards", "inf", "arm"]),
    "-inf": (lambda a, r: (a, replaced(r, -1, -np.inf)), ValueError, ["rewards", "-inf"]),
    "short": (lambda a, r: (a, r[1:]), ValueError, ["rewards", "shape of arms", "(6,)"]),
    "column": (lambda a, r: (a, r[:, None]), ValueError, ["rewards", "(7, 1)"]),
    "scalar": (lambda a, r: (a, 0.5), ValueError, ["rewards", "()"]),
    "text": (lambda a, r: (a, ["x"] * len(a)), TypeError, ["rewards"]),
    "digits": (lambda a, r: (a, [str(x) for x in r]), TypeError, ["rewards"]),
    "None": (lambda a, r: (a, [None] * len(a)), TypeError, ["rewards"]),
    "complex": (lambda a, r: (a, r + 0j), TypeError, ["rewards"]),
    "fewer": (lambda a, r: (a[1:], r[1:]), ValueError, ["arms", "shape of ask()", "(6,)"]),
    "nothing": (lambda a, r: (a[:0], r[:0]), ValueError, ["arms", "(0,)"]),
    "more": (lambda a, r: (np.append(a, a[0]), np.append(r, 0.5)), ValueError, ["arms", "(8,)"]),
    "2-D": (lambda a, r: (a[:, None], r), ValueError, ["arms", "(7, 1)"]),
    "not asked": (lambda a, r: (replaced(a, 0, N), r), ValueError, ["arm 12 1 times, not 0"]),
    "negative": (lambda a, r: (replaced(a, 0, -1), r), ValueError, ["arm -1 1 times, not 0"]),
    "twice": (lambda a, r: (replaced(a, 0, a[1]), r), ValueError, ["arms", "each as often"]),
    "float arms": (lambda a, r: (a + 0.0, r), TypeError, ["arms", "float64"]),
    "bool arms": (lambda a, r: (a > 0, r), TypeError, ["arms", "bool"]),
    "text arms": (lambda a, r: ([str(x) for x in a], r), TypeError, ["arms"]),
}


@makers
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_a_bad_batch_changes_nothing(make, missing):
    policy, undisturbed, bandit = make(), make(), bandit_of()
    for _ in range(5):
        arms = policy.ask()
        rewards, before = bandit.pull(arms), frozen(policy.get_state())
        for name, (spoiled, error, words) in BAD.items():
            if name == "NaN" and missing == "drop":
                continue
            with pytest.raises(error) as caught:
                policy.tell(*spoiled(arms, rewards), missing=missing)
            for word in words:
                assert word in str(caught.value), (name, str(caught.value))
            assert frozen(policy.get_state()) == before, name
        with pytest.raises(ValueError, match="missing.*'raise', 'drop'.*'skip'"):
            policy.tell(arms, rewards, missing="skip")
        policy.tell(arms, rewards, missing=missing)
        undisturbed.tell(arms, rewards)
        assert frozen(policy.get_state()) == frozen(undisturbed.get_state())


@makers
def test_lost_pulls(make):
    """They count against the budget, and the arm's statistics do not know of them."""
    rng, policy, bandit = np.random.default_rng(2), make(), bandit_of()
    seen = np.zeros(N, dtype=int)
    while not policy.done:
        arms = policy.ask()
        before = policy.n_pulls, policy.means, policy.variances
        rewards = np.where((rng.random(arms.size) < 0.3) | (arms == 4), np.nan, bandit.pull(arms))
        policy.tell(arms, rewards, missing="drop")
        seen += np.bincount(arms[~np.isnan(rewards)], minlength=N)
        assert policy.n_pulls == before[0] + arms.size and policy.pulls.tolist() == seen.tolist()
        untouched = ~np.isin(np.arange(N), arms[~np.isnan(rewards)])
        for old, new in zip(before[1:], (policy.means, policy.variances), strict=True):
            assert np.array_equal(old[untouched], new[untouched], equal_nan=True)
        # nobody knows arm 4: racing can never decide it
        if isinstance(policy, pb.BatchRacing) and policy.n_batches == 200:
            assert 4 in policy.survivors
            break
    assert np.isnan(policy.means[4]) and policy.pulls[4] == 0
    if policy.done:
        assert len(set(policy.recommend())) == 3 and 4 not in policy.recommend()
    if hasattr(policy, "max_batches"):
        assert policy.n_batches <= policy.max_batches


@makers
def test_a_run_of_which_all_is_lost(make):
    policy = make()
    while not policy.done and policy.n_batches < 100:
        arms = policy.ask()
        policy.tell(arms, np.full(arms.size, np.nan), missing="drop")
    assert policy.n_pulls > 0 and not policy.pulls.any()
    assert policy.done != isinstance(policy, pb.BatchRacing)
    assert policy.recommend().tolist() == [0, 1, 2]


# -- states -------------------------------------------------------------------------------

COPIES = [lambda policy: policy, lambda policy: type(policy).from_state(policy.get_state()),
          lambda policy: pickle.loads(pickle.dumps(policy)), copy.deepcopy]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(MAKERS)), st.integers(0, 999), st.integers(0, 60))
def test_a_policy_continues_bit_for_bit(name, seed, stop):
    rng = np.random.default_rng(seed)
    rewards = rng.random((N, 11)) / 3 + np.linspace(0, 1, N)[:, None]
    bandits = [pb.environments.TableBandit(rewards) for _ in range(2)]
    straight, log, _ = play(MAKERS[name](), bandits[0], stop)
    copied, same, _ = play(MAKERS[name](), bandits[1], stop,
                           lambda policy: COPIES[rng.integers(len(COPIES))](policy))
    assert same == log
    for one in (copied, *(make_copy(straight) for make_copy in COPIES)):
        assert type(one) is type(straight)
        assert frozen(one.get_state()) == frozen(straight.get_state())
        assert frozen([one.means, one.variances]) == frozen([straight.means, straight.variances])
        assert np.array_equal(one.recommend(), straight.recommend())
        assert np.array_equal(one.ask(), straight.ask()) and one.done == straight.done


@makers
def test_a_copy_is_on_its_own(make):
    policy, _, _ = play(make(), bandit_of(), 4)
    state = policy.get_state()
    before = frozen(state)
    play(type(policy).from_state(state), bandit_of())
    assert frozen(state) == before == frozen(policy.get_state())
    for part in (state, state["progress"]):
        for value in part.values():
            if isinstance(value, np.ndarray):
                value[...] = 0
    assert frozen(policy.get_state()) == before


@makers
def test_states_that_do_not_fit(make):
    policy, _, _ = play(make(), bandit_of(), 3)
    cls = type(policy)
    for other in MAKERS.values():
        state = other().get_state()
        if state["type"] != cls.__name__:
            with pytest.raises(ValueError, match=f"that of a {cls.__name__}; .* {state['type']}"):
                cls.from_state(state)
    for name in "pulls", "sums", "deviations":
        with pytest.raises(ValueError, match=rf"{name} of shape \(12,\); got \(13,\)"):
            cls.from_state({**policy.get_state(), name: np.zeros(N + 1)})
    for name in policy.get_state()["progress"]:
        state = policy.get_state()
        state["progress"][name] = np.zeros((2, 2))
        with pytest.raises(ValueError, match=rf"hold {name} of shape .*; got \(2, 2\)"):
            cls.from_state(state)
    for change in (dict(ring_n_arms=N + 1), dict(ring_n_arms=-1), dict(ring_cursor=N),
                   dict(ring_cursor=-1), dict(ring=np.arange(N) + 1), dict(ring=np.zeros(N, int)),
                   dict(ring=np.arange(N) - 1)):
        state = make().get_state()
        state["progress"].update(change)
        with pytest.raises(ValueError, match="ring"):
            cls.from_state(state)
    state = policy.get_state()
    state["options"]["n_arms"] = N - 1
    with pytest.raises(ValueError, match="shape"):
        cls.from_state(state)


def test_halving_keeps_its_deal():
    """A copy is dealt anew by `simulate` only where the policy it is of would be."""
    dealt = {tuple(pb.BatchHalving(64, 1, 8, 9, rng=seed).stage_batches) for seed in range(200)}
    assert len(dealt) == 20  # of 6 stages, 3 have one more
    bandit = pb.environments.BernoulliBandit(np.linspace(0, 1, 64))

    def deals(policy):
        made = []

        def factory(environment):
            made.append(copy.deepcopy(policy))
            return made[-1]

        pb.simulate(factory, bandit, 20, rng=1, n_threads=1)
        return {tuple(one.stage_batches) for one in made}

    given = pb.BatchHalving(64, 1, 8, 9, rng=5)
    assert deals(given) == {tuple(given.stage_batches)}
    assert len(deals(pb.BatchHalving(64, 1, 8, 9))) > 5


# -- edges and what is refused --------------------------------------------------------------


@pytest.mark.parametrize("n, k", [(1, 0), (1, 1), (5, 0), (5, 5)])
def test_trivial_problems(n, k):
    for policy in (pb.BatchSAR(n, k, 3, 1), pb.BatchRacing(n, k), pb.BatchHalving(n, k, 3, 1),
                   pb.RoundRobin(n, k, 3, 1)):
        if not isinstance(policy, pb.RoundRobin):
            assert policy.done and policy.ask().size == 0
        assert policy.recommend().tolist() == list(range(k))
        assert policy.recommend().dtype == np.int64
        play(policy, pb.environments.TableBandit(np.arange(n)[:, None]))
        assert policy.done and len(policy.recommend()) == k
        copied = pickle.loads(pickle.dumps(policy))
        assert copied.done and np.array_equal(copied.recommend(), policy.recommend())


def test_ties_of_gaps():
    """All arms equal: "reject" drops the last arm, "index" accepts the first."""
    bandit = pb.environments.TableBandit(np.full((6, 1), 0.5))
    for tie, removed in ("reject", 5), ("index", 0):
        policy = pb.BatchSAR(6, 2, 3, 30, tie=tie)
        while policy.survivors.size == 6:
            arms = policy.ask()
            policy.tell(arms, bandit.pull(arms))
        assert removed not in policy.survivors
        policy, *_ = play(policy, bandit)
        assert policy.recommend().tolist() == [0, 1]


CLASSES = {
    pb.RoundRobin: dict(n_arms=5, k=2, batch_size=3, max_batches=50),
    pb.BatchHalving: dict(n_arms=5, k=2, batch_size=3, max_batches=50),
    pb.BatchSAR: dict(n_arms=5, k=2, batch_size=3, max_batches=50),
    pb.BatchRacing: dict(n_arms=5, k=2, delta=0.1, batch_size=3),
}
REFUSED = [
    (dict(n_arms=0), ValueError, ["n_arms", "1", "0"]),
    (dict(n_arms=2.5), TypeError, ["n_arms", "2.5"]),
    (dict(n_arms="5"), TypeError, ["n_arms", "'5'"]),
    (dict(k=-1), ValueError, ["k", "0", "-1"]),
    (dict(k=6), ValueError, ["k", "n_arms = 5", "6"]),
    (dict(k=1.5), TypeError, ["k", "1.5"]),
    (dict(k=None), TypeError, ["k", "None"]),
    (dict(batch_size=0), ValueError, ["batch_size", "1", "0"]),
    (dict(batch_size=True), TypeError, ["batch_size", "True"]),
    (dict(max_repeats=0), ValueError, ["max_repeats", "1", "0"]),
    (dict(max_repeats=np.nan), TypeError, ["max_repeats", "nan"]),
    (dict(max_batches=0), ValueError, ["max_batches", "1", "0"]),
    (dict(max_batches=-4), ValueError, ["max_batches", "1", "-4"]),
    (dict(max_batches=2.5), TypeError, ["max_batches", "2.5"]),
    (dict(tie="accept"), ValueError, ["tie", "'reject', 'index'", "'accept'"]),
    (dict(k=2**70), ValueError, ["k", "n_arms = 5", str(2**70)]),
    (dict(batch_size=2**63), ValueError, ["batch_size", str(2**63 - 1), str(2**63)]),
    (dict(max_repeats=2**70), ValueError, ["max_repeats", str(2**63 - 1), str(2**70)]),
    (dict(max_batches=2**70), ValueError, ["max_batches", "at most", str(2**70)]),
    (dict(max_batches=2**60), ValueError, ["batch_size times max_batches", str(2**60)]),
    (dict(rng="seed"), TypeError, ["rng", "'seed'"]),
    (dict(delta=0), ValueError, ["delta", "(0, 1)", "0.0"]),
    (dict(delta=1), ValueError, ["delta", "1.0"]),
    (dict(delta=np.nan), ValueError, ["delta", "nan"]),
    (dict(delta="0.1"), TypeError, ["delta"]),
    (dict(sigma=0), ValueError, ["sigma", "above 0", "0.0"]),
    (dict(sigma=np.inf), ValueError, ["sigma", "inf"]),
    (dict(sigma=-1), ValueError, ["sigma", "-1.0"]),
]
ONLY = {"max_batches": (pb.RoundRobin, pb.BatchHalving, pb.BatchSAR), "tie": (pb.BatchSAR,),
        "rng": (pb.BatchHalving,), "delta": (pb.BatchRacing,), "sigma": (pb.BatchRacing,)}


def refused():
    for options, error, words in REFUSED:
        (name, value), = options.items()
        classes = (pb.BatchSAR,) if value == 2**60 else ONLY.get(name, CLASSES)
        for cls in classes:
            yield pytest.param(cls, options, error, words, id=f"{cls.__name__}-{name}={value}")


@pytest.mark.parametrize("cls, options, error, words", list(refused()))
def test_arguments(cls, options, error, words):
    with pytest.raises(error) as caught:
        cls(**{**CLASSES[cls], **options})
    for word in words:
        assert word in str(caught.value)
    cls(**CLASSES[cls])


def test_a_batch_that_no_memory_holds():
    policy = pb.RoundRobin(10, 1, 2**62, 1)
    assert policy.batch_size == 2**62
    assert pb.RoundRobin(10, 1, 2**62, 1, max_repeats=3).ask().size == 30


# -- policies in Python -----------------------------------------------------------------------


class Uniform(pb.Policy):
    """One batch of four pulls of each arm."""

    done = property(lambda self: self.n_batches > 0)

    def ask(self):
        return np.repeat(np.arange(self.n_arms), 4)

    def recommend(self):
        return np.argsort(-np.nan_to_num(self.means), kind="stable")[:self.k]


def test_a_policy_of_ones_own():
    bandit = pb.environments.GaussianBandit([0.0, 2.0, 1.0], 1e-6)
    policy = Uniform(3, 2)
    assert not policy.done and (policy.n_arms, policy.k) == (3, 2)
    policy.tell(policy.ask(), bandit.pull(policy.ask(), 1))
    assert policy.done and policy.recommend().tolist() == [1, 2]
    result = pb.simulate(lambda environment: Uniform(3, 2), bandit, 5, rng=1)
    assert not result.errors.any() and result.pulls.tolist() == [12] * 5


def test_what_a_policy_must_define():
    class Nothing(pb.Policy):
        pass

    policy = Nothing(3)
    for act in (lambda: policy.done, policy.ask, policy.recommend,
                lambda: policy.tell([0], [0.5])):
        with pytest.raises(NotImplementedError, match="Nothing must define"):
            act()
    for bad, word in ((0, 1), "n_arms"), ((3, 4), "k"), ((3, -1), "k"):
        with pytest.raises(ValueError, match=word):
            Nothing(*bad)


def test_a_subclass_of_a_policy():
    class Counted(pb.BatchSAR):
        asked = 0

        def ask(self):
            self.asked += 1
            return super().ask()

    policy, log, _ = play(Counted(N, 3, 7, 15, 2), bandit_of())
    straight, same, _ = play(pb.BatchSAR(N, 3, 7, 15, 2), bandit_of())
    assert log == same and policy.asked >= len(log)
    assert np.array_equal(policy.recommend(), straight.recommend())
