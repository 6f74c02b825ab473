"""A Hypothesis strategy for states with one part changed."""

import copy

import numpy as np
from hypothesis import strategies as st

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 400), st.floats(), st.text(max_size=3),
    st.sampled_from([2**31, 2**53, 2**62, 2**63, -2**63, 1e308, 5e-324, -0.0, [], {}, (), [1, 2],
                     (0, 1), (1, 0), "product", "ebmix", "betting", "hoeffding", "asymptotic"]))
# replacements for an array
ODD = st.one_of(SCALARS, st.sampled_from([np.zeros(0), np.zeros((2, 3)), np.ones(3, dtype=bool),
                                          np.array(["a"]), np.array([None]), [[1], [1, 2]],
                                          np.zeros(3, dtype=complex)]))


def places(state):
    """Return the paths of all keys of a state and of the dicts in it."""
    for name, value in state.items():
        yield (name,)
        if isinstance(value, dict):
            yield from ((name, *path) for path in places(value))


def mutate(draw, state):
    """Return a copy of a state with one part removed or replaced, or one array entry changed."""
    state = copy.deepcopy(state)
    *path, last = draw(st.sampled_from(sorted(places(state))))
    part = state
    for name in path:
        part = part[name]
    value = part[last]
    kind = draw(st.sampled_from(["entry", "entry", "entry", "value", "length", "gone", "added"]))
    if kind == "gone":
        del part[last]
    elif kind == "added":
        part[draw(st.text(max_size=3))] = 1
    elif isinstance(value, np.ndarray) and value.size and kind == "entry":
        at = draw(st.integers(0, value.size - 1))
        number = draw(st.one_of(st.floats(), st.floats(-0.1, 1.1), st.integers(-5, 300)))
        with np.errstate(invalid="ignore"):
            value.flat[at] = np.array(number).astype(value.dtype)
    elif isinstance(value, np.ndarray) and kind == "length":
        part[last] = value[draw(st.integers(0, len(value))):]
    else:
        part[last] = draw(ODD if isinstance(value, np.ndarray) else SCALARS)
    return state
