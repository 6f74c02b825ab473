"""A foreign package cimports pybandit and reaches every public C function."""

import importlib
import os
import pathlib
import re
import shutil
import sys

import numpy as np
import pytest

import pybandit as pb
import pybandit.embedding
from pybandit.racing.schedule import make_schedule

from compiler import HEADERS, ROOT, run
from sources import of_sources
from unpublished import INTERNAL, KEPT

INCLUDE = pathlib.Path(pb.get_include(), "pybandit")
SOURCE = ROOT / "pybandit" / "embedding.pyx"


def declared(pattern, header):
    """Return the declarations in a header that match a pattern, without comments."""
    return re.findall(pattern, re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL),
                      re.MULTILINE)


def public(pattern):
    """Return the public declarations that match a pattern, with their headers."""
    found = {}
    for header in HEADERS:
        name = header.relative_to(INCLUDE).as_posix()
        for one in declared(pattern, header):
            if one in KEPT or not {name, one} & set(INTERNAL):
                found[one] = name
    return found


CALLED = public(r"^(?!static)[a-z][\w \*]*?\b(pb_\w+)\(")
INLINE = public(r"^static inline [\w \*]*?\b(pb_\w+)\(")
STRUCTS = public(r"^} (pb_\w+);")
SYMBOLS = public(r"\b(PB_[A-Z_]+)\b(?=[ =,}])")


