"""Mutated counts in pickled tables: rejected with a reason, or usable."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from betting.mutations import ODD

COUNTS = st.lists(st.one_of(st.integers(-2, 2**63 - 1), st.floats(), st.none()), max_size=4)


@settings(max_examples=200, deadline=None)
@given(st.one_of(ODD, COUNTS))
def test_mutated_counts_are_rejected_or_usable(seen):
    table = pb.environments.TableBandit([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    table.pull([0, 1, 0])
    before = table.__reduce__()[-1].tolist()
    try:
        table.__setstate__(seen)
    except (ValueError, TypeError, OverflowError) as error:
        assert len(str(error)) > 10 and table.__reduce__()[-1].tolist() == before
        return
    assert set(table.pull([0, 1, 2] * 3)) <= {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}


@pytest.mark.parametrize("seen", [
    [-1, 0, 0], [0, 0], None, [0.5, 0, 0],
    # counts that would overflow to negative indices after a pull
    [2**63 - 1, 0, 0], [2**53 + 1, 0, 0], np.array([2**63, 0, 0], dtype=np.uint64)])
def test_invalid_counts_raise(seen):
    table = pb.environments.TableBandit([[0.1, 0.2]] * 3)
    with pytest.raises(ValueError, match="state must hold a count of at least 0"):
        table.__setstate__(seen)
