"""The lock of an object that calls mutate, for compiled classes: `enter` and `leave`."""


cdef class Guard:
    cdef object owner                # the class that is guarded, for messages
    cdef str doing                   # what holds it does, for messages
    cdef unsigned long thread        # that holds it; 0: free
    cdef unsigned long generation    # of the process, when it was taken
    cdef int depth                   # of nested reads by that thread

    # Take it to change the object; refused while anyone holds it, this thread included. 1 in
    # the child of a fork where the holder was left behind: what it did may be half done.
    cdef int enter(self) except -1
    # Take it to read; refused while another thread holds it.
    cdef int enter_to_read(self) except -1
    cdef void leave(self) noexcept

    cdef bint _is_held(self)
    cdef int _take_over(self) except -1
