"""JSON at the border: objects with the fields that a route takes, and nothing else."""

import math

from starlette.exceptions import HTTPException

from pybandit.serving._limits import PIECE, parsed


def fields_of(body, route, n_results=0):
    """The fields of a body in JSON, with up to `n_results` results; null among them is NaN.

    Raises
    ------
    HTTPException
        Where it is no object, or has other fields than the route takes.
    """
    try:
        value = parsed(body, n_results)
    except (ValueError, RecursionError) as error:
        words = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise HTTPException(400, f"the body must be JSON: {words}") from None
    if not isinstance(value, dict):
        raise HTTPException(400, f"the body must be an object; got {type(value).__name__}")
    if len(body) <= PIECE and isinstance(value.get("results"), list):
        value["results"] = [math.nan if one is None else one for one in value["results"]]
    return checked(value, route)


def checked(value, route):
    """The same of fields that were read."""
    for name in route.takes:
        if name not in value:
            raise HTTPException(400, f"{name} must be given")
    for name in value:
        if name not in (*route.takes, *route.may_take):
            known = ", ".join((*route.takes, *route.may_take)) or "nothing"
            raise HTTPException(400, f"fields must be {known}; got {name[:60]!r}")
    return value
