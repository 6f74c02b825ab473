"""Arrangement of batches on plates: wells, control wells, and names of plates.

Wells of a plate are counted along its rows, A1, A2, ..., from 0. A batch fills the first wells
that are not controls, on as many plates as it needs, in the order that `_fill` gives. The plate
of batch 7 is called "7"; if the batch needs several, they are called "7p1", "7p2", ...
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
    """Numbers of rows and columns of a plate.

    Attributes
    ----------
    rows, columns : int

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

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
        """Return the layout named by "16x24" or by its number of wells, "384"."""
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
        """Return the position of a well by its name, such as "B3" or "b03"; None if not on a plate.
        """
        parts = well_parts(well)
        return parts and self._at(row_number(parts[0]), parts[1] - 1)

    def find_typed(self, well: str) -> int | None:
        """Return the position of a well as `find` does; raise ``ValueError`` for an ambiguous name.

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
    """Plates of a study: layout, control wells, and the conversion of readings to rewards.

    Attributes
    ----------
    layout : Layout
    controls : tuple of int
        Positions of the wells with a control instead of an arm, ascending; the untreated
        controls if there are also `positives`.
    label : str
        Label of control wells, used instead of an arm's name.
    normalise : bool or {"percent", "inhibition"}
        With N the mean of the plate's controls and P that of its positive controls, a reading
        becomes ``reading / N`` if True, ``100 reading / N`` if "percent", and
        ``100 (N - reading) / (N - P)`` if "inhibition".
    log, flip : bool
        If `log`, the natural logarithm is taken next. If `flip`, the sign is changed last.
    positives : tuple of int
        Positions of the wells with a positive control, ascending.
    positive_label : str
        Label of these wells.
    fill : {"rows", "shuffled", "apart"}
        The order in which arms fill the wells: as given, at random, or at random such that
        wells with the same arm are far from each other.
    fill_seed : int
        Seed of the random order, which differs between batches.
    free_edges : bool
        True to leave the wells at the edge without arms.

    Raises
    ------
    ValueError
        If no well is left for arms, `normalise` lacks controls, or a well holds two controls.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

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
            raise ValueError("controls must be given if readings are divided by their mean")
        if self.normalise == "inhibition" and not self.positives:
            raise ValueError("positives must be given if readings are per cent of inhibition")
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
        """Return the plates in a study's settings; 8x12 without controls if there are none.

        The inverse of `settings`. Raises ``ValueError`` if the settings are invalid.
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
        """Return the settings of a study from which `of` restores these plates."""
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
        """Number of wells for arms per plate."""
        return self.free.size

    def n_plates(self, size: int) -> int:
        """Return the number of plates of a batch of `size` arms."""
        return -(-size // self.n_free)

    def names(self, batch: int, size: int) -> list[str]:
        """Return the names of the plates of a batch of `size` arms."""
        n = self.n_plates(size)
        return [str(batch)] if n == 1 else [f"{batch}p{i + 1}" for i in range(n)]

    def places(self, batch: int, names: Sequence[str]) -> Ints:
        """Return the well of each arm of a batch, counted over all plates of the batch.

        Returns
        -------
        ndarray of int64, shape (len(names),)
            Plate (from 0) times wells per plate, plus position on the plate.
        """
        plate, position = self.at(np.arange(len(names)))
        wells = plate * self.layout.n_wells + position
        if self.fill == "rows":
            return wells
        row, column = np.divmod(position, self.layout.columns)
        return wells[filled(self.fill, self.fill_seed, batch, names, plate, row, column)]

    def at(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return plate (from 0) and well of each slot for an arm; two int64 ndarrays.

        Slots are counted along the rows, over all plates of a batch.
        """
        plates, rank = np.divmod(positions, self.n_free)
        return plates, self.free[rank]

    def labels(self, batch: int, names: Sequence[str]) -> list[str]:
        """Return the content of each well of a batch: an arm, a label of controls, or ""."""
        n_wells, n_plates = self.layout.n_wells, self.n_plates(len(names))
        held = np.full(n_plates * n_wells, "", dtype=object)
        held[self.places(batch, names)] = names
        held.reshape(n_plates, n_wells)[:, list(self.controls)] = self.label
        held.reshape(n_plates, n_wells)[:, list(self.positives)] = self.positive_label
        return held.tolist()


def plate_number(text: str) -> Any:
    """Return (batch, plate from 0) of a plate's name: "7" is (7, None), "7p2" is (7, 1).

    Returns None for other text.
    """
    match = re.fullmatch(r"\s*([0-9]{1,12})(?:p([1-9][0-9]{0,6}))?\s*", text)
    return match and (int(match[1]), match[2] and int(match[2]) - 1)


def controls_of(text: str, layout: Layout) -> tuple[int, ...]:
    """Return positions of control wells from a list of wells, columns and rows.

    Examples of lists: wells "A1,A2,H12", whole columns "col:1,24", whole rows "row:A,P". Digits
    alone are a column and letters alone a row, so "col:1,24,A2" is two columns and a well.
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
