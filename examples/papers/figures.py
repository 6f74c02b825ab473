"""What the scripts of the five papers share: options, claims, the saved plot.

Each script reproduces one figure or table of a paper, at the paper's size unless
`--quick` is given. It compares each statement of the paper with the number found here:
the sign agrees if the order or direction is the paper's, the size if the number lies
within the stated distance of the printed one.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path
from typing import NamedTuple


class Claim(NamedTuple):
    """A statement of a paper and what a script found.

    `paper` and `here` are short texts with the printed and the measured number. `size`
    is None if the paper prints no number.
    """

    statement: str
    paper: str
    here: str
    sign: bool
    size: bool | None = None

    def line(self):
        """Return the claim as one line of text."""
        size = {None: "", True: ", size agrees", False: ", size differs"}[self.size]
        return (f"- {self.statement}. Paper: {self.paper}. Here: {self.here}. "
                f"Sign {'agrees' if self.sign else 'differs'}{size}.")


class Figure:
    """A figure or table of a paper while its script runs.

    Parameters
    ----------
    docstring : str
        Module docstring of the script. Its first line is the title.
    runs : (int, int), optional
        Default of `--runs` at the paper's size and with `--quick`.
    data : str, optional
        Format of the file that `--data` reads. Without it there is no such option.
    add : callable, optional
        ``add(parser)`` adds options of the script; `options` has their values.
    arguments : list of str, optional
        Command line; default ``sys.argv[1:]``.

    Attributes
    ----------
    quick : bool
        Whether to run a small version in seconds.
    runs, seed : int
    data : Path or None
        The user's data file, or None for the stand-in.
    options : argparse.Namespace
        All options.
    """

    def __init__(self, docstring, *, runs=None, data=None, add=None, arguments=None):
        self.title = docstring.split("\n", 1)[0]
        parser = argparse.ArgumentParser(description=self.title)
        parser.add_argument("--quick", action="store_true", help="a small version, in seconds")
        parser.add_argument("--seed", type=int, default=1, help="default %(default)s")
        parser.add_argument("--save", type=Path, metavar="PNG", help="write the plot here")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the claims here")
        if runs is not None:
            parser.add_argument("--runs", type=int,
                                help=f"default {runs[0]}, with --quick {runs[1]}")
        if data is not None:
            parser.add_argument("--data", type=Path, metavar="FILE", help=data)
        if add is not None:
            add(parser)
        self.options = options = parser.parse_args(arguments)
        self.quick, self.seed, self.save = options.quick, options.seed, options.save
        self.data = getattr(options, "data", None)
        if runs is not None:
            self.runs = options.runs or runs[self.quick]
        self._json, self._claims = options.json, []
        self._start = time.perf_counter()
        print(self.title)

    def _size(self):
        """Return the size of this run as text for the caption of its plot."""
        runs = getattr(self, "runs", None)
        return ", ".join(text for text in ("small version" * self.quick,
                                           f"{runs:,} runs" if runs else "") if text)

    def claim(self, statement, paper, here, sign, size=None):
        """Compare one statement of the paper, given without its full stop, with ours."""
        self._claims.append(Claim(statement, str(paper), str(here), bool(sign),
                                  None if size is None else bool(size)))

    def end(self, draw=None):
        """Print the claims; save the plot that `draw()` returns and the JSON if asked."""
        seconds, processor = time.perf_counter() - self._start, sum(os.times()[:4])
        print("\nCompared with the paper:")
        for claim in self._claims:
            print(claim.line())
        print(f"{seconds:.0f} s, {processor:.0f} s of processor time")
        if self.save and draw is not None:
            save_plot(draw(), self.save, self._size())
            print(f"plot: {self.save}")
        if self._json:
            self._json.write_text(json.dumps({
                "title": self.title, "quick": self.quick, "runs": getattr(self, "runs", None),
                "seconds": round(seconds, 1), "processor_seconds": round(processor, 1),
                "data": self.data is not None,
                "claims": [claim._asdict() for claim in self._claims]}, indent=1))


def save_plot(plot, path, size):
    """Save a plot. A PNG gets 64 colours, which makes it small, and `size` as its comment."""
    from pybandit._shared import drawing
    drawing.save(plot, path)
    if path.suffix == ".png":
        from PIL import Image
        from PIL.PngImagePlugin import PngInfo
        comment = PngInfo()
        comment.add_text("Comment", size)
        with Image.open(path) as image:
            small = image.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        small.save(path, optimize=True, pnginfo=comment)


def near(value, printed, within):
    """Return True if `value` is at most `within` (relative) away from the printed one."""
    return abs(value - printed) <= within * abs(printed)


def level(value, half, other, other_half=0.0):
    """Return True if two values differ by at most three standard errors of their difference.

    `half` and `other_half` are half of their 95 % intervals.
    """
    return abs(value - other) <= 1.5 * math.hypot(half, other_half)


def bracket(value, form="g"):
    """Return a reference value in brackets, or no text if there is none."""
    return "" if value is None else f"[{value:{form}}]"
