"""Canonical encoding of plain values: equal values have equal bytes on every machine.

A value is a tag followed by its content. Numbers take 8 bytes, little-endian. Text, lists
and dicts begin with their length, arrays with their type and shape. Entries of a dict are
sorted by name. Floats keep every bit, so -0.0 and 0.0 differ.
"""

import math
import struct

import numpy as np

# Types of arrays: little-endian on disk, native in memory.
ARRAYS = {b"i": np.dtype("<i8"), b"f": np.dtype("<f8"), b"u": np.dtype("<u8"),
          b"?": np.dtype("?"), b"B": np.dtype("u1")}
CODES = {dtype.newbyteorder("="): code for code, dtype in ARRAYS.items()}
INTEGER, REAL, LENGTH = struct.Struct("<q"), struct.Struct("<d"), struct.Struct("<Q")
DEEPEST = 50


def encode(value, name="value"):
    """Return the bytes of `value`.

    Parameters
    ----------
    value : dict, list, tuple, str, bool, int, float, None or ndarray
        May be nested. Names in a dict must be str; arrays must be int64, float64, uint64,
        uint8 or bool. NumPy scalars are treated as Python numbers.
    name : str
        Name of the value in error messages.

    Raises
    ------
    TypeError
        If a part is of any other type; the message names the part.
    """
    parts = []
    _put(parts.append, value, name, 0)
    return b"".join(parts)


def _put(write, value, name, depth):
    kind = type(value)
    if kind is np.ndarray:
        _put_array(write, value, name)
    elif value is None:
        write(b"N")
    elif kind is bool or kind is np.bool_:
        write(b"T" if value else b"F")
    elif kind is int or isinstance(value, np.integer):
        _put_integer(write, int(value))
    elif kind is float or kind is np.float64:
        write(b"d" + REAL.pack(value))
    elif kind is str:
        _put_sized(write, b"s", value.encode("utf-8", "surrogatepass"))
    elif kind is bytes:
        _put_sized(write, b"b", value)
    elif kind in (list, tuple, dict) and depth < DEEPEST:
        _put_many(write, value, name, depth)
    else:
        raise TypeError(f"{name} must be made of dicts, lists, text, numbers and arrays of "
                        f"int64, float64, uint64, uint8 or bool; got {kind.__name__}")


def _put_sized(write, tag, content):
    write(tag + LENGTH.pack(len(content)))
    write(content)


def _put_integer(write, value):
    if -(2**63) <= value < 2**63:
        write(b"i" + INTEGER.pack(value))
    else:
        size = value.bit_length() // 8 + 1
        _put_sized(write, b"I", value.to_bytes(size, "little", signed=True))


def _put_array(write, value, name):
    code = CODES.get(value.dtype)
    if code is None:
        raise TypeError(f"{name} must be an array of int64, float64, uint64, uint8 or bool; got "
                        f"dtype {value.dtype}")
    write(b"a" + code + bytes([value.ndim]) + b"".join(map(LENGTH.pack, value.shape)))
    write(np.asarray(value, dtype=ARRAYS[code]).tobytes())


def _put_many(write, value, name, depth):
    if isinstance(value, dict):
        for key in value:
            if type(key) is not str:
                raise TypeError(f"{name} must have text as keys; got the key {key!r}")
        write(b"D" + LENGTH.pack(len(value)))
        for key in sorted(value):
            _put_sized(write, b"s", key.encode("utf-8", "surrogatepass"))
            _put(write, value[key], f"{name}.{key}", depth + 1)
        return
    write((b"L" if isinstance(value, list) else b"P") + LENGTH.pack(len(value)))
    for at, part in enumerate(value):
        _put(write, part, f"{name}[{at}]", depth + 1)


