"""Log factors for a kernel: a matrix, or a function with one C signature."""

from libc.stdint cimport int64_t

from pybandit.racing._csrc cimport pb_control, pb_factor_function, pb_factors


cdef class CompiledControl:
    """Control variate without Python: the function that subtracts it, and its data."""
    cdef pb_factor_function subtract
    cdef void *data
    cdef void (*ahead)(const int64_t *, int64_t, const void *) noexcept nogil


# A compiled function, and the number of pairs evaluated since the last check for Ctrl-C.
cdef struct compiled_function:
    pb_factor_function function
    void *user_data
    int64_t unsignalled
    void *source


cdef class Source:
    cdef compiled_function compiled
    cdef pb_factors factors           # the argument of the kernels
    cdef object table                 # the array of a matrix; None for a function
    cdef const unsigned char[:, ::1] cells  # its memory
    cdef object function              # a Python function, or the Callback of a compiled one
    cdef object error                 # exception raised by the function
    cdef object lock                  # of the generator, held while a kernel runs; or None
    cdef pb_control control           # the factors before a control variate is subtracted
    cdef object control_values        # a Python function, a CompiledControl or an array
    cdef pb_factors control_matrix
    cdef object control_totals
    cdef const double *totals         # sums of the control, to add to the offsets; NULL: no control

    # Add the sums of the control variate to the offsets of the states.
    cdef void add_totals(self, double *offsets) noexcept nogil
    cdef _subtract(self, control)

    # Set the lock that is held while a kernel runs; it is released for a Python function.
    cdef void hold(self, lock)
    # Raise the error of the function, after PB_CALLBACK.
    cdef raise_error(self)
    # Return the end of the error message about a value that is not finite; often empty.
    cdef str explain(self, double value)


# Acquire the lock again, which the caller of the kernel releases. Ctrl-C is raised only then.
cdef take_back(lock)
