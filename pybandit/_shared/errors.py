"""Classes of errors and warnings, public as `pybandit.errors`.

They are defined here so that every room can raise them.
"""


class PybanditError(Exception):
    """Base class of all errors that only pybandit raises.

    Each error also derives from the builtin class that fits it. Bad values of single arguments
    raise plain `ValueError` and `TypeError`.

    Examples
    --------
    >>> import pybandit as pb
    >>> try:
    ...     pb.policies.SequentialHalving(16, budget=40)
    ... except pb.errors.PybanditError as error:
    ...     print(type(error).__name__)
    InfeasibleBudgetError
    """


class InfeasibleBudgetError(PybanditError, ValueError):
    """A budget is too small for the task; the message names the smallest feasible budget.

    Examples
    --------
    >>> import pybandit as pb
    >>> try:
    ...     pb.policies.SequentialHalving(16, budget=40)
    ... except pb.errors.InfeasibleBudgetError as error:
    ...     print(error)
    budget must be at least 64 for 16 arms: one pull per arm in each of 4 stages; got 40
    """


class UnreadableFileError(PybanditError, ValueError):
    """A file exists but cannot be read; the message names the place and the reason.

    A missing file raises `FileNotFoundError`.

    Examples
    --------
    >>> from pathlib import Path
    >>> import pybandit as pb
    >>> size = Path("scores.npy").write_text("not an array")
    >>> try:
    ...     pb.best_of("scores.npy", value_range=(0, 1))
    ... except pb.errors.UnreadableFileError as error:
    ...     print(error)
    scores.npy cannot be read: the magic string is not correct; expected b'\\x93NUMPY', got \
b'not an'
    """


class ProtocolError(PybanditError, RuntimeError):
    """A method was called out of order, or the object can no longer be used.

    Examples: `tell` without a preceding `ask`, two threads that share one object, and an object
    that a failed call has invalidated.

    Examples
    --------
    >>> import pybandit as pb
    >>> issubclass(pb.errors.ProtocolError, RuntimeError)
    True
    """


class MissingPackageError(PybanditError, ImportError):
    """An optional package is not installed; the message names the extra to install.

    Examples
    --------
    >>> import pybandit as pb
    >>> issubclass(pb.errors.MissingPackageError, ImportError)
    True
    """


class StudyError(PybanditError, OSError):
    """The file of a study cannot be read or written; its contents are unchanged.

    Examples
    --------
    >>> import pybandit as pb
    >>> policy = pb.policies.Uniform(2, budget=4)
    >>> try:
    ...     pb.Study.create("no/such/folder/tea.study", policy)
    ... except pb.errors.StudyError as error:
    ...     print(error)
    no/such/folder/tea.study cannot be written and is unchanged: unable to open database file
    """


class StudyDamagedError(StudyError):
    """The file is not a study, or its contents were changed; the message names the part.

    Examples
    --------
    >>> from pathlib import Path
    >>> import pybandit as pb
    >>> size = Path("tea.study").write_text("Assam, Darjeeling")
    >>> try:
    ...     pb.Study.open("tea.study")
    ... except pb.errors.StudyDamagedError as error:
    ...     print(error)
    tea.study is damaged or not a study: file is not a database
    """


class StudyVersionError(StudyError):
    """The file has a different format version; the message names both versions.

    Examples
    --------
    >>> import sqlite3, pybandit as pb
    >>> pb.Study.create("tea.study", pb.policies.Uniform(2, budget=4)).close()
    >>> file = sqlite3.connect("tea.study")
    >>> cursor = file.execute("PRAGMA user_version = 99")   # a later pybandit may write this
    >>> file.close()
    >>> try:
    ...     pb.Study.open("tea.study")
    ... except pb.errors.StudyVersionError as error:
    ...     print(error)
    tea.study has format 99; this pybandit reads format 1
    """


class StoreMismatchError(PybanditError, ValueError):
    """A store of paid scores belongs to other items, another range or another version.

    Examples
    --------
    >>> import pybandit as pb
    >>> issubclass(pb.errors.StoreMismatchError, ValueError)
    True
    """


class PybanditWarning(UserWarning):
    """Base class of all warnings of pybandit.

    Examples
    --------
    >>> import pybandit as pb
    >>> issubclass(pb.errors.PybanditWarning, UserWarning)
    True
    """


class FailedCallsWarning(PybanditWarning):
    """Some calls of a function of scores failed and were replaced by the value of `failed`.

    Examples
    --------
    >>> import pybandit as pb
    >>> issubclass(pb.errors.FailedCallsWarning, pb.errors.PybanditWarning)
    True
    """


class SlowReadingWarning(PybanditWarning):
    """A chain reads so many rows per step that reading all of them in order would be faster.

    Examples
    --------
    >>> import pybandit as pb
    >>> issubclass(pb.errors.SlowReadingWarning, pb.errors.PybanditWarning)
    True
    """


class WeakControlWarning(PybanditWarning):
    """A control variate fits a few rows badly, and acceptance tests seldom read them.

    Examples
    --------
    >>> import pybandit as pb
    >>> issubclass(pb.errors.WeakControlWarning, pb.errors.PybanditWarning)
    True
    """


for _one in list(globals().values()):
    if isinstance(_one, type) and _one.__module__ == __name__:
        _one.__module__ = "pybandit.errors"  # users and pickle find it there
del _one
