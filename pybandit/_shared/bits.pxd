"""The bits of a NumPy Generator, for the kernels."""

from cpython.pycapsule cimport PyCapsule_GetPointer

from pybandit._shared._csrc cimport pb_bitgen


cdef inline pb_bitgen *bitgen_of(generator) except NULL:
    return <pb_bitgen *>PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
