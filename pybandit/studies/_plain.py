"""A study's answers of plain values, for JSON."""

import math


def as_json(status, study):
    """A `Status`, the answer by now, and the study's settings."""
    return status.to_dict() | {"best": best_of(study.recommend()), "settings": study.settings}


def best_of(best):
    """The arms of a `Recommendation`."""
    return [
        {"arm": int(arm), "name": name, "mean": number(mean), "pulls": int(pulls)}
        for arm, name, mean, pulls in zip(best.best_arms, best.best_names, best.means.tolist(),
                                          best.pulls, strict=True)]


def number(value):
    """A number of JSON; None where it is not known."""
    return value if math.isfinite(value) else None
