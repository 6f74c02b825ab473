"""Arrays kept by objects and changed between two calls are copied, checked or rejected."""

import numpy as np
import pytest

import pybandit as pb

from hostile_arrays.arena import Another, Interface, Lying

N = 4000
FAR = 2**31 - 1
LABELS = np.arange(N) % 2
TABLE = np.array([[0.2, 0.0], [0.0, 0.3]])
LOGS = np.log([[0.2, 0.8], [0.7, 0.3]])


def frame(values):
    pandas = pytest.importorskip("pandas")
    held = pandas.DataFrame({"who": values})

    def change(value):
        held.loc[:, "who"] = value

    return held["who"].to_numpy(), change


def writer(held, given):
    def change(value):
        held[...] = value

    return given, change


def view_of_larger(values):
    held = np.stack([values, values], axis=1).ravel()
    return writer(held, held[::2])


def read_only_view(values):
    given = values.view()
    given.flags.writeable = False
    return writer(values, given)


def buffer(values):
    memory = bytearray(values.tobytes())
    return writer(np.frombuffer(memory, dtype=values.dtype),
                  np.frombuffer(memory, dtype=values.dtype))


def interface(values):
    return writer(values, Interface(values))


def memory_view(values):
    return writer(values, memoryview(values))


SHARED = {"pandas": frame, "view": view_of_larger, "read-only view": read_only_view,
          "frombuffer": buffer, "__array_interface__": interface, "memoryview": memory_view}
KEPT = {
    "pairwise": lambda members: pb.factors.pairwise(TABLE, LABELS, members),
    "categorical": lambda members: pb.factors.categorical(LABELS, LOGS, members=members),
    "gaussian": lambda members: pb.factors.gaussian(LABELS * 1.0, [0.1, 0.9], members=members),
    "poisson": lambda members: pb.factors.poisson(LABELS * 1.0, [0.1, 0.9], members=members),
}


def answers(factors):
    return (factors.evaluate(np.arange(50), [0, 1]).tolist(),
            pb.racing.exact_sample(factors, rng=1),
            pb.RacingSampler(factors, rng=1).draw(5)[0].tolist())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("share", SHARED)
@pytest.mark.parametrize("kind", KEPT)
def test_members_are_copied(kind, share, dtype):
    members = (np.arange(N)[::-1] % 3000).astype(dtype)
    expected = answers(KEPT[kind](members.copy()))
    given, change = SHARED[share](members)
    factors = KEPT[kind](given)
    change(FAR)
    assert answers(factors) == expected
    with pytest.raises(ValueError, match=r"must be in \[0, 4000\), .*; got 2147483647"):
        KEPT[kind](given)


@pytest.mark.parametrize("label", [2, -1, FAR, 2**62, -2**63])
@pytest.mark.parametrize("make", [
    lambda labels: pb.factors.pairwise(TABLE, labels, np.arange(N)[::-1]),
    lambda labels: pb.factors.pairwise(TABLE, labels, weights=np.ones(N)),
    lambda labels: pb.factors.categorical(labels, LOGS)])
def test_a_changed_label_raises_when_it_is_read(make, label):
    labels = LABELS.copy()
    factors = make(labels)
    sampler = pb.RacingSampler(factors, rng=1)
    labels[:] = label
    for call in (sampler.draw, lambda: pb.racing.exact_sample(factors, rng=1)):
        with pytest.raises(ValueError, match=r"must be"):
            call()
    labels[:] = LABELS
    assert sampler.draw()[0] in (0, 1)


def test_members_of_labels_cannot_be_written_to():
    first, second = pb.factors.members(LABELS, 2)
    for part in (first, second, first.base, first.view()):
        with pytest.raises(ValueError, match="WRITEABLE"):
            part.flags.writeable = True
    with pytest.raises(ValueError, match="read-only"):
        first[...] = FAR
    factors = pb.factors.categorical(LABELS, LOGS, members=second)
    assert factors.n_factors == N // 2 and np.isfinite(factors.evaluate([0], [0])).all()


