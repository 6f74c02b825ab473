"""Private to pybandit: the stopping rule that policies ask after each pull."""

from pybandit.policies._csrc cimport pb_glr


cdef class GLR:
    cdef readonly double delta, sigma, epsilon
    cdef readonly str law, threshold
    cdef readonly bint is_gaussian        # of known variance or not

    # For so many arms; it may be copied, and outlives the object.
    cdef pb_glr _kernel(self, n_arms)
