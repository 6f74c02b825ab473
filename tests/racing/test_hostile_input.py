"""Input that can crash or be misread: statuses, sizes, masks, memory layout, custom bounds."""

from dataclasses import dataclass

import numpy as np
import pytest

import pybandit as pb
from pybandit import mcmc

MATRIX = np.random.default_rng(0).normal(size=(400, 3)) + [0.0, 1.0, 2.0]
N, D = 100, 2
X = np.random.default_rng(1).normal(size=(N, D))


@pytest.mark.parametrize("status", [1, 2, 3, 4])
def test_status_of_another_draw_is_rejected(status):
    bets = pb.racing.BettingBound(value_range=(-9.0, 9.0))
    for sampler in (pb.RacingSampler(MATRIX), pb.RacingSampler(MATRIX, bound=bets)):
        for _ in range(2):
            with pytest.raises(ValueError, match=f"status must be that of the latest draw; got "
                                                 f"{status}, but it returned 0"):
                sampler.raise_status(status)
            sampler.draw()


def test_the_status_of_the_latest_draw_is_raised_again():
    data = MATRIX.copy()
    sampler = pb.RacingSampler(data, rng=1)
    data[:, 1] = np.inf
    with pytest.raises(ValueError, match="got inf at factor"):
        sampler.draw()
    with pytest.raises(ValueError, match="got inf at factor"):
        sampler.raise_status(2)
    with pytest.raises(ValueError, match="got 3, but it returned 2"):
        sampler.raise_status(3)


@pytest.mark.parametrize("status", [1, 2, 3])
def test_status_of_another_test_is_rejected(status):
    ratios = MATRIX[:, 0].copy()
    for test in (pb.racing.AcceptanceTest(ratios, rng=1),
                 pb.racing.AcceptanceTest(ratios, rng=1,
                                          bound=pb.racing.EBSBound(value_range=20.0))):
        for _ in range(2):
            with pytest.raises(ValueError, match=f"status must be that of the latest test; got "
                                                 f"{status}, but it returned 0"):
                test.raise_status(status)
            test.test()


def test_the_status_of_the_latest_test_is_raised_again():
    ratios = MATRIX[:, 0].copy()
    test = pb.racing.AcceptanceTest(ratios, rng=1)
    ratios[:] = np.nan
    for fails in (test.test, lambda: test.raise_status(2)):
        with pytest.raises(ValueError, match="log_ratios must be finite; got nan at factor"):
            fails()
    for other in (0, 1, 3):
        with pytest.raises(ValueError, match=f"got {other}, but it returned 2"):
            test.raise_status(other)
    ratios[:] = 1.0
    assert test.test().accepted
    test.raise_status(0)


def test_a_function_may_not_raise_the_status_of_its_sampler():
    def function(n, i):
        sampler.raise_status(2)
        return MATRIX[n][:, i]

    sampler = pb.RacingSampler(pb.Factors(function, *MATRIX.shape), rng=1)
    with pytest.raises(RuntimeError, match="already drawing"):
        sampler.draw()


def test_a_function_may_not_change_the_prior_of_its_sampler():
    def function(n, i):
        assert sampler.log_prior.tolist() == [0.0] * 3
        sampler.log_prior = [0.0, 0.0, 9.0]
        return MATRIX[n][:, i]

    sampler = pb.RacingSampler(pb.Factors(function, *MATRIX.shape), rng=1)
    with pytest.raises(RuntimeError, match="already drawing"):
        sampler.draw()
    assert sampler.log_prior.tolist() == [0.0] * 3


CONTROLS = {"glm": mcmc.GLMControl(X, X[:, 0], X[:, 1], np.zeros(D)),
            "taylor": mcmc.TaylorControl(np.zeros(D), X)}


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS)
@pytest.mark.parametrize("points, kind", [
    (np.zeros((2, D + 1)), ValueError), (np.zeros((2, 1)), ValueError), (np.zeros((1, D)),
                                                                        ValueError),
    (np.zeros(D), ValueError), (np.zeros((2, D), dtype=np.float32), TypeError),
    (np.zeros((D, 2)).T[:, :1].repeat(2, 1)[:, ::-1], TypeError), ([[0.0, 0.0]] * 2, TypeError),
    (None, TypeError), (np.zeros((2, D), dtype=">f8"), TypeError),
])
def test_points_of_another_shape_or_kind_are_rejected(control, points, kind):
    for make in (control.changes, control.total_change):
        with pytest.raises(kind, match="points must"):
            make(points)


