"""What benchmarks share: results by group and role, and addresses for ctypes."""

import ctypes

RESULTS = {}


def pointer(array):
    """The address of an array, for ctypes."""
    return ctypes.c_void_p(array.ctypes.data)


def bits_of(generator):
    """The address of a Generator's bitgen_t."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_void_p(get(generator.bit_generator.capsule, b"BitGenerator"))
