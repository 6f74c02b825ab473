"""What other Cython modules can call: resolved at import, nothing to link."""

from pybandit._csrc cimport pb_accept, pb_bitgen, pb_status


# One test, as pb_accept_run of pybandit/accept.h.
cdef pb_status run_accept(pb_accept *accept, double log_threshold,
                          pb_bitgen *bitgen) noexcept nogil
