"""A lock for objects whose methods change them; compiled classes call `enter` and `leave`."""

cimport cython


cdef class Guard:
    cdef object owner                # class of the guarded object, for messages
    cdef str doing                   # what the holder is doing, for messages
    cdef size_t thread               # number of the thread that holds it; 0: free; atomic
    cdef size_t state                # whether and why it is closed; atomic
    cdef int depth                   # number of nested reads by that thread
    cdef bint lent                   # True if the holder may take it again to change the object
    cdef object error                # what invalidated the object; set before `state`
    cdef str spoiling                # the error in words

    # Takes the guard to change the object; refused while any thread, this one included, holds it.
    # Returns 1 in the child of a fork that left the holder behind: its change may be half done.
    cdef int enter(self) except -1
    # Takes the guard to read the object; refused while another thread holds it.
    cdef int enter_to_read(self) except -1
    cdef void leave(self) noexcept

    # Calls a function with the guard lent: the function may change the object although the
    # caller already holds it.
    cdef lend(self, function, argument)

    cdef int _take_over(self, size_t mine) except -1

    # For an object whose memory is allocated in __init__: call `shut` in __cinit__, `begin` first
    # in __init__ (it refuses a second call of __init__), and `open` last. Until then `enter` fails.
    cdef void shut(self) noexcept
    cdef int begin(self) except -1
    cdef void open(self) noexcept
    # Raises if the object is not initialised or was invalidated, even in the thread that holds it.
    cdef int check(self) except -1
    # Invalidates the object. Called by the holder during a change that cannot be undone.
    cdef void spoil(self, error) noexcept
    # Returns why the guard is closed; None if it is open.
    cdef str reason(self)
    # Returns a context manager that calls `enter_to_read` and `leave`.
    cdef ReadLock reading(self)


@cython.final
cdef class ReadLock:
    cdef Guard guard
