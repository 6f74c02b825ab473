"""A lock for objects whose methods change them; it is taken at once or refused, without waiting.

NumPy's generators hold a lock on the generator whenever they release the GIL. This lock does not
wait: two threads that use one policy are a mistake, and a ProtocolError reports it before anything
changes. Code called under the guard may read the object again, as `tell` reads the current request.
It may not change the object, as a factor function that calls its own sampler would.
"""

import os

from pybandit._shared.errors import ProtocolError

cimport cython

cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    #define guard_of_thread __declspec(thread)
    #define guard_take(holder, seen, mine) (_InterlockedCompareExchangePointer( \\
        (void *volatile *)(holder), (void *)(mine), (void *)(seen)) == (void *)(seen))
    #define guard_load(word) \\
        ((size_t)_InterlockedCompareExchangePointer((void *volatile *)(word), NULL, NULL))
    #define guard_store(word, value) \\
        ((void)_InterlockedExchangePointer((void *volatile *)(word), (void *)(value)))
    #else
    #define guard_of_thread __thread
    #define guard_take(holder, seen, mine) __extension__ ({ size_t expected = seen; \\
        __atomic_compare_exchange_n(holder, &expected, mine, 0, __ATOMIC_ACQUIRE, \\
                                    __ATOMIC_RELAXED); })
    #define guard_load(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
    #define guard_store(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
    #endif

    /* Threads are numbered from 1 in the order of their first use of a guard; no number is used
       again, unlike identifiers of the system. */
    static size_t guard_n_threads;
    static guard_of_thread size_t guard_number;

    static size_t guard_next_number(void) {
        size_t n;
        do {
            n = guard_load(&guard_n_threads);
        } while (!guard_take(&guard_n_threads, n, n + 1));
        return guard_number = n + 1;
    }

    #define guard_thread() (guard_number ? guard_number : guard_next_number())
    """
    bint guard_take(size_t *holder, size_t seen, size_t mine) noexcept nogil
    size_t guard_load(size_t *word) noexcept nogil
    void guard_store(size_t *word, size_t value) noexcept nogil
    size_t guard_thread() noexcept nogil
    size_t guard_n_threads

# Stored instead of a thread if the guard is closed to all threads.
cdef size_t SHUT = ~<size_t>0

# States of a guard.
cdef enum:
    OPEN, UNCALLED, UNFINISHED, SPOILT

REASONS = {UNCALLED: "its __init__ was not called", UNFINISHED: "its __init__ did not finish"}


# A fork copies the guards that all threads hold, but only the forking thread. In the child, a guard
# is abandoned if another thread holds it that existed at the last fork. These two change only in a
# new child, which has one thread.
cdef size_t survivor = 0      # the thread that made the last fork
cdef size_t n_at_fork = 0     # number of threads at that time


def _forked():
    global survivor, n_at_fork
    survivor = guard_thread()
    n_at_fork = guard_n_threads


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
        cdef size_t mine = guard_thread()
        cdef int left_behind = 0
        if not guard_take(&self.thread, 0, mine):
            if guard_load(&self.thread) == mine and self.lent:
                self.depth += 1
                return 0
            self._take_over(mine)
            left_behind = 1
        self.depth = 1
        return left_behind

    cdef int enter_to_read(self) except -1:
        if guard_load(&self.thread) == guard_thread():
            self.depth += 1
            return 0
        return self.enter()

    cdef void leave(self) noexcept:
        self.depth -= 1
        if not self.depth:
            guard_store(&self.thread, 0 if guard_load(&self.state) == OPEN else SHUT)

    cdef lend(self, function, argument):
        self.lent = True
        try:
            function(argument)
        finally:
            self.lent = False

    cdef void shut(self) noexcept:
        self.thread, self.state = SHUT, UNCALLED

    cdef int begin(self) except -1:
        if not guard_take(&self.state, UNCALLED, UNFINISHED):
            raise ProtocolError(f"this {self.owner.__name__} is already initialised: __init__ "
                                "cannot be called again")
        return 0

    cdef void open(self) noexcept:
        guard_store(&self.state, OPEN)
        guard_store(&self.thread, 0)

    cdef int check(self) except -1:
        if guard_load(&self.state) != OPEN:
            self._refuse()
        return 0

    cdef void spoil(self, error) noexcept:
        # the first error stays: another thread may be reading it
        if guard_load(&self.state) != SPOILT:
            self.error = error
            self.spoiling = f"it was invalidated by {error!r} in the middle of a call"
            guard_store(&self.state, SPOILT)

    cdef str reason(self):
        cdef size_t state = guard_load(&self.state)
        return self.spoiling if state == SPOILT else REASONS.get(state)

    cdef ReadLock reading(self):
        return ReadLock(self)

    def _refuse(self):
        error = self.error if guard_load(&self.state) == SPOILT else None
        raise ProtocolError(
            f"this {self.owner.__name__} cannot be used: {self.reason()}") from error

    cdef int _take_over(self, size_t mine) except -1:
        """Take the guard over if a fork left its holder behind; otherwise raise."""
        cdef size_t holder = guard_load(&self.thread)
        if holder == SHUT:
            self._refuse()
        if (0 < holder <= n_at_fork and holder != survivor
                and guard_take(&self.thread, holder, mine)):
            return 0
        if holder == mine:
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
