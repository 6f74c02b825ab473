"""Private to pybandit: the stopping rule for bounded rewards that policies check after pulls."""


cdef class Betting:
    cdef readonly double delta, epsilon

    # Returns the level that the least log wealth must exceed, for n_pairs pairs of arms that may be
    # ordered wrongly.
    cdef double _level(self, n_pairs)
