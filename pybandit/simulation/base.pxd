"""Interface of compiled environments; public, also for other packages.

A user-defined environment derives from `Environment`, passes its means and noise_std to
`super().__init__` and defines `_draw`; the other methods have defaults that call it. Several
threads draw from one environment, each with its own bits and without the GIL: `_draw` must not
write shared state and cannot raise. The caller has checked the arm.

Layouts of classes may change with a minor version: compile against the version you run.
docs/embedding.md has an example.
"""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.guard cimport Guard


cdef class Environment:
    cdef readonly int64_t n_arms
    cdef double[::1] _means, _noise_std, _variances, _costs
    # True if `_draw_sum` calls `_draw` n times. Set it if you do not define `_draw_sum`, so that
    # Ctrl-C is handled between draws.
    cdef bint _draws_each
    cdef Guard guard             # closed until __init__ has finished
    cdef dict given              # arguments of the compiled __init__, for pickle

    # Set variances that are more exact than the squares of noise_std; call after __init__.
    cdef int _take_variances(self, variances) except -1
    # A subclass's __init__ ends with this call; `given` holds its arguments by name.
    cdef int _made(self, cls, dict given) except -1

    # Return True if rewards are drawn without Python; if costs are drawn without Python.
    cdef bint _is_native(self) noexcept
    cdef bint _has_plain_costs(self) noexcept
    # Draw a reward of an arm. `seen`: rewards that the arm gave before in this run, without lost
    # ones; `pull` counts from 0 in every call.
    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil
    # Draw a reward and its cost.
    cdef double _draw_with_cost(self, int64_t arm, int64_t seen, pb_bitgen *bitgen,
                                double *cost) noexcept nogil
    # Draw the sum of n rewards; as one draw if the distribution allows it.
    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil


# Return the error for a reward that is not finite.
cdef object odd(Environment environment, int64_t arm, double reward)
