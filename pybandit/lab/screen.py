"""Screens: studies on plates, with results from files of instruments."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Self

from pybandit._shared.checks import shown
from pybandit._shared.types import ArrayLike
from pybandit.lab._amend import Amended, amend_results
from pybandit.lab._export import export
from pybandit.lab._record import Imported, import_results
from pybandit.lab._write import plate_texts
from pybandit.lab.controls import PlateReadings, readings_of
from pybandit.lab.plates import Plates
from pybandit.studies._create import created
from pybandit.studies._kinds import Kind
from pybandit.studies._on_study import OnStudy
from pybandit.studies._races import as_policy
from pybandit.studies.answers import Status
from pybandit.studies.results import Amendment, AmendResult, Batch, BatchRecord, TellResult
from pybandit.studies.study import Study
from pybandit.tables._sheet import PLAIN, Dialect

SCREEN = Kind("screen")


class Screen(OnStudy):
    """A study on plates, in one file that survives crashes.

    Created by `Screen.create` or `Screen.open`. `ask` returns the arms of the next batch,
    `plate_texts` the plates to put them on, and `record` reads the file of the instrument.

    A screen keeps its data in a `Study`: when a method that changes the screen returns, the
    change is on the disk, and several processes and threads may use one screen at once.

    Attributes
    ----------
    study : Study
        The underlying study.
    plates : Plates
    path : str
    names : tuple of str
    settings : dict
    policy : Policy or race
        A copy.

    Notes
    -----
    While a screen is open, part of its log is in ``<path>-wal``. Copy both files, or close the
    screen first.

    Examples
    --------
    >>> import pybandit as pb
    >>> from pybandit.lab import Layout, Plates, Screen
    >>> plates = Plates(Layout.parse("2x3"), controls=(0,), normalise=True)
    >>> policy = pb.policies.RoundRobin(4, 1, batch_size=5, max_batches=1)
    >>> screen = Screen.create(":memory:", policy, ["tea", "coffee", "milk", "water"],
    ...                        plates=plates)
    >>> batch = screen.ask()
    >>> print(screen.plate_texts(batch)["0"])
    plate,well,arm,value
    0,A1,control,
    0,A2,tea,
    0,A3,coffee,
    0,B1,milk,
    0,B2,water,
    0,B3,tea,
    <BLANKLINE>
    >>> with open("plate0.csv", "w") as file:
    ...     _ = file.write("plate,0\\n200,100,300\\n50,80,120\\n")
    >>> screen.record("plate0.csv").n_new, screen.recommend().best_names
    (5, ['coffee'])
    """

    _kind = SCREEN

    @classmethod
    def create(cls, path: str | os.PathLike[str], policy: Any, arms: Sequence[str] | None = None, *,
               plates: Plates, who: str | None = None, settings: dict[str, Any] | None = None,
               overwrite: bool = False) -> Self:
        """Create a screen.

        Parameters
        ----------
        path : str or path-like
            File to create, or ``":memory:"``.
        policy : Policy or race
            As in `Study.create`.
        arms : sequence of str, optional
            Unique names, one per arm; by default "0", "1", ...
        plates : Plates
            Layout, controls, and the conversion of readings to rewards.
        who : str, optional
            Author recorded in the log; by default user@host.
        settings : dict, optional
            As in `Study.create`, without "plates".
        overwrite : bool, default False
            True to replace an existing file, which must not be in use.

        Raises
        ------
        FileExistsError
            If the file exists.
        ValueError, TypeError
            If an argument is invalid, or an arm has the name of a control.
        StudyError
            If the file cannot be written.

        Examples
        --------
        >>> import pybandit as pb
        >>> from pybandit.lab import Layout, Plates, Screen
        >>> policy = pb.policies.BatchScreening(2000, 20, batch_size=384, max_batches=12)
        >>> screen = Screen.create("genes.db", policy, plates=Plates(Layout.parse("384")))
        >>> screen
        <Screen 'genes.db': BatchScreening, 2000 arms>
        >>> screen.close()
        """
        if not isinstance(plates, Plates):
            raise TypeError(f"plates must be Plates; got {shown(plates)}")
        settings = {} if settings is None else settings
        if "plates" in settings:
            raise ValueError("settings must not have 'plates': pass the argument plates; got "
                             f"{shown(settings['plates'])}")
        policy = as_policy(policy)
        for wells, label in ((plates.controls, plates.label),
                             (plates.positives, plates.positive_label)):
            if wells and arms is not None and label in arms:
                raise ValueError(f"arms must differ from the labels of controls; got {label!r}")
        store = created(path, SCREEN, policy, arms, who=who,
                        settings=settings | plates.settings(), overwrite=overwrite)
        return cls(Study(store, SCREEN, type(policy), who))

    @property
    def plates(self) -> Plates:
        """Layout, controls, and the conversion of readings to rewards."""
        return Plates.of(self._study.settings)

    # -- plates and files ---------------------------------------------------

    def plate_texts(self, batch: Batch, form: str = "long") -> dict[str, str]:
        """Return the plates of a batch as CSV to fill in.

        Parameters
        ----------
        batch : Batch
            Return value of `ask`.
        form : {"long", "grid"}, default "long"
            A row per well, or the shape of the plate.

        Returns
        -------
        dict of str to str
            The text of each plate, by its name.
        """
        return plate_texts(self.plates, batch.id, batch.names, form)

    def record(self, path: str | os.PathLike[str], *, batch: int | None = None,
               partial: bool = False, lost: bool = False, dialect: Dialect = PLAIN,
               plate: str | None = None) -> Imported:
        """Record a file of readings: all of it or nothing. Recording it again has no effect.

        Parameters
        ----------
        path : str or path-like
            A long table (columns plate, well, arm and value; others are ignored) or grids; CSV
            or a workbook.
        batch : int, optional
            Batch of the file, if it names no plate.
        partial : bool, default False
            True if wells may have no value; they stay open.
        lost : bool, default False
            True if wells without a value are lost; with `partial`, only those with a row in the
            file.
        dialect : Dialect, optional
            Format of numbers, columns and markers.
        plate : str, optional
            Plate of the file. Overrides the names in the file.

        Returns
        -------
        Imported

        Raises
        ------
        UnreadableFileError
            If anything in the file is invalid; the message names file, line and column. Nothing
            is recorded.
        StudyError
            If the results cannot be recorded.
        """
        return import_results(self._study, path, batch=batch, partial=partial, lost=lost,
                              dialect=dialect, plate=plate)

    def amend_readings(self, reason: str, *, path: str | os.PathLike[str] | None = None,
                       plate: str | None = None, wells: Sequence[str] = (),
                       batch: int | None = None, lost: bool = False,
                       dialect: Dialect = PLAIN) -> Amended:
        """Correct recorded readings, and the results computed from them.

        Parameters
        ----------
        reason : str
            Stored in the log.
        path : str or path-like, optional
            File of correct readings, in a format of `record`. Wells without a value do not
            change.
        plate : str, optional
            Plate of `wells` or of the file.
        wells : sequence of str
            "B7=812.5", or "B7=failed" to withdraw a reading.
        batch : int, optional
            As in `record`.
        lost : bool, default False
            True to withdraw the readings of wells that are in the file without a value.
        dialect : Dialect, optional
            As in `record`.

        Returns
        -------
        Amended

        Raises
        ------
        UnreadableFileError, ValueError
            If a reading, well, plate or batch is invalid. Nothing is recorded.
        """
        return amend_results(self._study, reason, path=path, plate=plate, wells=wells, batch=batch,
                             lost=lost, dialect=dialect)

    def readings(self, batch: int | None = None) -> list[PlateReadings]:
        """Return the readings and controls of each plate that came from files.

        Parameters
        ----------
        batch : int, optional
            Return only the plates of this batch.
        """
        return readings_of(self._study, batch)

    def export(self, write: Callable[[str], Any], batch: int | None = None) -> int:
        """Write all wells as a long table, which `record` can read; return their number.

        Parameters
        ----------
        write : callable
            Receives parts of the text, in order: CSV with the columns plate, well, arm, value,
            state, told_at, who and reward.
        batch : int, optional
            Write only the wells of this batch.
        """
        return export(self._study, self.plates, write, batch)

    # -- methods of the study -----------------------------------------------

    def status(self) -> Status:
        """Return the state of the screen, as `Study.status` does."""
        return self._study.status()

    def ask(self) -> Batch | None:
        """Return the batch to carry out now, as `Study.ask` does."""
        return self._study.ask()

    def tell(self, batch_id: int | Batch, results: ArrayLike, *, missing: str = "wait",
             positions: ArrayLike | None = None, who: str | None = None,
             source: dict[str, Any] | None = None) -> TellResult:
        """Record rewards of a batch, as `Study.tell` does. `record` takes readings."""
        return self._study.tell(batch_id, results, missing=missing, positions=positions, who=who,
                                source=source)

    def amend(self, batch_id: int | Batch, results: ArrayLike, *, positions: ArrayLike,
              reason: str, who: str | None = None,
              source: dict[str, Any] | None = None) -> AmendResult:
        """Correct rewards, as `Study.amend` does. `amend_readings` takes readings."""
        return self._study.amend(batch_id, results, positions=positions, reason=reason, who=who,
                                 source=source)

    def close_batch(self, batch_id: int | Batch) -> None:
        """Close a batch, as `Study.close_batch` does: pending results count as lost."""
        self._study.close_batch(batch_id)

    def abandon(self, batch_id: int | Batch, *, discard: bool = False) -> None:
        """Abandon a batch that was never carried out, as `Study.abandon` does."""
        self._study.abandon(batch_id, discard=discard)

    def batch(self, batch_id: int) -> BatchRecord:
        """Return the recorded results of a batch, as `Study.batch` does."""
        return self._study.batch(batch_id)

    def history(self) -> Any:
        """Return a table of all wells of all batches, as `Study.history` does."""
        return self._study.history()

    def amendments(self) -> list[Amendment]:
        """Return all corrected results, as `Study.amendments` does."""
        return self._study.amendments()
