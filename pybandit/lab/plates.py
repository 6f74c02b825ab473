"""Where a batch lies on plates: wells, control wells, and the names of plates.

A plate's wells count along its rows, A1, A2, ..., from 0. A batch fills the first wells that are
not controls, on as many plates as it takes; in that order, or in another (`_fill`). The plate
of batch 7 is called "7"; where a batch takes several, they are "7p1", "7p2", ...
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np

from pybandit._shared.checks import check_choice
from pybandit._shared.types import Ints
from pybandit.lab._fill import ORDERS, filled
from pybandit.lab._row_names import check_row, letters, row_number, well_parts

SIZES = {6: (2, 3), 12: (3, 4), 24: (4, 6), 48: (6, 8), 96: (8, 12), 384: (16, 24),
         1536: (32, 48)}
MOST_WELLS = 1_000_000


class Layout(NamedTuple):
    """The rows and columns of a plate.

    Attributes
    ----------
    rows, columns : int

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> from pybandit.lab.plates import Layout
    >>> plate = Layout.parse("96")
    >>> plate, plate.wells[12], plate.find("h12")
    (Layout(rows=8, columns=12), 'B1', 95)
    """

    rows: int
    columns: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The layout called "16x24", or by its wells "384"."""
        match = re.fullmatch(r"(\d{1,7})\s*[xX×]\s*(\d{1,7})", text.strip())
        if match:
            rows, columns = map(int, match.groups())
            if 1 <= rows * columns <= MOST_WELLS:
                return cls(rows, columns)
        elif text.strip().isdecimal() and int(text) in SIZES:
            return cls(*SIZES[int(text)])
        raise ValueError(f"a plate must be ROWSxCOLUMNS, such as 8x12, of at most {MOST_WELLS:,} "
                         f"wells, or one of {', '.join(map(str, SIZES))}; got {text!r}")

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"

    @property
    def n_wells(self) -> int:
        return self.rows * self.columns

    @property
    def wells(self) -> tuple[str, ...]:
        """Names of the wells, from A1 on; a tuple of str."""
        return _wells_of(self)

    def find(self, well: str) -> int | None:
        """Return the position of a well by its name: "B3", also "b03"; None if there is none."""
        parts = well_parts(well)
        return parts and self._at(row_number(parts[0]), parts[1] - 1)

    def find_typed(self, well: str) -> int | None:
        """Find a well as `find` does, and raise ``ValueError`` if its name may be of two wells.

        On a plate of 1,536 wells a1 may be A1 or AA1.

        Examples
        --------
        >>> from pybandit.lab.plates import Layout
        >>> Layout.parse("1536").find_typed("AA1"), Layout.parse("384").find_typed("a1")
        (1248, 0)
        """
        parts = well_parts(well)
        if parts is not None:
            check_row(parts[0], well, self.rows)
        return self.find(well)

    def _at(self, row: int, column: int) -> int | None:
        """Return the position of a row and a column, from 0; None if there is none."""
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return row * self.columns + column if inside else None


@cache
def _free_of(layout, taken, free_edges):
    is_free = np.ones(layout, dtype=bool)
    if free_edges:
        is_free[[0, -1]] = is_free[:, [0, -1]] = False
    is_free = is_free.ravel()
    is_free[list(taken)] = False
    free = np.flatnonzero(is_free)
    free.setflags(write=False)
    return free


@cache
def _wells_of(layout):
    return tuple(f"{letters(row)}{column + 1}" for row in range(layout.rows)
                 for column in range(layout.columns))


