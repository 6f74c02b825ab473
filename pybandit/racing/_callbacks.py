"""Find the address and the data of compiled functions, and check their signatures.

`scipy.LowLevelCallable` reads ctypes and cffi pointers. It does not accept numba functions or
data in arrays, and it compares signatures as text; this module adds these parts.
"""

import ctypes
import re
import sys
from dataclasses import dataclass, field

import numpy as np

from pybandit._shared.checks import is_masked

EXPECTED = ("int (const int64_t *factors, int64_t n_factors, const int64_t *states, "
            "int64_t n_states, double *out, void *user_data)")

# SciPy compares the text of signatures. Cython, ctypes, cffi and numba spell these types
# differently, so the text is matched without qualifiers and without spaces next to punctuation.
_INT = r"int|int32(?:_t)?|__pyx_t_\w*_int32_t|signed(?: int)?"
_INT64 = r"int64(?:_t)?|npy_int64|__pyx_t_\w*_int64_t|(?:signed )?long ?long(?: int)?"
if ctypes.sizeof(ctypes.c_long) == 8:
    _INT64 += r"|(?:signed )?long(?: int)?"
_NAME = r"(?!(?:char|double|float|int|long|short|signed|unsigned)\b)\w+"


def _one(kind):
    return rf"(?:{kind})(?: {_NAME})?"


def _pointer(kind):
    return rf"(?:{kind})(?:\*(?:{_NAME})?|(?: {_NAME})?\[\w*\])"


# user_data may be declared as a pointer to any type
_SIGNATURE = re.compile(
    _one(_INT) + r"(?:\(\*\w*\))?\("
    + ",".join([_pointer(_INT64), _one(_INT64)] * 2 + [_pointer("double|float64")])
    + r",[^,()]*[*\[][^,()]*\)")

_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p,
                              ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_PYTHON_API = 4  # FUNCFLAG_PYTHONAPI: a function that needs the GIL


