"""Decide whether a measured series grows, by a line through it and a limit for noise."""

from typing import NamedTuple

import numpy as np

WARM = 1 / 3  # fraction of the time for warm-up (imports, pools, caches), which is not judged
SURE = 4.0  # standard errors of the slope

# Growth over the judged time that may be noise: memory comes in pages, and allocators keep freed
# memory.
NOISE = {"memory": 4.0, "descriptors": 1.0, "threads": 1.0, "objects": 300.0, "cost": 0.1}
UNITS = {"memory": "MiB", "descriptors": "", "threads": "", "objects": "", "cost": "of it"}


class Trend(NamedTuple):
    """A line through a series: its start, its growth until the end, and the standard error."""

    name: str
    start: float
    growth: float
    error: float
    noise: float

    @property
    def faulty(self):
        return bool(self.growth > self.noise and self.growth > SURE * self.error)

    def __str__(self):
        of = self.name.rpartition(" ")[2]
        sign = "GROWS" if self.faulty else "ok"
        return (f"{self.name:<28} {self.start:10.3f} {self.growth:+10.3f} "
                f"± {self.error:.3f} {UNITS[of]:5} (noise {self.noise:g})  {sign}")


def trend(name, times, values):
    """Return the least-squares line through the series after the warm-up.

    `name` ends with a key of `NOISE`. For costs, the line is fitted to the logarithm, and growth
    is relative.
    """
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    judged = times >= times[0] + WARM * (times[-1] - times[0])
    times, values = times[judged], values[judged]
    of = name.rpartition(" ")[2]
    if of == "cost":
        values = np.log(values)
    centred = times - times.mean()
    slope = centred @ values / (centred @ centred)
    rest = values - values.mean() - slope * centred
    span = times[-1] - times[0]
    error = span * np.sqrt(rest @ rest / max(len(times) - 2, 1) / (centred @ centred))
    start = values.mean() + slope * centred[0]
    return Trend(name, np.exp(start) if of == "cost" else start, slope * span, error, NOISE[of])


def trends(rows):
    """Return one trend per column of the rows, except for "time"."""
    times = [row["time"] for row in rows]
    return [trend(name, times, [row[name] for row in rows]) for name in rows[0] if name != "time"]
