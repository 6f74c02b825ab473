"""Pass data from C to functions compiled by numba: views of arrays, numbers, random bits.

A compiled function gets its data as one block of eight-byte words: the address and shape of an
array, the value of a number. `Rules` are functions that receive the values named by their
parameters.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pybandit._shared.checks import LARGEST, is_masked, shown
from pybandit._shared.optional import require

numba = require("numba", "numba")
cgutils = require("numba.core.cgutils", "numba")
types = numba.types

# Returned by a rule that raised an exception; neither an arm nor a flag.
FAILED = -(2**63)
# options of rules: index checks have no measurable cost; NumPy's division can be vectorised
DEFAULTS = {"boundscheck": True, "error_model": "numpy"}
# alignment of arrays in a block of memory, in bytes
ALIGNMENT = 16


@numba.extending.intrinsic
def pointer(typing_context, address):
    """Convert an integer address to a pointer."""
    def generate(context, builder, signature, values):
        return builder.inttoptr(values[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate


@numba.extending.intrinsic
def read_only(typing_context, array):
    """Return the array with a type that numba does not allow to be written to."""
    return array.copy(readonly=True)(array), lambda context, builder, signature, values: values[0]


@numba.extending.intrinsic
def generator_at(typing_context, bits):
    """Return a NumPy Generator on bits owned by C: numba's struct without a Python object."""
    bit_generator = types.NumPyRandomBitGeneratorType("bit_generator")

    def generate(context, builder, signature, values):
        word = context.get_value_type(types.uintp)
        first = builder.bitcast(values[0], word.as_pointer())
        inner = cgutils.create_struct_proxy(bit_generator)(context, builder)
        names = ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")
        for at, name in enumerate(names):
            setattr(inner, name, builder.load(
                builder.gep(first, [context.get_constant(types.intp, at)])))
        inner.state_address = inner.state
        outer = cgutils.create_struct_proxy(types.npy_rng)(context, builder)
        outer.bit_generator = inner._getvalue()
        return outer._getvalue()

    return types.npy_rng(types.voidptr), generate


SCOPE = {"carray": numba.carray, "int64": np.int64, "float64": np.float64, "pointer": pointer,
         "read_only": read_only, "generator_at": generator_at, "FAILED": FAILED,
         "NAN": math.nan}


def pack(what, value):
    """Return the type (dtype, dimensions; None for a number) of a value, and its data words."""
    if isinstance(value, np.ndarray):
        if not (value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative
                ) or is_masked(value):
            raise ValueError(f"arrays must be C-contiguous, aligned, of native byte order and "
                             f"without masks, because they are not copied; got shape "
                             f"{value.shape}, strides {value.strides}, {value.dtype.str} as "
                             f"{what}")
        if value.dtype.hasobject or value.ndim == 0:
            raise TypeError(f"arrays must hold numbers and have a dimension; got "
                            f"{value.dtype} of shape {value.shape} as {what}")
        return (value.dtype, value.ndim), np.array([value.ctypes.data, *value.shape], np.int64)
    if isinstance(value, (bool, np.bool_)):
        return (np.dtype(bool), None), np.array([value], np.int64)
    if isinstance(value, (int, np.integer)):
        if not -LARGEST <= value <= LARGEST:
            raise ValueError(f"bound integers must fit int64; got {shown(value)} as {what}")
        return (np.dtype(np.int64), None), np.array([value], np.int64)
    if isinstance(value, (float, np.floating)):
        return (np.dtype(np.float64), None), np.array([value], np.float64).view(np.int64)
    raise TypeError(f"bound arguments must be arrays or numbers; got {type(value).__name__} as "
                    f"{what}")


def unpack(at, dtype, n_dimensions, name):
    """Return the expression that reads an argument from its words."""
    if n_dimensions is None:
        return {"b": f"words[{at}] != 0", "i": f"words[{at}]", "f": f"reals[{at}]"}[dtype.kind]
    shape = "".join(f"words[{at + 1 + axis}], " for axis in range(n_dimensions))
    return f"carray(pointer(words[{at}]), ({shape}), {name})"


def width(n_dimensions):
    """Return the number of words of an argument."""
    return 1 if n_dimensions is None else 1 + n_dimensions


@dataclass(frozen=True)
class Face:
    """The C signature of a rule, and the values that its function may take."""

    signature: Any                    # for numba.cfunc
    arguments: str                    # names of the C arguments, the last one `data`
    given: Mapping[str, str]          # value that a function may take -> its expression
    types: Mapping[str, Any]          # value -> its numba type
    failed: str                       # expression returned after an exception


@dataclass(frozen=True)
class Role:
    """The purpose of a function."""

    names: frozenset                  # names in `given` that the function may take
    result: str = ""                  # description of its result for messages; "" for none
    kinds: tuple = ()                 # numba types of the result
    writes: bool = True               # True if it may write to arrays among its options


class BoundRules(NamedTuple):
    """Compiled rules and the memory with their options."""

    addresses: dict                   # role -> address of the C function
    words: np.ndarray
    memory: np.ndarray                # all arrays, one after the other
    arrays: dict                      # views of `memory`