@dataclass(frozen=True)
class Plates:
    """The plates of a study: layout, control wells, and what is made of a reading.

    Attributes
    ----------
    layout : Layout
    controls : tuple of int
        Positions of the wells that hold a control instead of an arm, ascending: untreated,
        where there are `positives` too.
    label : str
        What stands for an arm's name in control wells.
    normalise : bool or {"percent", "inhibition"}
        Whether a reading is divided by the mean of its plate's controls, N; "percent" of it;
        or, with P the mean of the positives, ``100 (N - reading) / (N - P)``.
    log, flip : bool
        Whether then its natural logarithm is taken; then its sign is changed.
    positives : tuple of int
        Positions of the wells with a positive control, ascending.
    positive_label : str
        What stands for an arm's name there.
    fill : {"rows", "shuffled", "apart"}
        The order in which arms fill the wells: as they come, drawn, or drawn so that wells
        with the same arm are far from each other.
    fill_seed : int
        Of the order that is drawn; of each batch another.
    free_edges : bool
        Whether the wells at the edge hold no arms.

    Raises
    ------
    ValueError
        If no well is left for arms, `normalise` has no controls, or a well has two.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

    Examples
    --------
    >>> from pybandit.lab import Layout, Plates
    >>> plates = Plates(Layout.parse("2x3"), controls=(0,), normalise=True)
    >>> plates.labels(0, ["tea", "milk"]), plates.n_free
    (['control', 'tea', 'milk', '', '', ''], 5)
    """

    layout: Layout
    controls: tuple[int, ...] = ()
    label: str = "control"
    normalise: bool | str = False
    log: bool = False
    flip: bool = False
    positives: tuple[int, ...] = ()
    positive_label: str = "positive"
    fill: str = "rows"
    fill_seed: int = 0
    free_edges: bool = False

    def __post_init__(self):
        check_choice("fill", self.fill, ORDERS)
        if self.normalise not in (False, True, "percent", "inhibition"):
            raise ValueError("normalise must be False, True, 'percent' or 'inhibition'; got "
                             f"{self.normalise!r}")
        if not self.n_free:
            raise ValueError(f"controls must leave wells for arms; got all "
                             f"{self.layout.n_wells} of a {self.layout} plate")
        if self.normalise and not self.controls:
            raise ValueError("controls must be given where readings are divided by their mean")
        if self.normalise == "inhibition" and not self.positives:
            raise ValueError("positives must be given where readings are per cent of inhibition")
        both = sorted(set(self.controls) & set(self.positives))
        if both:
            raise ValueError("a well must be a control or a positive control; got "
                             f"{self.layout.wells[both[0]]} as both")
        if not self.label.strip() or not self.positive_label.strip():
            raise ValueError("the label of controls must not be empty")
        if self.positives and self.label == self.positive_label:
            raise ValueError(f"the labels of controls must differ; got {self.label!r} twice")

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Self:
        """The plates that a study's settings tell; 8x12 without controls where they do not.

        The inverse of `settings`. Raises ``ValueError`` where they cannot be understood.
        """
        if "plates" not in settings:
            return cls(Layout(8, 12))
        try:
            told = dict(settings["plates"])
            layout = Layout.parse(told.pop("layout"))
            controls, told["positives"] = (controls_of(",".join(told.pop(name, ())), layout)
                                           for name in ("controls", "positives"))
            return cls(layout, controls, **told)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"settings['plates'] must be those of Plates.settings(); got "
                             f"{settings['plates']!r}") from error

    def settings(self) -> dict[str, Any]:
        """What `of` reads, for the settings of a study."""
        wells = self.layout.wells
        told = {"layout": str(self.layout), "controls": [wells[i] for i in self.controls],
                "label": self.label, "normalise": self.normalise, "log": self.log,
                "flip": self.flip}
        if self.positives:
            told |= {"positives": [wells[i] for i in self.positives],
                     "positive_label": self.positive_label}
        if self.fill != "rows":
            told |= {"fill": self.fill, "fill_seed": self.fill_seed}
        return {"plates": told | {"free_edges": True} if self.free_edges else told}

    @property
    def free(self) -> Ints:
        """Positions of the wells for arms; ndarray of int64."""
        return _free_of(self.layout, (*self.controls, *self.positives), self.free_edges)

    @property
    def n_free(self) -> int:
        """Wells for arms."""
        return self.free.size

    def n_plates(self, size: int) -> int:
        """Plates of a batch of `size` arms."""
        return -(-size // self.n_free)

    def names(self, batch: int, size: int) -> list[str]:
        """Names of the plates of a batch of `size` arms."""
        n = self.n_plates(size)
        return [str(batch)] if n == 1 else [f"{batch}p{i + 1}" for i in range(n)]

    def places(self, batch: int, names: Sequence[str]) -> Ints:
        """Where each arm of a batch is, in wells counted over all plates of the batch.

        Returns
        -------
        ndarray of int64, shape (len(names),)
            Plate times wells of a plate, plus position.
        """
        plate, position = self.at(np.arange(len(names)))
        wells = plate * self.layout.n_wells + position
        if self.fill == "rows":
            return wells
        row, column = np.divmod(position, self.layout.columns)
        return wells[filled(self.fill, self.fill_seed, batch, names, plate, row, column)]

    def at(self, positions: Ints) -> tuple[Ints, Ints]:
        """Plate, from 0, and well of some places along the rows; two ndarrays of int64."""
        plates, rank = np.divmod(positions, self.n_free)
        return plates, self.free[rank]

    def labels(self, batch: int, names: Sequence[str]) -> list[str]:
        """What each well of a batch's plates holds: an arm, the controls' label, or ""."""
        n_wells, n_plates = self.layout.n_wells, self.n_plates(len(names))
        held = np.full(n_plates * n_wells, "", dtype=object)
        held[self.places(batch, names)] = names
        held.reshape(n_plates, n_wells)[:, list(self.controls)] = self.label
        held.reshape(n_plates, n_wells)[:, list(self.positives)] = self.positive_label
        return held.tolist()


def plate_number(text: str) -> Any:
    """Batch and plate, from 0, of a plate's name: "7" is (7, None), "7p2" (7, 1); or None."""
    match = re.fullmatch(r"\s*([0-9]{1,12})(?:p([1-9][0-9]{0,6}))?\s*", text)
    return match and (int(match[1]), match[2] and int(match[2]) - 1)


def controls_of(text: str, layout: Layout) -> tuple[int, ...]:
    """Positions of control wells: "A1,A2,H12", whole columns "col:1,24", whole rows "row:A,P".

    Digits alone are a column and letters alone a row, so that "col:1,24,A2" is two columns
    and a well.
    """
    grid = np.arange(layout.n_wells).reshape(layout.rows, layout.columns)
    rows = {letters(row): row for row in range(layout.rows)}
    found = set()
    for part in filter(None, map(str.strip, text.split(","))):
        word = re.sub(r"^(col|row):\s*", "", part, flags=re.IGNORECASE)
        if word.isdecimal() and 1 <= int(word) <= layout.columns:
            found.update(grid[:, int(word) - 1].tolist())
        elif word.upper() in rows:
            check_row(word, part, layout.rows)
            found.update(grid[rows[word.upper()]].tolist())
        elif word == part and layout.find_typed(word) is not None:
            found.add(layout.find(word))
        else:
            raise ValueError(f"controls must be wells, columns or rows of a {layout} plate, such "
                             f"as A1,B1 or col:1,{layout.columns}; got {part!r}")
    return tuple(sorted(found))
