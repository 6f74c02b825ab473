"""Where a kernel reads its log factors: a matrix, or a function behind one C signature."""

from libc.stdint cimport int64_t

from pybandit.racing._csrc cimport pb_control, pb_factor_function, pb_factors


cdef class CompiledControl:
    """Values of a control variate that need no Python: what takes them off, and its data."""
    cdef pb_factor_function subtract
    cdef void *data
    cdef void (*ahead)(const int64_t *, int64_t, const void *) noexcept nogil


# A compiled function, and the pairs that it gave since the last look at Ctrl-C.
cdef struct compiled_function:
    pb_factor_function function
    void *user_data
    int64_t unsignalled
    void *source


cdef class Source:
    cdef compiled_function compiled
    cdef pb_factors factors           # as the kernels take them
    cdef const double[:, ::1] matrix  # None for a function
    cdef object function              # a Python function, or the Callback of a compiled one
    cdef object error                 # what it raised
    cdef object lock                  # of the generator, held by whoever runs the kernel; or None
    cdef pb_control control           # the factors before a control variate is subtracted
    cdef object control_values        # a Python function, a CompiledControl or an array
    cdef pb_factors control_matrix
    cdef object control_totals
    cdef const double *totals         # its sums, which belong to the offsets; NULL: no control

    # Add the sums of the control variate to the offsets of the states.
    cdef void add_totals(self, double *offsets) noexcept nogil
    cdef _subtract(self, control)

    # Name the lock under which a kernel is run; a Python function runs without it.
    cdef void hold(self, lock)
    # After PB_CALLBACK.
    cdef raise_error(self)
    # What explains `value`, which was read and is not finite; mostly nothing.
    cdef str explain(self, double value)


# Hold it again: whoever runs the kernel will release it. Ctrl-C while waiting waits.
cdef take_back(lock)
