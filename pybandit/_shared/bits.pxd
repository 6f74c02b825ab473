"""The bit generator of a NumPy Generator, for the kernels."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_normal

from pybandit._shared._csrc cimport pb_bitgen


cdef inline pb_bitgen *bitgen_of(generator) except NULL:
    return <pb_bitgen *>PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")


cdef inline double next_normal(void *state) noexcept nogil:
    """Return a standard normal draw; `state` is the bit generator. A callback for kernels."""
    return random_standard_normal(<bitgen_t *>state)