def decode(content):
    """Return the value that `encode` turned into these bytes; arrays are writable copies.

    Raises
    ------
    ValueError
        If the bytes are invalid or hold more than one value; the message names the byte.
    """
    content = bytes(content)
    try:
        value, end = _value(content, 0, 0)
    except (struct.error, RecursionError) as error:
        raise ValueError(f"bytes must encode a value; cannot decode them: {error}") from error
    if end != len(content):
        raise ValueError(f"bytes must end with the value, at byte {end}; got {len(content)}")
    return value


# Each function below returns the value that starts at a byte, and the byte at which it ends.

def _value(content, at, depth):
    tag = content[at:at + 1]
    read = READERS.get(tag)
    if read is None or depth > DEEPEST:
        raise ValueError(f"bytes must encode a value; got the tag {tag!r} at byte {at}")
    return read(content, at + 1, depth)


def _sized(content, at, depth):
    """Return the bytes of a value that begins with its length."""
    (size,) = LENGTH.unpack_from(content, at)
    _check_held(content, at + 8, size)
    return content[at + 8:at + 8 + size], at + 8 + size


def _check_held(content, at, size):
    """Raise ValueError if fewer than `size` bytes are left: a wrong size may exceed the memory."""
    if size > len(content) - at:
        raise ValueError(f"bytes must hold {size} more from byte {at} on; got "
                         f"{len(content) - at}")


def _text(content, at, depth):
    taken, end = _sized(content, at, depth)
    try:
        return taken.decode("utf-8", "surrogatepass"), end
    except UnicodeDecodeError as error:
        raise ValueError(f"bytes must be text from byte {at + 8} on; got {error}") from error


def _large(content, at, depth):
    taken, end = _sized(content, at, depth)
    return int.from_bytes(taken, "little", signed=True), end


def _array(content, at, depth):
    dtype, n_axes = ARRAYS.get(content[at:at + 1]), content[at + 1:at + 2]
    if dtype is None or not n_axes:
        raise ValueError(f"bytes must name the type of an array; got {content[at:at + 2]!r} at "
                         f"byte {at}")
    shape = struct.unpack_from(f"<{n_axes[0]}Q", content, at + 2)
    start, size = at + 2 + 8 * n_axes[0], math.prod(shape)
    _check_held(content, start, size * dtype.itemsize)
    flat = np.frombuffer(content, dtype, size, start).astype(dtype.newbyteorder("="))
    return flat.reshape(shape), start + size * dtype.itemsize


def _entries(content, at, depth):
    (n,), at = LENGTH.unpack_from(content, at), at + 8
    value, last = {}, None
    for _ in range(n):
        key, end = _value(content, at, depth + 1)
        if type(key) is not str or (last is not None and key <= last):
            raise ValueError(f"bytes must hold the entries of a dict in the order of their names; "
                             f"got {key!r} at byte {at}")
        value[key], at = _value(content, end, depth + 1)
        last = key
    return value, at


def _values(content, at, depth):
    (n,), at = LENGTH.unpack_from(content, at), at + 8
    values = []
    for _ in range(n):
        value, at = _value(content, at, depth + 1)
        values.append(value)
    return values, at


def _tuple(content, at, depth):
    values, end = _values(content, at, depth)
    return tuple(values), end


READERS = {
    b"N": lambda content, at, depth: (None, at),
    b"T": lambda content, at, depth: (True, at),
    b"F": lambda content, at, depth: (False, at),
    b"i": lambda content, at, depth: (INTEGER.unpack_from(content, at)[0], at + 8),
    b"d": lambda content, at, depth: (REAL.unpack_from(content, at)[0], at + 8),
    b"I": _large, b"s": _text, b"b": _sized, b"a": _array,
    b"L": _values, b"P": _tuple, b"D": _entries,
}


def flat(arrays, dtypes):
    """Return True if these are one-dimensional arrays of equal sizes with these dtypes."""
    return all(isinstance(array, np.ndarray) and array.shape == (arrays[0].size,)
               and array.dtype == dtype for array, dtype in zip(arrays, dtypes, strict=True))