def _of_python(result, name, *arguments):
    """Return a function of Python's C API; setting its types here affects no other module."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_capsule_name = _of_python(ctypes.c_char_p, "PyCapsule_GetName", ctypes.py_object)
_capsule_context = _of_python(ctypes.c_void_p, "PyCapsule_GetContext", ctypes.py_object)
_capsule_pointer = _of_python(ctypes.c_void_p, "PyCapsule_GetPointer", ctypes.py_object,
                              ctypes.c_char_p)


@dataclass(frozen=True)
class Callback:
    """Addresses of a compiled function with a checked signature, and the objects they need."""

    function: int
    user_data: int
    kept: tuple = field(compare=False, repr=False)
    # appended to the error message about a NaN
    explained: str = field(default=(
        "; the compiled function did not write this entry, or wrote nan (a numba function that "
        "raises leaves entries unwritten)"), repr=False)

    def evaluate(self, indices, states):
        """Return the values of these pairs, shape (n, k); NaN if the function writes none."""
        out = np.full((indices.size, states.size), np.nan)
        status = _PROTOTYPE(self.function)(indices.ctypes.data, indices.size,
                                           states.ctypes.data, states.size,
                                           out.ctypes.data, self.user_data)
        if status:
            raise RuntimeError(f"the compiled function of Factors must return 0; got status "
                               f"{status}")
        return out


@dataclass(frozen=True, eq=False)
class BoundFunction:
    """A compiled function together with its data, as returned by `pybandit.numba`."""

    function: object
    user_data: object
    arguments: tuple = ()
    explained: str = Callback.explained


def as_callback(function, user_data=None):
    """Return the `Callback` of a compiled function, or None for any other object."""
    if isinstance(function, BoundFunction):
        _refuse_second(user_data)
        inner = as_callback(function.function, function.user_data)
        return Callback(inner.function, inner.user_data, (function, *inner.kept),
                        function.explained)
    found = _recognise(function)
    if found is None:
        return None
    kind, address, signature, own_data = found
    _check_signature(kind, signature)
    if not address:
        raise ValueError(f"function must not be a null pointer; got {function!r}")
    if own_data:
        _refuse_second(user_data)
    return Callback(address, own_data or _address_of(user_data), (function, user_data))


def _refuse_second(user_data):
    if user_data is not None:
        raise ValueError(f"user_data must be None for a function that has its own data; got "
                         f"{type(user_data).__name__}")


def _recognise(function):
    """Return (kind, address, signature as text, address of its own data), or None."""
    origin = type(function).__module__
    if origin.startswith("numba.") and hasattr(function, "native_name"):
        return "numba cfunc", function.address, _signature_of_numba(function._sig), 0
    if type(function).__name__ == "PyCapsule":
        return ("PyCapsule", *_parts_of_capsule(function))
    kind, inner = None, function
    if type(function).__name__ == "LowLevelCallable":
        kind, inner = "scipy.LowLevelCallable", function.function
    elif isinstance(function, ctypes._CFuncPtr):
        kind = "ctypes function pointer"
    elif origin == "_cffi_backend" and isinstance(function, sys.modules[origin].FFI().CData):
        kind = "cffi pointer"
    if kind is None:
        return None
    if getattr(inner, "_flags_", 0) & _PYTHON_API:
        return kind, 0, "a function that needs the GIL (ctypes.PYFUNCTYPE)", 0
    if getattr(inner, "argtypes", ()) is None:
        return kind, 0, "a function without argtypes", 0
    if not inner:  # a null pointer, which SciPy rejects
        return kind, 0, EXPECTED, 0
    from scipy import LowLevelCallable

    return (kind, *_parts_of_capsule(tuple.__getitem__(LowLevelCallable(function), 0)))


def _parts_of_capsule(capsule):
    name = _capsule_name(capsule)
    return (_capsule_pointer(capsule, name), (name or b"").decode(errors="replace"),
            _capsule_context(capsule) or 0)


def _signature_of_numba(signature):
    types = [str(signature.return_type), *map(str, signature.args)]
    if types[-1].endswith("*"):  # the text of a pointer to a record lists all its fields
        types[-1] = "void*"
    return f"{types[0]} ({', '.join(types[1:])})"


def _check_signature(kind, signature):
    text = re.sub(r"\b(const|volatile|restrict|__restrict)\b", " ", signature)
    text = re.sub(r"\s*([*(),\[\]])\s*", r"\1", " ".join(text.split()))
    if not _SIGNATURE.fullmatch(text):
        raise TypeError(f"function must have the signature {EXPECTED}; got a {kind} of "
                        f"{signature or 'no signature'}")


def _pointer_value(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _address_of(data):
    """Return the address that the compiled function receives for this user_data."""
    if data is None:
        return 0
    if isinstance(data, np.ndarray):
        if not data.flags.c_contiguous or not data.flags.aligned:
            raise ValueError(f"user_data must be C-contiguous and aligned; got an array of shape "
                             f"{data.shape} and strides {data.strides}")
        if is_masked(data):
            raise ValueError("user_data must not have masked entries: the function would read them")
        return data.ctypes.data
    if isinstance(data, (int, np.integer)) and not isinstance(data, bool):
        if not 0 <= data < 1 << 8 * ctypes.sizeof(ctypes.c_void_p):
            raise ValueError(f"user_data must be an address; got {data}")
        return int(data)
    if isinstance(data, (ctypes.c_void_p, ctypes._Pointer, ctypes._CFuncPtr)):
        return _pointer_value(data)
    if isinstance(data, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)):
        return ctypes.addressof(data)
    if type(data).__name__ == "PyCapsule":
        return _capsule_pointer(data, _capsule_name(data))
    if type(data).__module__ == "_cffi_backend":
        ffi = sys.modules["_cffi_backend"].FFI()
        if isinstance(data, ffi.CData) and ffi.typeof(data).kind in ("pointer", "array"):
            return int(ffi.cast("uintptr_t", data))
    raise TypeError(f"user_data must be None, an address, a ctypes object, a cffi pointer or a "
                    f"NumPy array; got {type(data).__name__}")
