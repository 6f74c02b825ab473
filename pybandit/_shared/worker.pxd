"""Declarations of `Stop`, which compiled loops check without the GIL."""


cdef class Stop:
    cdef int flag
    cdef object error      # first exception of the workers that share it

    cdef bint raised(self) noexcept nogil
