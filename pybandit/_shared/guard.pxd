"""The lock of an object that calls mutate, for compiled classes: `enter` and `leave`."""

cimport cython


cdef class Guard:
    cdef object owner                # the class that is guarded, for messages
    cdef str doing                   # what holds it does, for messages
    cdef unsigned long thread        # that holds it; 0: free
    cdef unsigned long generation    # of the process, when it was taken
    cdef int depth                   # of nested reads by that thread
    cdef bint lent                   # whether the holder may take it again, to change
    cdef bint begun                  # whether __init__ was called, of an object that was shut
    cdef object reason, error        # why nobody may enter; None: who is first may

    # Take it to change the object; refused while anyone holds it, this thread included. 1 in
    # the child of a fork where the holder was left behind: what it did may be half done.
    cdef int enter(self) except -1
    # Take it to read; refused while another thread holds it.
    cdef int enter_to_read(self) except -1
    cdef void leave(self) noexcept

    # Calls a function with the guard lent: what it calls may change the object that the holder,
    # who called this, already holds.
    cdef lend(self, function, argument)

    cdef bint _is_held(self)
    cdef int _take_over(self) except -1

    # An object whose memory is made in __init__: shut in __cinit__, `begin` first in __init__,
    # which refuses a second one, `open` last. Until then all who enter are refused.
    cdef void shut(self) noexcept
    cdef int begin(self) except -1
    cdef void open(self) noexcept
    # Refused where the object was not made, or is spoilt, whoever holds it.
    cdef int check(self) except -1
    # By the holder, in the middle of a change that cannot be undone: shut from now on.
    cdef void spoil(self, error) noexcept
    # For `with`, as `enter_to_read`.
    cdef Reading reading(self)


@cython.final
cdef class Reading:
    cdef Guard guard
