"""What a compiled environment is to `simulate` and to `pull`; public, also to other packages.

An environment of your own derives from `Environment`, gives its means and noise_std to
`super().__init__` and defines `_draw`; the others have defaults that call it. Several threads
draw from one environment, each with bits of its own and without the GIL: what `_draw` reads it
must not write, and it cannot raise. Whoever calls it has checked the arm.

Layouts of classes may change with a minor version: compile against the version you run.
docs/embedding.md has an example.
"""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.guard cimport Guard


cdef class Environment:
    cdef readonly int64_t n_arms
    cdef double[::1] _means, _noise_std, _variances, _costs
    # A `_draw_sum` is the sum of so many `_draw`, one after the other: to be set where there is no
    # `_draw_sum` of its own, so that Ctrl-C is heard between them.
    cdef bint _draws_each
    cdef Guard guard             # shut until __init__ is through
    cdef dict given              # what a compiled __init__ was given, for pickle

    # Variances that are known more exactly than squares of standard deviations; after __init__.
    cdef int _take_variances(self, variances) except -1
    # The last line of a subclass's __init__: the class, and its arguments by name.
    cdef int _made(self, cls, dict given) except -1

    # Whether the rewards are drawn without Python; and whether what they cost is.
    cdef bint _is_native(self) noexcept
    cdef bint _has_plain_costs(self) noexcept
    # One reward of an arm that has given `seen` to this run, lost ones left out; `pull` counts
    # from 0 in every call.
    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil
    # One reward, and what drawing it cost.
    cdef double _draw_with_cost(self, int64_t arm, int64_t seen, pb_bitgen *bitgen,
                                double *cost) noexcept nogil
    # The sum of n rewards; in one draw where the law allows it.
    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil


# The error of a reward that is not finite.
cdef object odd(Environment environment, int64_t arm, double reward)
