"""Private to pybandit: the stopping rule that policies check after each pull."""

from pybandit.policies._csrc cimport pb_glr


cdef class GLR:
    cdef readonly double delta, noise_std, epsilon
    cdef readonly str law, guarantee
    cdef readonly bint is_gaussian        # of known or unknown variance

    # Returns the rule as a C struct, for n_pairs pairs of arms that may be ordered wrongly.
    cdef pb_glr _kernel(self, n_pairs)
