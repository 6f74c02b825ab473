"""Compiled functions as they come: which address to call, with what data, and what to keep.

numba and cffi are never imported here: an object of theirs brought them along.
"""

import ctypes
import re
import sys
from dataclasses import dataclass, field

import numpy as np

from pybandit._shared.checks import is_masked

EXPECTED = ("int (const int64_t *factors, int64_t n_factors, const int64_t *states, "
            "int64_t n_states, double *out, void *user_data)")
# what EXPECTED is in the spelling of `_normalise`
KINDS = ("int", "int64 *", "int64", "int64 *", "int64", "double *", "void *")

_INT64 = ["int64_t", "int64", "npy_int64", "long long", "long long int", "signed long long",
          "signed long long int"]
if ctypes.sizeof(ctypes.c_long) == 8:
    _INT64 += ["long", "long int", "signed long", "signed long int"]
TYPES = {
    **dict.fromkeys(_INT64, "int64"),
    **dict.fromkeys(["int", "int32", "int32_t", "signed", "signed int"], "int"),
    **dict.fromkeys(["double", "float64"], "double"),
    **dict.fromkeys(["void", "none"], "void"),
}
_NO_NAMES = {"char", "double", "float", "int", "long", "short", "signed", "unsigned"}

_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p,
                              ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_PYTHON_API = 4  # FUNCFLAG_PYTHONAPI: a function that wants the GIL


def _of_python(result, name, *arguments):
    """A function of Python's C interface; this instance of it is ours alone."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_capsule_name = _of_python(ctypes.c_char_p, "PyCapsule_GetName", ctypes.py_object)
_capsule_context = _of_python(ctypes.c_void_p, "PyCapsule_GetContext", ctypes.py_object)
_capsule_pointer = _of_python(ctypes.c_void_p, "PyCapsule_GetPointer", ctypes.py_object,
                              ctypes.c_char_p)


@dataclass(frozen=True)
class Callback:
    """A compiled function of checked signature: addresses, and the objects behind them."""

    function: int
    user_data: int
    kept: tuple = field(compare=False, repr=False)
    # what a NaN that was read means
    explained: str = field(default=(
        "; the compiled function left it out or wrote nan there (a numba function that raises "
        "does so)"), repr=False)

    def evaluate(self, indices, states):
        """What the function writes for these pairs; NaN where it writes nothing."""
        out = np.full((indices.size, states.size), np.nan)
        status = _PROTOTYPE(self.function)(indices.ctypes.data, indices.size,
                                           states.ctypes.data, states.size,
                                           out.ctypes.data, self.user_data)
        if status:
            raise RuntimeError(f"the compiled function of Factors returned status {status}")
        return out


@dataclass(frozen=True, eq=False)
class Bound:
    """A compiled function that comes with its data, as `pybandit.numba` binds it."""

    function: object
    user_data: object
    arguments: tuple = ()
    explained: str = Callback.explained


def as_callback(function, user_data=None):
    """The `Callback` of a compiled function; None for any other object."""
    if isinstance(function, Bound):
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
        raise ValueError(f"user_data must be left out where the function brings its own; got "
                         f"{type(user_data).__name__}")


def _recognise(function):
    """(what it is, address, signature as text, address of its own data), or None."""
    origin = type(function).__module__
    if type(function).__name__ == "LowLevelCallable":
        address, signature, own_data = _parts_of_capsule(tuple.__getitem__(function, 0))
        if getattr(function.function, "_flags_", 0) & _PYTHON_API:
            signature = _signature_of_ctypes(function.function)
        return "scipy.LowLevelCallable", address, signature, own_data
    if type(function).__name__ == "PyCapsule":
        return ("PyCapsule", *_parts_of_capsule(function))
    if origin.startswith("numba.") and hasattr(function, "native_name"):
        return "numba cfunc", function.address, _signature_of_numba(function._sig), 0
    if isinstance(function, ctypes._CFuncPtr):
        return ("ctypes function pointer", _pointer_value(function),
                _signature_of_ctypes(function), 0)
    if origin == "_cffi_backend":
        ffi = sys.modules["_cffi_backend"].FFI()
        if isinstance(function, ffi.CData):
            return ("cffi pointer", int(ffi.cast("uintptr_t", function)),
                    ffi.typeof(function).cname, 0)
    return None


def _parts_of_capsule(capsule):
    name = _capsule_name(capsule)
    return (_capsule_pointer(capsule, name), (name or b"").decode(errors="replace"),
            _capsule_context(capsule) or 0)


def _signature_of_numba(signature):
    types = [str(signature.return_type), *map(str, signature.args)]
    if types[-1].endswith("*"):  # its text may be that of a whole record
        types[-1] = "void*"
    return f"{types[0]} ({', '.join(types[1:])})"


def _signature_of_ctypes(function):
    if function._flags_ & _PYTHON_API:
        return "a function that needs the GIL (ctypes.PYFUNCTYPE)"
    if function.argtypes is None:
        return "a function without argtypes"
    arguments = ", ".join(map(_name_of_ctype, function.argtypes))
    return f"{_name_of_ctype(function.restype)} ({arguments})"


def _name_of_ctype(kind):
    if kind is None:
        return "void"
    if kind is ctypes.c_void_p:
        return "void *"
    if isinstance(kind, type) and issubclass(kind, ctypes._Pointer):
        return f"{_name_of_ctype(kind._type_)} *"
    if kind in (ctypes.c_int64, ctypes.c_longlong):
        return "int64_t"
    return {ctypes.c_int: "int", ctypes.c_double: "double"}.get(kind, kind.__name__)


def _check_signature(kind, signature):
    got = _normalise(signature)
    # untyped data may be declared as a pointer to whatever it is
    if got is None or got[:-1] != KINDS[:-1] or "*" not in got[-1]:
        raise TypeError(f"function must have the signature {EXPECTED}; got a {kind} of "
                        f"{signature or 'no signature'}")


def _normalise(signature):
    """Result and parameters, one word each; None where this is no function's signature."""
    match = re.fullmatch(r"([\w\s*]+?)(?:\(\s*\*\s*\w*\s*\))?\s*\(([^()]*)\)", signature.strip())
    if match is None:
        return None
    result, parameters = match.groups()
    return tuple(map(_normalise_type, [result, *parameters.split(",")]))


def _normalise_type(text):
    """A type without const and the parameter's name, and in one spelling."""
    text = re.sub(r"\b(const|volatile|restrict|__restrict)\b", " ", text)
    # Cython's name of a typedef in another module
    text = re.sub(r"\b__pyx_t_\w*?(int64_t|int32_t)\b", r"\1", text)
    n_stars = text.count("*") + text.count("[")
    words = re.findall(r"\w+", text)
    if len(words) > 1 and words[-1] not in _NO_NAMES and " ".join(words) not in TYPES:
        words.pop()  # the parameter's name
    text = " ".join(words)
    return f"{TYPES.get(text, text)} {'*' * n_stars}".rstrip()


def _pointer_value(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _address_of(data):
    """The address that a compiled function gets for this user_data."""
    if data is None:
        return 0
    if isinstance(data, np.ndarray):
        if not data.flags.c_contiguous or not data.flags.aligned:
            raise ValueError(f"user_data must be C-contiguous and aligned; got an array of shape "
                             f"{data.shape} and strides {data.strides}")
        if is_masked(data):
            raise ValueError("user_data must have no masked entries: the function would read them")
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
