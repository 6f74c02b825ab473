"""Paths of the headers and the library for C programs."""

import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def get_include() -> str:
    """Return the directory that holds ``pybandit/<room>/``, the headers of the C kernels.

    Returns
    -------
    str
        For a compiler's ``-I``; `pybandit config --cflags` prints it too.

    Examples
    --------
    >>> import os, pybandit as pb
    >>> sorted(os.listdir(os.path.join(pb.get_include(), "pybandit", "betting")))[:4]
    ['bets.h', 'betting.h', 'confidence.h', 'order.h']
    """
    return os.path.join(PACKAGE, "include")


def get_library():
    """Return the directory that holds ``libpybandit.a``, the library of all kernels."""
    return os.path.join(PACKAGE, "lib")