@pytest.mark.parametrize("n_factors, n_states", [(N + 1, 1), (10**8, 1), (N - 1, 1), (N, 2)])
def test_a_control_of_other_sizes_is_rejected(n_factors, n_states):
    values = CONTROLS["glm"].changes(np.zeros((2, D)))
    with pytest.raises(ValueError, match="control must have"):
        pb.Factors(lambda n, i: np.zeros((len(n), len(i))), n_factors, n_states,
                   control=pb.racing.ControlVariate(values, np.zeros(n_states)))
    taylor = pb.racing.taylor_control(X, [[0.0, 0.0]], [0.0, 0.0, 0.0], np.ones((3, 2)))
    with pytest.raises(ValueError, match="control must have"):
        pb.Factors(len, n_factors, 3 if n_factors != N else n_states, control=taylor)


@pytest.mark.parametrize("indices, states, kind, word", [
    ([N], [0], ValueError, "indices"), ([-1], [0], ValueError, "indices"),
    ([0], [1], ValueError, "states"), ([0], [0, 0], ValueError, "states"),
    ([0.5], [0], TypeError, "indices"), (None, [0], TypeError, "indices"),
])
def test_a_control_rejects_indices_out_of_range(indices, states, kind, word):
    values = CONTROLS["glm"].changes(np.zeros((2, D)))
    with pytest.raises(kind, match=word):
        values(indices, states)
    assert values([3, 0], [0]).shape == (2, 1) and values(*np.zeros((2, 0), int)).shape == (0, 0)


def test_true_is_rejected_after_1_was_accepted():
    options = dict(bound=pb.racing.EBSBound(value_range=20.0))
    for _ in range(2):
        assert pb.race(MATRIX, looks=pb.racing.Looks(first=1), **options, rng=1).best == 2
        with pytest.raises(TypeError, match="first must be an integer; got True"):
            pb.race(MATRIX, looks=pb.racing.Looks(first=True), **options, rng=1)
        assert pb.racing.accept(MATRIX[:, 1], looks=pb.racing.Looks(first=1), **options,
                                rng=1).accepted
        with pytest.raises(TypeError, match="first must be an integer; got True"):
            pb.racing.accept(MATRIX[:, 1], looks=pb.racing.Looks(first=True), **options, rng=1)


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(array.shape)
    memory[:] = array
    assert not memory.flags.aligned
    return memory


def test_unaligned_arrays_are_copied():
    array = unaligned(MATRIX)
    assert pb.race(array, rng=1) == pb.race(MATRIX, rng=1)
    assert pb.RacingSampler(array, unaligned(np.zeros(3)), rng=1).draw() == pb.RacingSampler(
        MATRIX, rng=1).draw()
    assert pb.racing.accept(unaligned(MATRIX[:, 1]), rng=1) == pb.racing.accept(MATRIX[:, 1], rng=1)
    assert pb.race(pb.Factors(lambda n, i: unaligned(MATRIX[n][:, i]), *MATRIX.shape),
                   rng=1) == pb.race(pb.Factors(lambda n, i: MATRIX[n][:, i], *MATRIX.shape),
                                     rng=1)
    arms = [MATRIX[:, 0], MATRIX[:50, 2]]
    expected = pb.racing.race_populations(arms, rng=1)
    assert pb.racing.race_populations([unaligned(arm) for arm in arms], rng=1) == expected
    control = pb.racing.ControlVariate(array, array.sum(axis=0))
    assert control.values.flags.aligned and np.array_equal(control.values, MATRIX)


def masked(array):
    return np.ma.array(array, mask=np.arange(array.size).reshape(array.shape) == 1)


