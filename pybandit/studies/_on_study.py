"""Base class of screens and web tests: methods that call those of their study."""

import os
from collections.abc import Iterator
from typing import Any, Self

from pybandit.studies._journal import Event
from pybandit.studies._kinds import Kind
from pybandit.studies.answers import Recommendation
from pybandit.studies.results import VerifyResult
from pybandit.studies.study import Study, opened


class OnStudy:
    """An object that keeps its data in a `Study`; base class of `Screen` and `WebTest`."""

    _kind: Kind

    def __init__(self, study: Study) -> None:
        self._study = study

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, policy_type: type | None = None,
             who: str | None = None, without_log: bool = False) -> Self:
        """Open an existing file.

        Parameters
        ----------
        path : str or path-like
        policy_type : type, optional
            The policy's class, if it is not one of pybandit's policies.
        who : str, optional
            As in `create`.
        without_log : bool, default False
            True to continue without the changes in ``<path>-wal`` if that file is lost.

        Raises
        ------
        FileNotFoundError, ValueError, StudyDamagedError, StudyVersionError, StudyError
            As in `Study.open`; ValueError also if the file is of another kind.

        Examples
        --------
        >>> import pybandit as pb
        >>> pb.webtests.WebTest.create("buttons.db", pb.CountRace(2), arms=["old", "new"]).close()
        >>> with pb.webtests.WebTest.open("buttons.db", who="Ann") as test:
        ...     print(test.split(10))
        [5 5]
        """
        return cls(opened(cls._kind, path, policy_type, who, without_log))

    @property
    def study(self) -> Study:
        """The underlying `Study`."""
        return self._study

    @property
    def path(self) -> str:
        """Path of the file."""
        return self._study.path

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arms; a tuple of str."""
        return self._study.names

    @property
    def settings(self) -> dict[str, Any]:
        """Settings given to `create`; a copy."""
        return self._study.settings

    @property
    def policy(self) -> Any:
        """The policy in its present state; a copy."""
        return self._study.policy

    def recommend(self) -> Recommendation:
        """Return the arms found so far, best first, as `Study.recommend` does."""
        return self._study.recommend()

    def log(self, start: int = 0) -> Iterator[Event]:
        """Iterate over the events from number `start` on, as `Study.log` does."""
        return self._study.log(start)

    def verify(self, head: str | None = None) -> VerifyResult:
        """Replay the log and compare the result with the file, as `Study.verify` does."""
        return self._study.verify(head)

    def close(self) -> None:
        """Close the file. Closing it again has no effect."""
        self._study.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: Any) -> Any:
        name = type(self).__name__
        raise TypeError(f"a {name} is an open file and cannot be pickled or copied; open the file "
                        f"where it is needed: {name}.open({self.path!r})")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{repr(self._study).removeprefix('<Study')}"

    def _repr_html_(self) -> str:
        return self._study._repr_html_()
