"""A lock for objects whose methods change them; it is taken at once or refused, without waiting.

NumPy's generators hold a lock on the generator whenever they release the GIL. This lock does not
wait: two threads that use one policy are a mistake, and a ProtocolError reports it before anything
changes. Code called under the guard may read the object again, as `tell` reads the current request.
It may not change the object, as a factor function that calls its own sampler would.
"""

import os

from pybandit._shared.errors import ProtocolError

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident


cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    #define guard_take(thread, mine) \\
        (_InterlockedCompareExchange((volatile long *)(thread), (long)(mine), 0) == 0)
    #define guard_holder(thread) ((unsigned long)_InterlockedOr((volatile long *)(thread), 0))
    #define guard_free(thread) ((void)_InterlockedExchange((volatile long *)(thread), 0))
    #else
    #define guard_take(thread, mine) __extension__ ({ unsigned long nobody = 0; \\
        __atomic_compare_exchange_n(thread, &nobody, mine, 0, __ATOMIC_ACQUIRE, \\
                                    __ATOMIC_RELAXED); })
    #define guard_holder(thread) __atomic_load_n(thread, __ATOMIC_ACQUIRE)
    #define guard_free(thread) __atomic_store_n(thread, 0, __ATOMIC_RELEASE)
    #endif
    """
    bint guard_take(unsigned long *thread, unsigned long mine) noexcept nogil
    unsigned long guard_holder(unsigned long *thread) noexcept nogil
    void guard_free(unsigned long *thread) noexcept nogil

# Stored instead of a thread if the guard is closed to all threads.
cdef unsigned long SHUT = ~<unsigned long>0


# A fork copies the locks of all threads but only the forking thread. A guard taken in an earlier
# generation is abandoned unless its thread survived every fork since.
cdef unsigned long generation = 1
cdef list survivors = []  # for each fork, the thread that survived it


def _forked():
    global generation
    survivors.append(PyThread_get_thread_ident())
    generation += 1


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_forked)


def not_made(owner):
    """Return the error for using an object whose `__init__` has not run."""
    return ProtocolError(f"this {owner.__name__} is not initialised: its __init__ has not run; a "
                         "subclass must call super().__init__(...) first")


def made_already(owner):
    """Return the error for a second `__init__`."""
    return ProtocolError(f"this {owner.__name__} is already initialised: __init__ runs once; "
                         "create another object instead")


cdef class Guard:
    """A lock of one object that refuses instead of waiting.

    Compiled classes call `enter` and `leave`; Python code uses ``with guard:``.

    Parameters
    ----------
    owner : type
        Class of the guarded object, named in messages.
    doing : str, optional
        Activity of the holder, for messages.
    """

    def __cinit__(self, owner, str doing=None):
        self.owner, self.doing = owner, f" ({doing})" if doing else ""

    cdef int enter(self) except -1:
        cdef int left_behind = 0
        if not guard_take(&self.thread, PyThread_get_thread_ident()):
            if (self.lent and guard_holder(&self.thread) == PyThread_get_thread_ident()
                    and self._is_held()):
                self.depth += 1
                return 0
            self._take_over()
            left_behind = 1
        self.generation = generation
        self.depth = 1
        return left_behind

    cdef int enter_to_read(self) except -1:
        if guard_holder(&self.thread) == PyThread_get_thread_ident() and self._is_held():
            self.depth += 1
            return 0
        return self.enter()

    cdef void leave(self) noexcept:
        self.depth -= 1
        if not self.depth:
            if self.reason is None:
                guard_free(&self.thread)
            else:
                self.thread = SHUT

    cdef lend(self, function, argument):
        self.lent = True
        try:
            function(argument)
        finally:
            self.lent = False

    cdef void shut(self) noexcept:
        self.thread, self.reason = SHUT, "its __init__ was not called"

    cdef int begin(self) except -1:
        if self.thread != SHUT or self.begun:
            raise ProtocolError(f"this {self.owner.__name__} is already initialised: __init__ "
                                "cannot be called again")
        self.begun, self.reason = True, "its __init__ did not finish"
        return 0

    cdef void open(self) noexcept:
        self.reason = None
        guard_free(&self.thread)

    cdef int check(self) except -1:
        if self.reason is not None:
            self._refuse()
        return 0

    cdef void spoil(self, error) noexcept:
        self.error, self.reason = error, f"it was invalidated by {error!r} in the middle of a call"

    cdef ReadLock reading(self):
        return ReadLock(self)

    def _refuse(self):
        raise ProtocolError(
            f"this {self.owner.__name__} cannot be used: {self.reason}") from self.error

    cdef bint _is_held(self):
        """Return True if the thread that took the guard has survived all forks since."""
        if self.generation == generation:
            return True
        return all([thread == self.thread for thread in survivors[self.generation - 1:]])

    cdef int _take_over(self) except -1:
        """Take the guard over if a fork left its holder behind; otherwise raise."""
        cdef unsigned long mine = PyThread_get_thread_ident()
        if self.thread == SHUT:
            self._refuse()
        if not self._is_held():
            self.thread = mine
            return 0
        if self.thread == mine:
            raise ProtocolError(f"this {self.owner.__name__} is in use{self.doing}: a function "
                                "that it calls cannot change it")
        raise ProtocolError(f"this {self.owner.__name__} is in use by another thread{self.doing}: "
                            "each thread needs its own")

    def __enter__(self):
        self.enter()

    def __exit__(self, *error):
        self.leave()


@cython.final
cdef class ReadLock:
    """The context manager of `guard.reading()`: calls `enter_to_read` and `leave`."""

    def __cinit__(self, Guard guard):
        self.guard = guard

    def __enter__(self):
        self.guard.enter_to_read()

    def __exit__(self, *error):
        self.guard.leave()
