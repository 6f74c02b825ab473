"""Functions shared by benchmarks: results by group and role, sizes, and addresses for ctypes."""

import ctypes
import re
from pathlib import Path
from typing import NamedTuple

RESULTS = {}
QUICK = False  # set before the benchmarks are imported
TOOL = re.compile(r"(bare|limit|plain|loop in Python|NumPy|numba|Python|scikit-learn)\b")


class Timed(NamedTuple):
    """Seconds per call of a role, and True if the role is ours, not a rival or a limit."""

    seconds: float
    is_ours: bool


def size(full, quick):
    """Return `full`, or `quick` if every benchmark only runs once."""
    return quick if QUICK else full


def last_cache():
    """Return the size of the last cache in bytes; 32 MiB if the system does not say."""
    found = [32 << 20]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        digits = path.read_text().strip().removesuffix("K")
        if digits.isdigit():
            found.append(int(digits) << 10)
    return max(found[1:], default=found[0])


def record(group, role, seconds, is_ours=None):
    """Record the time of a role.

    By default the first role of a group is its limit, roles whose names start with another tool
    are rivals, and the others are ours.
    """
    roles = RESULTS.setdefault(group, {})
    if is_ours is None:
        is_ours = bool(roles) and not TOOL.match(role)
    roles[role] = Timed(seconds, is_ours)


def ratios(results):
    """Return a dict for each pair of our role and a rival or limit in the same group.

    In a group without a rival the first role is the limit.
    """
    rows = []
    for group, roles in results.items():
        others = [role for role, timed in roles.items() if not timed.is_ours]
        is_all_ours, others = not others, others or [*roles][:1]
        ours = [role for role in roles if role not in others]
        rows += [dict(benchmark=group, ours=role, rival=other,
                      ours_seconds=roles[role].seconds, rival_seconds=roles[other].seconds,
                      ratio=roles[role].seconds / roles[other].seconds)
                 for other in others for role in (ours if is_all_ours else compared(other, ours))]
    return rows


def compared(other, ours):
    """Return the roles with the rule that a rival names, as in "NumPy GPUCB"; all if none has."""
    rule = letters(TOOL.sub("", other, count=1).partition(",")[0])
    return [role for role in ours if rule in letters(role)] or ours


def letters(text):
    """Return the letters and digits of a text, in lower case."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def pointer(array):
    """Return the address of an array, for ctypes."""
    return ctypes.c_void_p(array.ctypes.data)


def bits_of(generator):
    """Return the address of the bitgen_t of a Generator."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_void_p(get(generator.bit_generator.capsule, b"BitGenerator"))
