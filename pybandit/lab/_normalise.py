"""Convert readings to rewards: normalisation by controls, logarithm and sign."""

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.lab._read import Reading


def rewards_of(reading, plates, controls_lost=False, settled=()):
    """Return one reward per arm of a reading's batch.

    Parameters
    ----------
    reading : Reading
    plates : Plates
    controls_lost : bool, default False
        True to accept a mean over the control wells that have a value.
    settled : collection of int
        Plates that have results already: the mean over their recorded control wells is used.

    Returns
    -------
    ndarray of float64, shape (n,)
        NaN if there is no value.

    Raises
    ------
    UnreadableFileError
        If controls have no value or their mean is 0, or if a logarithm does not exist. The
        message names line and column.
    """
    wells = plates.places(reading.batch, reading.names)
    rewards = reading.values[wells]
    if plates.normalise:
        of_part = wells // plates.layout.n_wells
        for part in reading.parts:
            there = of_part == part
            if not np.isnan(rewards[there]).all():
                rewards[there] = _by_controls(rewards[there], reading, plates, part,
                                              controls_lost or part in settled)
    with np.errstate(invalid="ignore", divide="ignore"):
        made = np.log(rewards) if plates.log else rewards
    bad = ~np.isnan(rewards) & ~np.isfinite(made)
    if bad.any():
        at = int(bad.argmax())
        place = reading.where(int(wells[at]), plates)
        raise UnreadableFileError(f"{place}: "
                                  f"{rewards[at]:g}{' (normalised)' * bool(plates.normalise)} "
                                  f"has no finite {'logarithm' if plates.log else 'quotient'}")
    return -made if plates.flip else made


def _by_controls(values, reading, plates, part, some_will_do):
    """Return the readings of a plate normalised by its controls; see `Plates.normalise`."""
    mean = _control_mean(reading, plates, part, plates.controls, some_will_do)
    with np.errstate(over="ignore"):
        if plates.normalise != "inhibition":
            return values / mean * (100.0 if plates.normalise == "percent" else 1.0)
        other = _control_mean(reading, plates, part, plates.positives, some_will_do)
        if mean == other:
            first = part * plates.layout.n_wells + plates.controls[0]
            raise UnreadableFileError(f"{reading.where(first, plates)}: the means of both kinds of "
                                      f"controls must differ; both are {mean:g}")
        return 100.0 * (mean - values) / (mean - other)


def recorded_readings(plates, batch, names, values, kept):
    """Return the readings of a batch from which its results were computed.

    Parameters
    ----------
    plates : Plates
    batch : int
    names : sequence of str
        Names of the batch's arms.
    values : ndarray of float64
        Their recorded rewards; NaN if there is none.
    kept : dict of str to ndarray of float64
        Stored readings of each plate, by its name.

    Returns
    -------
    ndarray of float64
        One value per well of all plates of the batch. A stored reading may not give the recorded
        reward, for example after an amendment from Python. It is then replaced by the reading
        that does if rewards differ from readings at most in sign, and by NaN otherwise.
    """
    size, all_names = plates.layout.n_wells, plates.names(batch, len(names))
    found = np.full(size * len(all_names), np.nan)
    for part, name in enumerate(all_names):
        if name in kept and kept[name].size == size:
            found[part * size:(part + 1) * size] = kept[name]
    wells = plates.places(batch, names)
    is_same = _made(plates, batch, names, found) == values
    exact = np.nan if plates.normalise or plates.log else -values if plates.flip else values
    found[wells] = np.where(is_same, found[wells], exact)
    return found


def _made(plates, batch, names, readings):
    """Return the rewards that readings give; NaN on plates with bad controls."""
    size, rewards = plates.layout.n_wells, np.full(len(names), np.nan)
    parts = np.unique(np.flatnonzero(~np.isnan(readings)) // size).tolist()
    for some in (parts, *([part] for part in parts)):
        there = np.isin(np.arange(readings.size) // size, some)
        one = Reading(batch, names, some, np.where(there, readings, np.nan),
                      np.zeros(readings.size, np.int64), 0, False)
        try:
            made = rewards_of(one, plates, True)
        except UnreadableFileError:
            continue
        rewards = np.where(np.isnan(made), rewards, made)
        if some is parts:
            break
    return rewards


def readings_of(rewards, plates):
    """Return rewards on the scale of the readings, by undoing sign and logarithm.

    Normalised readings stay relative to the controls. A mean of logarithms becomes the geometric
    mean.
    """
    readings = -rewards if plates.flip else rewards
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(readings) if plates.log else readings


def _control_mean(reading, plates, part, controls, some_will_do):
    wells = part * plates.layout.n_wells + np.array(controls)
    values = reading.values[wells]
    plate = plates.names(reading.batch, len(reading.names))[part]
    lost = np.isnan(values)
    if lost.all() or (lost.any() and not some_will_do):
        first = wells[int(lost.argmax())]
        name = plates.layout.wells[first % plates.layout.n_wells]
        raise UnreadableFileError(f"{reading.where(first, plates)}: control well {name} of plate "
                                  f"{plate} has "
                                  "no value, and readings are divided by the mean of the controls"
                                  + ("" if lost.all() else "; --lost uses the mean of the others"))
    with np.errstate(over="ignore"):
        mean = values[~lost].mean()
    if plates.normalise == "inhibition":
        if not np.isfinite(mean):
            raise UnreadableFileError(f"{reading.where(wells[~lost][0], plates)}: the mean of the "
                                      f"controls of plate {plate} must be finite; got {mean:g}")
        return mean
    if mean == 0 or not np.isfinite(mean) or (plates.log and mean < 0):
        expected = "positive" if plates.log else "finite and not 0"
        raise UnreadableFileError(f"{reading.where(wells[~lost][0], plates)}: the mean of the "
                                  f"controls of plate {plate} must be {expected}; got {mean:g}")
    return mean
