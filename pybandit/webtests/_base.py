"""Base class of `WebTest`: access to its study."""

import math

from pybandit._shared.checks import check_in
from pybandit._shared.errors import StudyDamagedError
from pybandit.studies._kinds import Kind
from pybandit.studies._on_study import OnStudy
from pybandit.webtests._policy import counted_type_of
from pybandit.webtests._recorded_counts import Keys

WEBTEST = Kind("webtest", counted_type_of)


class Base(OnStudy):
    """Base class of `WebTest`, with access to its study."""

    _kind = WEBTEST

    def __init__(self, study):
        super().__init__(study)
        self._keys = Keys()
        self._shares = study._read(lambda _: _shares_of(study))

    def _read(self, work):
        return self._study._read(work)

    def _write(self, work):
        return self._study._write(work)

    @property
    def _policy(self):
        """The `CountedPolicy`; valid within a read or write."""
        return self._study._progress.policy

    @property
    def _names(self):
        return self._study._names


def _shares_of(study):
    """Return the shares that `WebTest.create` was given, or None."""
    first = study._entry("event 0", study._store.events(most=1).fetchone()[4])
    shares, n_arms = first.get("shares"), len(first["arms"])
    if shares is not None and not (type(shares) is list and len(shares) == n_arms and all(
            type(one) is float and 0.0 < one < math.inf for one in shares)):
        raise StudyDamagedError(f"{study.path} is damaged: log: event 0 has no shares of a test of "
                                f"{n_arms} arms")
    return shares


def checked_shares(shares, n_arms):
    """Return weights above 0, one per arm, as a list of floats."""
    shares = check_in("shares", shares, "finite and above 0", lambda x: (x > 0) & (x < math.inf))
    if shares.shape != (n_arms,):
        raise ValueError(f"shares must have shape ({n_arms},), one value per arm; got "
                         f"{shares.shape}")
    return shares.tolist()
