"""Errors and warnings of pybandit, with one base class each.

Examples
--------
>>> import pybandit as pb
>>> try:
...     pb.policies.SequentialHalving(16, budget=40)
... except pb.errors.PybanditError as error:
...     print(isinstance(error, ValueError))
True
"""

from pybandit._shared.errors import (
    FailedCallsWarning,
    InfeasibleBudgetError,
    MissingPackageError,
    ProtocolError,
    PybanditError,
    PybanditWarning,
    SlowReadingWarning,
    StoreMismatchError,
    StudyDamagedError,
    StudyError,
    StudyVersionError,
    UnreadableFileError,
    WeakControlWarning,
)

__all__ = [
    "FailedCallsWarning",
    "InfeasibleBudgetError",
    "MissingPackageError",
    "ProtocolError",
    "PybanditError",
    "PybanditWarning",
    "SlowReadingWarning",
    "StoreMismatchError",
    "StudyDamagedError",
    "StudyError",
    "StudyVersionError",
    "UnreadableFileError",
    "WeakControlWarning",
]