@pytest.mark.parametrize("call, word", [
    (lambda: pb.race(masked(MATRIX)), "factors"),
    (lambda: pb.race(MATRIX, masked(np.zeros(3))), "log_prior"),
    (lambda: pb.RacingSampler(MATRIX, masked(np.zeros(3))), "log_prior"),
    (lambda: pb.racing.accept(masked(MATRIX[:, 0])), "log_ratios"),
    (lambda: pb.racing.accept(MATRIX[:, 0], np.ma.masked), "log_threshold"),
    (lambda: pb.racing.race_populations([masked(MATRIX[:, 0])]), r"populations\[0\]"),
    (lambda: pb.racing.ControlVariate(masked(MATRIX), MATRIX.sum(axis=0)), "values"),
    (lambda: pb.Factors(len, 5, 2).evaluate(masked(np.arange(3)), [0]), "indices"),
    (lambda: pb.race(pb.Factors(lambda n, i: masked(MATRIX[n][:, i]), *MATRIX.shape)),
     "the return value of the function of Factors"),
    (lambda: pb.racing.PopulationMoments(masked(X)), "points"),
    (lambda: pb.bounds.crossing_probability(2.0, masked(np.array([0.1, 0.2]))), "fractions"),
])
def test_masks_are_rejected(call, word):
    with pytest.raises(TypeError, match=f"{word} .*mask"):
        call()


def test_masked_arrays_without_masks_are_arrays():
    assert pb.race(np.ma.array(MATRIX), rng=1) == pb.race(MATRIX, rng=1)


def test_read_only_arrays_are_accepted():
    fractions = np.array([0.1, 0.2, 0.4])
    fractions.flags.writeable = False
    assert pb.bounds.crossing_probability(2.0, fractions) == pb.bounds.crossing_probability(
        2.0, [0.1, 0.2, 0.4])
    frozen = MATRIX.copy()
    frozen.flags.writeable = False
    assert pb.race(frozen, rng=1) == pb.race(MATRIX, rng=1)


def test_sizes_beyond_int64_are_rejected():
    with pytest.raises(ValueError, match="population_size must be at most"):
        pb.bounds.normal_sample_complexity(0.0, 10**30, 2, delta=0.05)
    with pytest.raises(ValueError, match=r"n_states \* population_size must be at most"):
        pb.bounds.normal_sample_complexity(0.0, 2**53, 2**53, delta=0.05)
    assert pb.bounds.normal_sample_complexity(0.0, 2**53, 2, delta=0.05) == 2**54
    with pytest.raises(ValueError, match="n_factors must be at most"):
        pb.Factors(len, 2**63, 1)
    with pytest.raises(ValueError, match="n_states must be at most"):
        pb.Factors(len, 1, 2**62)
    with pytest.raises(ValueError, match="sizes must sum to at most"):
        pb.racing.Populations(len, [2**53, 2**53])
    with pytest.raises(ValueError, match="first must be at most"):
        pb.race(MATRIX, looks=pb.racing.Looks(first=2**63))


@dataclass(frozen=True)
class Own:
    """User-defined bound with arbitrary looks and terms."""

    rows: object = (100, 200)
    numbers: object = (1.0, 1.0)
    default_first_look = 50
    smallest_first_look = 2

    def looks(self, n_factors, first_look, max_fraction):
        return self.rows

    def terms(self, rows, n_factors, n_comparisons):
        return np.array(self.numbers), np.zeros(len(rows))


@pytest.mark.parametrize("bound", [
    Own((200, 100)), Own((100, 100)), Own((0, 100)), Own((-5, 100)), Own((100, 400)),
    Own((100, 10**9)), Own(numbers=(1.0,)), Own(numbers=(1.0, np.nan)), Own(numbers=(1.0,) * 9)])
def test_bad_looks_and_terms_of_custom_bounds_are_rejected(bound):
    assert pb.race(MATRIX, bound=Own(), rng=1).best == 2
    for call in (lambda: pb.race(MATRIX, bound=bound), lambda: pb.RacingSampler(
            MATRIX, bound=bound), lambda: pb.racing.accept(MATRIX[:, 0], bound=bound)):
        with pytest.raises(ValueError, match=r"bound\.(looks|terms) must return"):
            call()


@pytest.mark.parametrize("bound", [pb.racing.StudentBound, object(), 3, None, [], {}, np.zeros(2)])
def test_objects_that_are_not_bounds_are_rejected(bound):
    with pytest.raises(TypeError, match="bound must be a bound object"):
        pb.race(MATRIX, bound=bound)


def test_changing_a_schedule_does_not_change_the_kernel():
    sampler = pb.RacingSampler(MATRIX, rng=1)
    rows = sampler.schedule.rows
    before = rows.copy()
    rows.flags.writeable = True
    try:
        rows[:] = 10**9
        assert sampler.draw()[0] == 2 and pb.race(MATRIX, rng=1).best == 2
    finally:
        rows[:] = before  # other races share it
        rows.flags.writeable = False
