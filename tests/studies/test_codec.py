"""Canonical bytes: decoding restores the value, equal values have equal bytes, the rest fails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pybandit.studies._codec import decode, encode

from policies.protocol import frozen
from studies.cases import POLICIES

ARRAYS = st.sampled_from(["int64", "float64", "uint64", "uint8", "bool"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)))
TEXT = st.text(max_size=5)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(max_size=5)
VALUES = st.recursive(PLAIN | ARRAYS, lambda part: st.lists(part, max_size=4)
                      | st.lists(part, max_size=4).map(tuple)
                      | st.dictionaries(TEXT, part, max_size=4), max_leaves=12)


def bits(value):
    """Return a comparable form of any value, as `frozen`; a float by its bits."""
    if isinstance(value, dict):
        return {name: bits(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [bits(part) for part in value]
    if isinstance(value, float):
        return np.float64(value).tobytes()
    return frozen(value)


@given(VALUES)
def test_decoding_restores_the_value(value):
    content = encode(value)
    assert bits(decode(content)) == bits(value)
    assert encode(decode(content)) == content


@given(st.dictionaries(TEXT, PLAIN), st.randoms())
def test_the_order_of_entries_does_not_matter(value, rng):
    items = list(value.items())
    rng.shuffle(items)
    assert encode(dict(items)) == encode(value)


@given(VALUES, st.data())
def test_changed_bytes_give_another_value_or_an_error(value, data):
    content = bytearray(encode(value))
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        other = decode(bytes(content))
    except ValueError:
        return
    assert encode(other) == bytes(content) or bits(other) != bits(value)


@settings(deadline=None)
@given(VALUES, st.data())
def test_truncated_bytes_are_rejected(value, data):
    content = encode(value)
    for part in content[:data.draw(st.integers(0, len(content) - 1))], content + b"N":
        with pytest.raises(ValueError, match="bytes must"):
            decode(part)


def test_bytes_are_pinned():
    """Bytes are the same on every machine, because files are copied between machines."""
    def length(n):
        return n.to_bytes(8, "little")

    value = {"b": [1, -0.0, "é"], "a": np.array([[1, 2]]), "c": (True, None, 2**70)}
    assert encode(value) == b"".join([
        b"D", length(3),
        b"s", length(1), b"a", b"ai\2", length(1), length(2), length(1), length(2),
        b"s", length(1), b"b", b"L", length(3), b"i", length(1), b"d", bytes(7), b"\x80",
        b"s", length(2), b"\xc3\xa9",
        b"s", length(1), b"c", b"P", length(3), b"T", b"N", b"I", length(9), bytes(8), b"\x40"])
    assert encode(np.float64(2.5)) == encode(2.5) and encode(np.int64(3)) == encode(3)
    assert encode(np.bool_(True)) == encode(True) != encode(1) != encode(1.0)
    big = np.array([1, 2], dtype=">i8")
    assert encode(big.astype("<i8")) == encode(np.array([1, 2]))
    assert encode(np.arange(6).reshape(2, 3).T) == encode(np.arange(6).reshape(2, 3).T.copy())


@pytest.mark.parametrize("value, words", [
    ({"kernel": object()}, "state.kernel.*object"), ({1: 2}, "text as keys; got the key 1"),
    ([0, {"x": [set()]}], r"state\[1\].x\[0\].*set"),
    ({"a": np.zeros(2, np.float32)}, "state.a.*float32"), (np.array(["x"]), "state.*<U1"),
    (np.array([None]), "state.*object"), (1j, "state.*complex"), (lambda: 0, "state.*function")])
def test_error_names_the_invalid_part(value, words):
    with pytest.raises(TypeError, match=words):
        encode(value, "state")


def test_deeply_nested_values_are_rejected():
    value = []
    for _ in range(100):
        value = [value]
    with pytest.raises(TypeError, match=r"value(\[0\])+ must"):
        encode(value)
    with pytest.raises(ValueError, match="bytes must"):
        decode(b"L\1\0\0\0\0\0\0\0" * 100_000)


@pytest.mark.parametrize("name", POLICIES)
def test_states_of_policies_are_restored(name):
    state = POLICIES[name]().get_state()
    again = decode(encode(state))
    assert frozen(again) == frozen(state)
    assert {key: type(part) for key, part in again["options"].items()} == {
        key: type(part) for key, part in state["options"].items()}
