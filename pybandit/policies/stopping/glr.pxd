"""Private to pybandit: the stopping rule that policies check after each pull."""

from pybandit.policies._csrc cimport pb_glr


cdef class GLR:
    cdef readonly double delta, noise_std, epsilon
    cdef readonly str law, guarantee
    cdef readonly bint is_gaussian        # of known or unknown variance

    # The rule for n_pairs pairs that may be ordered wrongly; a copy may outlive the object.
    cdef pb_glr _kernel(self, n_pairs)
