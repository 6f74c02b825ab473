"""Private to pybandit: the stopping rule that policies ask after each pull."""

from pybandit.policies._csrc cimport pb_glr


cdef class GLR:
    cdef readonly double delta, noise_std, epsilon
    cdef readonly str law, guarantee
    cdef readonly bint is_gaussian        # of known variance or not

    # For so many pairs that may be told apart wrongly; it may be copied, and outlives the object.
    cdef pb_glr _kernel(self, n_pairs)