def build(folder, **variables):
    run(sys.executable, "setup.py", "build_ext", "--inplace", cwd=folder,
        env={**os.environ, "CFLAGS": "-O0", **variables})


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    shutil.copytree(ROOT / "tests" / "embedding" / "foreign", folder, dirs_exist_ok=True)
    build(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("foreign")


def test_list_of_internal_names_is_correct():
    headers = {header.relative_to(INCLUDE).as_posix() for header in HEADERS}
    names = {name for header in HEADERS for name in declared(r"\b(?:pb|PB)_\w+", header)}
    assert set(INTERNAL) <= headers | names
    assert len(CALLED) > 50 and len(INLINE) > 4 and len(STRUCTS) > 20 and len(SYMBOLS) > 20


def test_module_reaches_every_public_name(tmp_path, monkeypatch):
    """Functions have the addresses that numba gets; structs and constants exist."""
    names = [name.removeprefix("pb_") for name in CALLED]
    lines = ["cimport pybandit", "from libc.stdint cimport uintptr_t", "",
             "functions = {", *(f"    '{n}': <uintptr_t>pybandit.{n}," for n in names), "}",
             "inline = [", *(f"    <uintptr_t>pybandit.{n} != 0," for n in INLINE), "]",
             "sizes = [", *(f"    sizeof(pybandit.{n})," for n in STRUCTS), "]",
             "constants = [", *(f"    <int>pybandit.{n}," for n in SYMBOLS), "]", ""]
    (tmp_path / "reached.pyx").write_text("\n".join(lines))
    setup = (ROOT / "tests" / "embedding" / "foreign" / "setup.py").read_text()
    (tmp_path / "setup.py").write_text(setup.replace("foreign", "reached"))
    build(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    reached = importlib.import_module("reached")
    assert set(reached.functions) == set(pybandit.embedding.__pyx_capi__)
    assert len(set(reached.functions.values())) == len(names)
    assert all(reached.inline) and min(reached.sizes) > 0 and min(reached.constants) >= 0


@of_sources
def test_every_function_passes_its_arguments_on():
    text = SOURCE.read_text()
    found = re.findall(r"^cdef ([\w ]+[ *]+)(\w+)\(([^)]*)\) noexcept nogil:\n"
                       r"    (return )?pb_(\w+)\(([^)]*)\)$", text, re.MULTILINE)
    assert text.count("\ncdef ") == len(found) == len(CALLED)
    for returned, name, parameters, returns, called, given in found:
        names = [one.split()[-1].lstrip("*") for one in parameters.split(",")]
        assert called == name and given.replace("\n", " ").replace(" ", "").split(",") == names
        assert bool(returns) == (returned.strip() != "void")
        # the names and types are those of the header
        header = INCLUDE / CALLED[f"pb_{name}"]
        ((kind, wanted),) = declared(rf"^([\w ]+[ *]+)pb_{name}\(([^)]*)\);", header)
        assert (returned.split(), parameters.split()) == (kind.split(), wanted.split()), name


def test_race_equals_python(foreign):
    y = np.random.default_rng(1).normal(1.0, 1.0, 5000)
    matrix = -((y[:, None] - 0.25 * np.arange(9)) ** 2)
    options = {"bound": "normal", "looks": pb.racing.Looks(max_fraction=1, indices="permutation")}
    schedule = pb.RacingSampler(matrix, **options).schedule
    for seed in range(20):
        expected = pb.race(matrix, rng=seed, **options)
        got = foreign.race(y, 9, schedule.rows, schedule.scale, schedule.slack,
                           np.random.default_rng(seed))
        assert got == (expected.best, expected.n_looks, expected.n_evaluations)
    assert not expected.exact


@pytest.mark.parametrize("n, n_states, first, fraction",
                         [(5000, 9, 50, 1.0), (10**6, 2, 2, 0.05), (40, 3, 50, 1.0)])
def test_schedules_equal_python(foreign, n, n_states, first, fraction):
    expected = make_schedule(pb.racing.NormalBound(delta=0.01), n, n_states, True, first, fraction)
    rows, scale = foreign.normal_schedule(0.01, n, n_states, first, fraction)
    assert rows == expected.rows.tolist() and scale == expected.scale.tolist()


def as_control(ratios):
    """Return factors with the same sums; a control variate provides most of them."""
    close = np.round(ratios, 1)[:, None]
    return pb.Factors(lambda n, i: ratios[n][:, None], ratios.size, 1,
                      control=pb.racing.ControlVariate(close, close.sum(axis=0)))


@pytest.mark.parametrize("kind", ["array", "function", "control", "betting"])
def test_acceptance_equals_python(foreign, kind):
    ratios = np.random.default_rng(4).normal(0.02, 1.0, 20_000)
    given, options = ratios, {}
    if kind == "function":
        given = pb.Factors(lambda n, i: ratios[n][:, None], ratios.size, 1)
    if kind == "control":
        given = as_control(ratios)
    if kind == "betting":
        options = {"bound": pb.racing.BettingBound(value_range=(-6.0, 6.0))}
    mine, theirs = (pb.racing.AcceptanceTest(given, rng=0, **options) for _ in range(2))
    a, b = np.random.default_rng(5), np.random.default_rng(5)
    outcomes = set()
    for threshold in (*np.linspace(-800.0, 1600.0, 25), -np.inf, np.inf):
        expected = mine.test(threshold, rng=a)
        status, got = foreign.accept(theirs.address, threshold,
                                     b.bit_generator.ctypes.bit_generator.value)
        assert status == 0 and got == tuple(expected.to_dict().values())
        theirs.raise_status(status)
        outcomes.add((expected.accepted, expected.n_looks > 1))
    assert len(outcomes) == 4
    assert a.bit_generator.state == b.bit_generator.state


def test_error_of_a_test_is_raised_by_raise_status(foreign):
    rng = np.random.default_rng(1)
    bits = rng.bit_generator.ctypes.bit_generator.value
    error = KeyError("mine")

    def function(n, i):
        raise error

    for given, raised, options in (
            (np.full(500, np.nan), (ValueError, "must be finite; got nan at factor"), {}),
            (np.full(500, 3.0), (ValueError, r"must lie in value_range"),
             {"bound": pb.racing.BettingBound(value_range=(-1.0, 1.0))}),
            (pb.Factors(function, 500, 1), (KeyError, "mine"), {})):
        test = pb.racing.AcceptanceTest(given, **options)
        status, _ = foreign.accept(test.address, 0.0, bits)
        assert status != 0
        with pytest.raises(raised[0], match=raised[1]) as caught:
            test.raise_status(status)
        with pytest.raises(raised[0]) as again:
            test.test(0.0)
        assert str(again.value).partition(" at factor")[0] == (
            str(caught.value).partition(" at factor")[0])
    assert caught.value is error


@pytest.mark.parametrize("n", [40, 20_000])
def test_acceptance_test_set_up_in_c_equals_python(foreign, n):
    ratios = np.random.default_rng(4).normal(0.02, 1.0, n)
    thresholds = np.linspace(-800.0, 1600.0, 25)
    test = pb.racing.AcceptanceTest(ratios, bound="normal", delta=0.01,
                                    looks=pb.racing.Looks(max_fraction=1.0), rng=5)
    expected = [test.test(threshold) for threshold in thresholds]
    got = foreign.made_test(ratios, 0.01, 50, thresholds, np.random.default_rng(5))
    assert got == [(0, one.accepted, one.n_evaluations) for one in expected]
    assert n < 50 or len({one.n_evaluations for one in expected}) > 2


def test_sums_of_factors_equal_python(foreign):
    rng = np.random.default_rng(6)
    table, labels, y = rng.normal(size=(4, 3)), rng.integers(0, 4, 500), rng.normal(size=500)
    parts = rng.normal(size=(3, 5))
    pairs, quadratic = foreign.sums(table, labels, y, parts)
    assert np.allclose(pairs, table[labels].sum(axis=0))
    assert np.allclose(quadratic, 500 * parts[0] + y.sum() * parts[1] + (y**2).sum() * parts[2])


@pytest.mark.parametrize("status", [-1, 1, 5, 99])
def test_invalid_status_is_rejected(status):
    with pytest.raises(ValueError, match=f"status must be that of the latest test; got {status}"):
        pb.racing.AcceptanceTest(np.ones(5)).raise_status(status)


def test_bets_equal_python(foreign):
    values = np.random.default_rng(3).random(400)
    lower, upper = foreign.confidence(values, 1000.0, 0.05)
    expected = pb.confidence_sequence(values, population_size=1000)
    assert np.array_equal(lower, expected.lower) and np.array_equal(upper, expected.upper)


def test_round_robin_equals_python(foreign):
    policy, batches = pb.policies.RoundRobin(7, 1, batch_size=5, max_batches=6, max_repeats=2), []
    while not policy.done:
        arms = policy.ask()
        batches.append(np.bincount(arms, minlength=7))
        policy.tell(arms, np.zeros(arms.size))
    assert np.array_equal(foreign.pull_order(7, 5, 2, len(batches)), batches)
