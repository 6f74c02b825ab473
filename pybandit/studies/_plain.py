"""Plain values of a study, for JSON."""

import math


def as_json(status, study):
    """Return a dict of a `Status`, the arms found so far, and the study's settings."""
    return status.to_dict() | {"best": best_of(study.recommend()), "settings": study.settings}


def best_of(best):
    """Return the arms of a `Recommendation` as dicts."""
    return [
        {"arm": int(arm), "name": name, "mean": number(mean), "pulls": int(pulls)}
        for arm, name, mean, pulls in zip(best.best_arms, best.best_names, best.means.tolist(),
                                          best.pulls, strict=True)]


def number(value):
    """Return a number, or None if it is unknown: JSON has no NaN."""
    return value if math.isfinite(value) else None
