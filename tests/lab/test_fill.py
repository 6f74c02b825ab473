"""Orders in which the arms of a batch fill its wells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybandit.lab.plates import Layout, Plates, controls_of

PLATE = Layout(8, 12)


def plates_of(fill, seed=0, **more):
    return Plates(PLATE, controls_of("col:1,12", PLATE), fill=fill, fill_seed=seed, **more)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["rows", "shuffled", "apart"]), st.integers(1, 300), st.integers(1, 40),
       st.integers(0, 2**40), st.booleans())
def test_every_order_fills_the_same_wells(fill, n, n_arms, seed, free_edges):
    plates = plates_of(fill, seed, free_edges=free_edges)
    names = [f"gene{i % n_arms}" for i in range(n)]
    places = plates.places(3, names)
    first = Plates(PLATE, plates.controls, free_edges=free_edges).places(3, names)
    assert np.array_equal(np.sort(places), first)
    assert np.array_equal(places, plates.places(3, names))
    same = Plates.of(plates.settings())
    assert np.array_equal(same.places(3, names), places) and same.settings() == plates.settings()


def test_random_order_depends_on_seed_and_batch_only():
    """The order does not depend on the version of NumPy; a few orders are pinned here."""
    names = [f"gene{i}" for i in range(80)]
    one = plates_of("shuffled", 5)
    assert one.places(0, names)[:6].tolist() == [89, 10, 51, 39, 38, 20]
    orders = {tuple(plates_of(fill, seed).places(batch, names))
              for fill in ("shuffled", "apart") for seed in range(4) for batch in range(4)}
    assert len(orders) == 32


def nearest(plates, names):
    """Return the smallest distance of two wells with the same arm on a plate."""
    places, found = plates.places(0, names), []
    for name in set(names):
        wells = places[np.array(names) == name]
        row, column = np.divmod(wells % 96, 12)
        away = np.hypot(np.subtract.outer(row, row), np.subtract.outer(column, column))
        away[np.subtract.outer(wells // 96, wells // 96) != 0] = np.inf
        found.append((away + np.diag([np.inf] * wells.size)).min())
    return min(found)


def test_replicates_are_apart():
    """Wells of an arm are on different plates if possible, else 2 or 3 wells apart on one plate."""
    four = [f"gene{i // 4}" for i in range(80)]
    assert nearest(plates_of("rows"), four) == 1.0
    assert min(nearest(plates_of("apart", seed), four) for seed in range(20)) >= 2.0
    two = [f"gene{i // 2}" for i in range(80)]
    assert min(nearest(plates_of("apart", seed), two) for seed in range(20)) >= 3.0
    assert nearest(plates_of("apart"), [f"gene{i // 3}" for i in range(240)]) == np.inf


def test_edges_are_left_free():
    plates = Plates(PLATE, controls_of("A1,H12,D5", PLATE), free_edges=True)
    assert plates.n_free == 6 * 10 - 1
    rows, columns = np.divmod(plates.free, 12)
    assert rows.min() == columns.min() == 1 and (rows.max(), columns.max()) == (6, 10)
    assert plates.labels(0, ["a", "b"]).count("control") == 3
    with pytest.raises(ValueError, match="must leave wells for arms"):
        Plates(Layout(2, 12), free_edges=True)


def test_shuffled_wells_are_uniform():
    """Every well of shuffled plates holds every arm equally often, up to chance."""
    names, seen = list(range(80)), np.zeros((80, 96))
    for batch in range(400):
        seen[names, plates_of("shuffled", 1).places(batch, names)] += 1
    free = plates_of("rows").free
    assert abs(seen[:, free] - 5.0).max() < 6 * np.sqrt(5.0)
