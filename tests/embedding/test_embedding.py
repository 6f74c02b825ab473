"""Draws by the address of a sampler, as from numba and Cython."""

import ctypes

import numpy as np
import pytest

import pybandit as pb
import pybandit.embedding

N, D = 2000, 4
OK, NOT_FINITE, CALLBACK = 0, 2, 4

_get_name = ctypes.pythonapi.PyCapsule_GetName
_get_name.restype, _get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def exported(name, *arguments):
    capsule = pybandit.embedding.__pyx_capi__[name]
    address = _get_pointer(capsule, _get_name(capsule))
    return ctypes.CFUNCTYPE(ctypes.c_int, *arguments)(address)


sampler_draw = exported("sampler_draw", ctypes.c_void_p, ctypes.c_void_p,
                        ctypes.POINTER(ctypes.c_int64))


def draw(sampler, rng):
    """Return status and state of one draw by the address."""
    state = ctypes.c_int64(-7)
    status = sampler_draw(sampler.address, rng.bit_generator.ctypes.bit_generator, state)
    return status, state.value


@pytest.fixture
def matrix():
    noise = np.random.default_rng(1).normal(0.0, 1e-3, (N, D))
    return noise - noise.mean(axis=0) + np.log(np.arange(1, D + 1)) / N


def as_factors(matrix):
    return pb.Factors(lambda n, i: matrix[n][:, i], N, D)


@pytest.mark.parametrize("kind", ["matrix", "shuffled", "function", "betting"])
def test_draws_by_address_equal_draw(matrix, kind):
    factors = as_factors(matrix) if kind == "function" else matrix
    options = {"delta": 0.01, "looks": pb.racing.Looks(max_fraction=1.0)}
    if kind == "shuffled":
        options["layout"] = "shuffled"
    if kind == "betting":
        options |= {"bound": pb.racing.BettingBound(value_range=0.02, delta=0.01), "delta": None}
    mine, theirs = (pb.RacingSampler(factors, rng=3, **options) for _ in range(2))
    prior = np.array([0.5, 0.0, -np.inf, 1.0])
    a, b = np.random.default_rng(5), np.random.default_rng(5)
    for log_prior in (None, prior, prior[::-1]):
        if log_prior is not None:
            mine.log_prior = theirs.log_prior = log_prior
        expected, info = mine.draw(60, rng=a)
        drawn = [draw(theirs, b) for _ in range(60)]
        assert drawn == [(OK, state) for state in expected]
        assert not info.exact.all()  # draws had several looks, of which later ones need more memory
    assert a.bit_generator.state == b.bit_generator.state


def test_error_of_a_function_is_raised_by_raise_status(matrix):
    error = KeyError("mine")
    failing = True

    def function(n, i):
        if failing:
            raise error
        return matrix[n][:, i]

    rng = np.random.default_rng(2)
    sampler = pb.RacingSampler(pb.Factors(function, N, D), rng=rng)
    with pytest.raises(KeyError):
        sampler.draw()
    assert draw(sampler, rng) == (CALLBACK, -1)
    with pytest.raises(KeyError) as caught:
        sampler.raise_status(CALLBACK)
    assert caught.value is error
    with pytest.raises(RuntimeError, match="was already raised"):
        sampler.raise_status(CALLBACK)
    failing = False
    status, state = draw(sampler, rng)
    assert status == OK and 0 <= state < D
    sampler.raise_status(status)
    assert 0 <= sampler.draw()[0] < D


@pytest.mark.parametrize("computed", [False, True])
def test_error_names_a_reward_that_is_not_finite(matrix, computed):
    matrix[:, 2] = np.nan
    sampler = pb.RacingSampler(as_factors(matrix) if computed else matrix, rng=1)
    status, state = draw(sampler, np.random.default_rng(2))
    assert (status, state) == (NOT_FINITE, -1)
    with pytest.raises(ValueError, match=r"got nan at factor \d+, state 2"):
        sampler.raise_status(status)


@pytest.mark.parametrize("status", [-1, 5, 99])
def test_invalid_status_is_rejected(matrix, status):
    with pytest.raises(ValueError, match=f"status must be that of the latest draw; got {status}"):
        pb.RacingSampler(matrix).raise_status(status)
