"""Draws by the address of a sampler in a Cython loop."""

cimport pybandit
from libc.stdint cimport int64_t, uintptr_t


def loop(uintptr_t sampler, uintptr_t bits, int64_t n_draws):
    """Return the number of failed draws."""
    cdef int64_t state, _draw, failed = 0
    with nogil:
        for _draw in range(n_draws):
            failed += pybandit.sampler_draw(<pybandit.pb_sampler *>sampler,
                                            <pybandit.pb_bitgen *>bits,
                                            &state) != pybandit.PB_OK
    return failed
