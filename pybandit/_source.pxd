"""Where a kernel reads its log factors: a matrix, or a function behind one C signature."""

from pybandit._csrc cimport pb_factors


cdef class Source:
    cdef pb_factors factors           # as the kernels take them
    cdef const double[:, ::1] matrix  # None for a function
    cdef object function              # a Python function, or the Callback of a compiled one
    cdef object error                 # what it raised
    cdef object lock                  # of the generator, held by whoever runs the kernel; or None

    # Name the lock under which a kernel is run; a Python function runs without it.
    cdef void hold(self, lock)
    # After PB_CALLBACK.
    cdef raise_error(self)
    # What explains `value`, which was read and is not finite; mostly nothing.
    cdef str explain(self, double value)
