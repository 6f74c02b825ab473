"""Tables of booleans, bytes and 32-bit floats are raced in place, with the bits of float64."""

import gc
import pickle
import tracemalloc

import numpy as np
import pytest

import pybandit as pb
from pybandit._shared.cell_range import cell_range

KINDS = ["bool", "uint8", "int8", "float32", "float64"]
BOUNDS = [
    {"delta": 0.05},
    {"bound": "normal", "delta": 0.2},
    {"bound": pb.racing.EBSBound(delta=0.05, value_range=255.0)},
    {"bound": pb.racing.BettingBound(value_range=(-128.0, 255.0))},
    {"bound": pb.racing.BettingBound(value_range=400.0)},
]


def table(kind, seed, n_factors=3000, n_states=7):
    """Return a table of this type; states differ a little, so that some races read everything."""
    rng = np.random.default_rng(seed)
    shares = 0.4 + rng.choice([0.002, 0.02, 0.2]) * rng.random(n_states)
    bits = rng.random((n_factors, n_states)) < shares
    if kind == "bool":
        return bits
    low = {"uint8": 0, "int8": -128}.get(kind)
    noise = rng.normal(size=bits.shape) if low is None else rng.integers(low, low + 255, bits.shape)
    return (noise + bits).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", BOUNDS, ids=["student", "normal", "EBS", "range", "spread"])
@pytest.mark.parametrize("max_fraction", [None, 1.0])
def test_race_equals_that_of_float64(kind, options, max_fraction):
    exact = set()
    for seed in range(8):
        cells = table(kind, seed, n_states=2 + seed % 9)
        # equal looks: the default share depends on the size of a cell
        fraction = max_fraction or 0.1
        looks = pb.racing.Looks(max_fraction=fraction,
                                variance="pairwise" if "bound" in options else
                                ("pairwise", "marginal")[seed % 2])
        own = pb.race(cells, looks=looks, rng=seed, **options)
        assert own == pb.race(cells.astype(float), looks=looks, rng=seed, **options)
        exact.add(own.exact)
    assert True in exact


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["gather", "shuffled"])
def test_draws_equal_those_of_float64(kind, layout):
    looks = pb.racing.Looks(max_fraction=0.2)
    cells = table(kind, 1, 2000, 20) if kind != "int8" else table(kind, 1, 2000, 20) // 8
    samplers = [pb.RacingSampler(one, -cells.sum(0, dtype=float), looks=looks, layout=layout, rng=5)
                for one in (cells, cells.astype(float))]
    first, second = (one.draw(200) for one in samplers)
    assert (first[0] == second[0]).all() and first[1] == second[1]
    again = pickle.loads(pickle.dumps(samplers[0]))
    assert (again.draw(20)[0] == samplers[1].draw(20)[0]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_exact_sums_equal_those_of_float64(kind):
    cells = table(kind, 2, 999, 11)
    prior = -cells.sum(0, dtype=float)
    own = pb.racing.exact_sample(cells, prior, 1000, rng=1)
    assert (own == pb.racing.exact_sample(cells.astype(float), prior, 1000, rng=1)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_not_copied(kind, tmp_path):
    cells = table(kind, 3, 100_000, 10)
    np.save(tmp_path / "cells.npy", cells)
    mapped = np.load(tmp_path / "cells.npy", mmap_mode="r")
    for one in (cells, mapped):
        gc.collect()
        tracemalloc.start()
        result = pb.race(one, rng=1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert result == pb.race(cells, rng=1)
        assert peak < 100_000


def test_other_layouts_are_converted():
    cells = table("float32", 4)
    looks = pb.racing.Looks(max_fraction=0.1)
    expected = pb.race(cells, looks=looks, rng=1)
    packed = np.zeros(cells.size * 4 + 1, dtype=np.uint8)
    unaligned = packed[1:].view(np.float32).reshape(cells.shape)
    unaligned[:] = cells
    for other in (np.asfortranarray(cells), cells.astype(">f4"), unaligned,
                  np.repeat(cells, 2, axis=1)[:, ::2], cells.tolist()):
        assert pb.race(other, looks=looks, rng=1) == expected
    assert pb.race([[True, False]] * 10, rng=1).best == 0


def test_infinite_cell_of_float32_is_named():
    cells = np.ones((100, 3), dtype=np.float32)
    cells[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"finite; got nan at factor \d+, state 2"):
        pb.race(cells, rng=1)
    with pytest.raises(ValueError, match="finite; got nan at factor 0, state 2"):
        pb.race(cells, looks=pb.racing.Looks(first=100), rng=1)


@pytest.mark.parametrize("kind", ["bool", "uint8", "float32", "float64"])
@pytest.mark.parametrize("share", [1.0, 1e-3])
@pytest.mark.parametrize("value_range", [(-1.0, 0.5), (0.5, 2.0), 0.5])
def test_refused_cell_is_named(kind, share, value_range):
    """The cell is read at random, or in the pass over all of the table."""
    cells = np.zeros((400, 3), dtype=kind)
    if value_range == (0.5, 2.0):
        cells[:] = 1
    cells[123, 1] = 1 - cells[123, 1]
    bound = pb.racing.BettingBound(value_range=value_range, delta=1e-6)
    with pytest.raises(ValueError, match="factor 123, state") as caught:
        pb.race(cells, bound=bound, looks=pb.racing.Looks(max_fraction=share), rng=1)
    assert str(float(cells[123, 1])) in str(caught.value)


@pytest.mark.parametrize("kind", [*KINDS, "int64", "float16"])
def test_cell_range_finds_the_limits(kind):
    rng = np.random.default_rng(6)
    for n in [1, 2, 7, 100, 1500]:
        cells = rng.integers(0, 2 if kind == "bool" else 100, n).astype(kind)
        assert cell_range(cells) == (cells.min(), cells.max())
        pairs = np.stack([cells, cells])
        assert cell_range(pairs[:, ::2]) == (pairs[:, ::2].min(), pairs[:, ::2].max())
        if cells.dtype.kind == "f":
            cells[n // 2] = np.inf
            assert cell_range(cells)[1] == np.inf
            cells[-1] = np.nan
            assert cell_range(cells) is None
