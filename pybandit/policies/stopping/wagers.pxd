"""Private to pybandit: the stopping rule of bounded rewards that policies ask after each pull."""


cdef class Betting:
    cdef readonly double delta, epsilon

    # What the least wealth has to exceed, of so many pairs that may be told apart wrongly.
    cdef double _level(self, n_pairs)
