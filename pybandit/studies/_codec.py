"""Canonical bytes of plain values: the same value, the same bytes, on every machine.

A value is one tag and its content: numbers in 8 bytes, little-endian; text, lists and
dicts after their length; an array after its type and shape. Entries of a dict are in
the order of their names. Floats keep every bit, so that -0.0 and 0.0 differ.
"""

import struct

import numpy as np

# little-endian on disk, native in memory
ARRAYS = {b"i": np.dtype("<i8"), b"f": np.dtype("<f8"), b"u": np.dtype("<u8"),
          b"?": np.dtype("?"), b"B": np.dtype("u1")}
CODES = {dtype.newbyteorder("="): code for code, dtype in ARRAYS.items()}
INTEGER, REAL, LENGTH = struct.Struct("<q"), struct.Struct("<d"), struct.Struct("<Q")
DEEPEST = 50


def encode(value, name="value"):
    """The bytes of `value`.

    Parameters
    ----------
    value : dict, list, tuple, str, bool, int, float, None or ndarray
        Nested; names of a dict are str, arrays int64, float64, uint64, uint8 or bool.
        NumPy's scalars count as the numbers they are.
    name : str
        What the value is called where part of it is refused.

    Raises
    ------
    TypeError
        Where a part is anything else; names the part.
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
                raise TypeError(f"{name} must have names that are text; got {key!r}")
        write(b"D" + LENGTH.pack(len(value)))
        for key in sorted(value):
            _put_sized(write, b"s", key.encode("utf-8", "surrogatepass"))
            _put(write, value[key], f"{name}.{key}", depth + 1)
        return
    write((b"L" if isinstance(value, list) else b"P") + LENGTH.pack(len(value)))
    for at, part in enumerate(value):
        _put(write, part, f"{name}[{at}]", depth + 1)


def decode(content):
    """The value whose `encode` these bytes are; arrays are writable copies.

    Raises
    ------
    ValueError
        Where they are nobody's, or more than one value's; says at which byte.
    """
    reader = _Reader(content)
    try:
        value = reader.value(0)
    except (struct.error, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"bytes must be those of a value; got otherwise at byte {reader.at}: "
                         f"{error}") from error
    if reader.at != len(reader.content):
        raise ValueError(f"bytes must end with the value, at byte {reader.at}; got "
                         f"{len(reader.content)}")
    return value


class _Reader:
    """A place in bytes."""

    def __init__(self, content):
        self.content, self.at = bytes(content), 0

    def skip(self, size):
        """Where the next `size` bytes begin, which are there."""
        start = self.at
        if size > len(self.content) - start:
            raise ValueError(f"bytes must hold {size} more at byte {start}; got "
                             f"{len(self.content) - start}")
        self.at += size
        return start

    def take(self, size):
        start = self.skip(size)
        return self.content[start:start + size]

    def length(self):
        return LENGTH.unpack(self.take(8))[0]

    def value(self, depth):
        tag = self.take(1)
        read = self.READERS.get(tag)
        if read is None or depth > DEEPEST:
            raise ValueError(f"bytes must be those of a value; got {tag!r} at byte {self.at - 1}")
        return read(self, depth)

    def array(self, depth):
        code, n_axes = self.take(1), self.take(1)[0]
        if code not in ARRAYS:
            raise ValueError(f"bytes must name a type of arrays; got {code!r} at byte {self.at}")
        shape = [self.length() for _ in range(n_axes)]
        size = ARRAYS[code].itemsize
        for length in shape:
            size *= length
        start = self.skip(size)
        flat = np.frombuffer(self.content, ARRAYS[code], size // ARRAYS[code].itemsize, start)
        return flat.astype(flat.dtype.newbyteorder("=")).reshape(shape)

    def text(self, depth):
        return self.take(self.length()).decode("utf-8", "surrogatepass")

    def entries(self, depth):
        value, last = {}, None
        for _ in range(self.length()):
            key = self.value(depth + 1)
            if type(key) is not str or (last is not None and key <= last):
                raise ValueError(f"bytes must name entries in order; got {key!r} at byte {self.at}")
            value[key], last = self.value(depth + 1), key
        return value

    def values(self, depth):
        return [self.value(depth + 1) for _ in range(self.length())]

    READERS = {
        b"N": lambda self, depth: None,
        b"T": lambda self, depth: True,
        b"F": lambda self, depth: False,
        b"i": lambda self, depth: INTEGER.unpack(self.take(8))[0],
        b"I": lambda self, depth: int.from_bytes(self.take(self.length()), "little", signed=True),
        b"d": lambda self, depth: REAL.unpack(self.take(8))[0],
        b"s": text,
        b"b": lambda self, depth: self.take(self.length()),
        b"a": array,
        b"L": values,
        b"P": lambda self, depth: tuple(self.values(depth)),
        b"D": entries,
    }