@pytest.mark.parametrize("make", [
    lambda: pb.racing.Populations(lambda n, i: np.ones((n.size, 1)), np.array([9, 5])).sizes,
    lambda: pb.tables.Blocks(lambda block, columns: np.ones((4, columns.size)), [4, 4], 3).sizes,
    lambda: pb.racing.ControlVariate(np.eye(3), np.ones(3)).totals], ids=["Populations", "Blocks",
                                                                          "ControlVariate"])
def test_public_sizes_cannot_be_written_to(make):
    with pytest.raises(ValueError, match="WRITEABLE"):
        make().flags.writeable = True


def asked():
    """Return a policy that has a pending request."""
    policy = pb.policies.Uniform(3, budget=9)
    policy.ask()
    return policy


@pytest.mark.parametrize("form", [lambda values: values.view(Lying), Another],
                         ids=["subclass", "object"])
@pytest.mark.parametrize("call", [
    lambda form: pb.factors.pairwise(TABLE, form(LABELS[:9].copy()), [8 + 500]),
    lambda form: pb.factors.categorical(form(LABELS[:9].copy()), LOGS, members=[8 + 500]),
    lambda form: pb.mcmc.PairwiseTable(TABLE, [[1], [0]])(0, form(LABELS[:1].copy())),
    lambda form: pb.Factors(lambda n, i: form(np.ones((n.size - 1, i.size))), 9, 2).evaluate(
        [0, 1], [0, 1]),
    lambda form: pb.race(pb.Factors(lambda n, i: form(np.ones((n.size - 1, i.size))), 900, 2)),
    lambda form: pb.mcmc.GLMControl(np.ones((9, 2)), np.ones(9), np.ones(9), [0.0, 0.0]).changes(
        form(np.ones((1, 2)))),
    lambda form: asked().tell(form(np.array([0])), form(np.array([0.5])))],
    ids=["pairwise", "categorical", "PairwiseTable", "evaluate", "race", "changes", "tell"])
def test_false_shapes_are_rejected(call, form):
    """The objects claim 1000 more entries along each axis than they have."""
    with pytest.raises((TypeError, ValueError)):
        call(form)


class Kept(pb.Policy):
    """A policy that keeps using the array returned by `ask`."""

    done = False

    def __init__(self):
        super().__init__(3)
        self.kept = np.array([0, 1, 1])

    def ask(self):
        return self.kept


@pytest.mark.parametrize("arms", [[7, 1, 1], [2**62, 0, 0], [-1, 1, 1]])
def test_changed_array_of_ask_is_rejected(arms):
    policy = Kept()
    policy.tell([0, 1, 1], [0.5, 0.5, 0.5])
    policy.kept[:] = arms
    with pytest.raises(ValueError, match=r"arms in \[0, 3\); got"):
        policy.tell(policy.kept, [0.5, 0.5, 0.5])
    assert policy.pulls.tolist() == [1, 2, 0]


class ShrinkingEnvironment(pb.environments.GaussianBandit):
    """A compiled environment with one arm per mean, whose `n_arms` in Python is 2."""

    n_arms = 2


class ShrinkingPolicy(pb.policies.Uniform):
    n_arms = 2


@pytest.mark.parametrize("policy, environment", [
    (lambda: pb.policies.Uniform(2, budget=8), ShrinkingEnvironment([0.1, 0.2, 0.3])),
    (lambda: ShrinkingPolicy(3, budget=8), pb.environments.GaussianBandit([0.1, 0.2])),
    (lambda: ShrinkingPolicy(3, budget=8), ShrinkingEnvironment([0.1, 0.2, 0.3]))])
def test_simulate_rejects_a_number_of_arms_that_python_overrides(policy, environment):
    with pytest.raises(ValueError, match=r"arms|shape \(2,\)"):
        pb.simulate(lambda _: policy(), environment, 2, rng=1)