class Rules:
    """Functions by role, compiled once for every combination of types of their options.

    A parameter of a function names a value of the run, or an option. All functions share options.
    """

    def __init__(self, name: str, face: Face, roles: Mapping[str, Role],
                 functions: Mapping[str, Callable | None], njit: dict[str, Any]) -> None:
        self.name, self.face, self.roles = name, face, roles
        self.jitted, self.parameters, self.defaults = {}, {}, {}
        self._compiled = {}
        for role, function in functions.items():
            if function is None:
                continue
            function = getattr(function, "py_func", function)
            if not callable(function):
                raise TypeError(f"{role} must be a function; got {shown(function)}")
            self.parameters[role] = self._read(role, function)
            self.jitted[role] = numba.njit(**DEFAULTS | njit)(function)

    def _read(self, role, function):
        """Return the names of a function's parameters; add options to `defaults`."""
        names = []
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
                raise TypeError(f"{role} of {self.name} must take only named parameters; got "
                                f"{parameter}")
            reserved = name in self.face.given or name in ("rng", "n_arms", "self")
            if reserved and name not in self.roles[role].names:
                raise TypeError(f"{role} of {self.name} may only take "
                                f"{', '.join(sorted(self.roles[role].names))} and options, "
                                f"not the reserved name {name}")
            names.append(name)
            if not reserved:
                default = parameter.default
                known = self.defaults.setdefault(name, default)
                if known is parameter.empty:
                    self.defaults[name] = default
                elif not (default is parameter.empty or default is known
                          or np.array_equal(default, known)):  # they may be arrays
                    raise TypeError(f"{name} must have the same default; got {shown(known)} and "
                                    f"{shown(default)} in functions of {self.name}")
        return names

    def names(self, *words: str) -> bool:
        """Return True if a function takes one of these values."""
        return any(word in taken for taken in self.parameters.values() for word in words)

    def checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return a value for every option; arrays are private copies."""
        values = {}
        for name in options:
            if name not in self.defaults:
                raise TypeError(f"options of {self.name} must be among {sorted(self.defaults)}; "
                                f"got {shown(name)}")
        for name, default in self.defaults.items():
            value = options.get(name, default)
            if value is inspect.Parameter.empty:
                raise TypeError(f"{name} must be given to {self.name}; got nothing")
            if isinstance(value, (list, tuple)):
                value = np.array(value)
            pack(f"option {name}", value)
            values[name] = value.copy() if isinstance(value, np.ndarray) else value
        return values

    def bound(self, values: Mapping[str, Any]) -> BoundRules:
        """Return the compiled rules with private memory that holds these values."""
        sizes = [-(-value.nbytes // ALIGNMENT) * ALIGNMENT if isinstance(value, np.ndarray) else 0
                 for value in values.values()]
        memory = np.zeros(sum(sizes) + 1, dtype=np.uint8)
        arrays, kinds, words, at = {}, {}, [np.zeros(1, np.int64)], 0
        for (name, value), size in zip(values.items(), sizes, strict=True):
            if isinstance(value, np.ndarray):
                own = memory[at:at + value.nbytes].view(value.dtype).reshape(value.shape)
                own[...] = value
                arrays[name] = value = own
            kinds[name], packed = pack(f"option {name}", value)
            words.append(packed)
            at += size
        key = tuple(kinds.values())
        if key not in self._compiled:
            self._compiled[key] = {role: self._compile(role, kinds) for role in self.jitted}
        addresses = {role: compiled.address for role, compiled in self._compiled[key].items()}
        return BoundRules(addresses, np.concatenate(words), memory, arrays)

    def _compile(self, role, kinds):
        """Compile the C function of a role for options of these types."""
        face, spec = self.face, self.roles[role]
        scope, found, typed, at = {**SCOPE, "function": self.jitted[role]}, {}, {}, 1
        for name, (dtype, n_dimensions) in kinds.items():
            scope[f"dtype_{name}"] = dtype
            found[name] = unpack(at, dtype, n_dimensions, f"dtype_{name}")
            typed[name] = numba.from_dtype(dtype)
            if n_dimensions is not None:
                typed[name] = types.Array(typed[name], n_dimensions, "C",
                                          readonly=not spec.writes)
                if not spec.writes:
                    found[name] = f"read_only({found[name]})"
            at += width(n_dimensions)
        found, typed = {**found, **face.given}, {**typed, **face.types}
        taken = self.parameters[role]
        self._check_result(role, tuple(typed[name] for name in taken))
        call = f"function({', '.join(found[name] for name in taken)})"
        source = "\n".join([
            f"def rule({face.arguments}):",
            f"    words = carray(data, ({at},), int64)",
            f"    reals = carray(data, ({at},), float64)",
            "    try:",
            f"        {f'return {face.signature.return_type}({call})' if spec.result else call}",
            "    except Exception:",
            f"        return {face.failed}",
            "    return 0"])
        exec(source, scope)
        return numba.cfunc(face.signature)(scope["rule"])

    def _check_result(self, role, arguments):
        """Refuse a function whose return type does not fit its role, before it is called."""
        jitted, spec = self.jitted[role], self.roles[role]
        jitted.compile(arguments)
        found = jitted.overloads[arguments].signature.return_type
        if spec.result and not isinstance(found, spec.kinds):
            raise TypeError(f"{role} of {self.name} must return {spec.result} on every path; "
                            f"numba finds {found}")

    def exception(self, role: str, values: Mapping[str, Any]) -> Exception | None:
        """Call the function again with these values; return its exception, or None."""
        try:
            self.jitted[role](*[values[name] for name in self.parameters[role]])
        except Exception as error:
            return error
        return None
