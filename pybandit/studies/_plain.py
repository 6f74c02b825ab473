"""A study's answers of plain values, for JSON."""

import dataclasses
import math

import numpy as np


def as_json(status, study):
    """A `Status`, the answer by now, and the study's settings."""
    known = dataclasses.asdict(status)
    if status.survivors is not None:
        known["survivors"] = np.asarray(status.survivors).tolist()
    if status.split is not None:
        known["split"] = status.split._asdict() | {"trials": status.split.trials.tolist(),
                                                   "shares": status.split.shares.tolist()}
    return known | {"best": best_of(study.recommend()), "settings": study.settings}


def best_of(best):
    """The arms of a `Recommendation`."""
    return [
        {"arm": int(arm), "name": name, "mean": number(mean), "pulls": int(pulls)}
        for arm, name, mean, pulls in zip(best.arms, best.names, best.means.tolist(), best.pulls,
                                          strict=True)]


def number(value):
    """A number of JSON; None where it is not known."""
    return value if math.isfinite(value) else None
