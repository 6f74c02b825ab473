"""What a study is told of a reading: divided by the controls, logarithm, sign."""

import numpy as np

from pybandit._shared.cells import BadFile


def rewards_of(reading, plates, controls_lost=False):
    """One reward an arm of a reading's batch.

    Parameters
    ----------
    reading : Reading
    plates : Plates
    controls_lost : bool, default False
        Whether a mean over some of the control wells will do.

    Returns
    -------
    ndarray of float64, shape (n,)
        NaN where there is no value.

    Raises
    ------
    BadFile
        Where controls have no value or the mean 0, or a logarithm does not exist; names line
        and column.
    """
    rewards = reading.values[plates.places(len(reading.names))]
    if plates.normalise:
        n_free = plates.n_free
        for part in reading.parts:
            wells = slice(part * n_free, (part + 1) * n_free)
            if not np.isnan(rewards[wells]).all():
                mean = _control_mean(reading, plates, part, controls_lost)
                with np.errstate(over="ignore"):
                    rewards[wells] /= mean
    with np.errstate(invalid="ignore", divide="ignore"):
        made = np.log(rewards) if plates.log else rewards
    bad = ~np.isnan(rewards) & ~np.isfinite(made)
    if bad.any():
        at = int(bad.argmax())
        place = reading.where(int(plates.places(at + 1)[at]), plates)
        raise BadFile(f"{place}: {rewards[at]:g}{' of the controls' * plates.normalise} has no "
                      f"finite {'logarithm' if plates.log else 'quotient'}")
    return -made if plates.flip else made


def readings_of(rewards, plates):
    """Back from rewards: sign and logarithm undone; where readings were divided by the controls'
    mean, parts of it. Of a mean of logarithms it is the geometric mean.
    """
    readings = -rewards if plates.flip else rewards
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(readings) if plates.log else readings


def _control_mean(reading, plates, part, some_will_do):
    wells = part * plates.layout.n_wells + np.array(plates.controls)
    values = reading.values[wells]
    plate = plates.names(reading.batch, len(reading.names))[part]
    lost = np.isnan(values)
    if lost.all() or (lost.any() and not some_will_do):
        first = wells[int(lost.argmax())]
        name = plates.layout.wells[first % plates.layout.n_wells]
        raise BadFile(f"{reading.where(first, plates)}: control well {name} of plate {plate} has "
                      "no value, and readings are divided by the mean of the controls"
                      + ("" if lost.all() else "; --lost takes the mean of the others"))
    with np.errstate(over="ignore"):
        mean = values[~lost].mean()
    if mean == 0 or not np.isfinite(mean) or (plates.log and mean < 0):
        expected = "positive" if plates.log else "finite and not 0"
        raise BadFile(f"{reading.where(wells[~lost][0], plates)}: the mean of the controls of "
                      f"plate {plate} must be {expected}; got {mean:g}")
    return mean
