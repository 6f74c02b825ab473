"""JSON at the border: objects with the fields that a route takes, and nothing else."""

import json
import math

from pybandit.serving._http import Refused


def fields_of(body, route):
    """The fields of a body in JSON; null among results is NaN.

    Raises
    ------
    Refused
        Where it is no object, or has other fields than the route takes.
    """
    try:
        value = json.loads(body.decode() if body else "{}", object_pairs_hook=_single,
                           parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        words = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise Refused(400, f"the body must be JSON: {words}") from None
    if not isinstance(value, dict):
        raise Refused(400, f"the body must be an object; got {type(value).__name__}")
    return checked(value, route)


def checked(value, route):
    """The same of fields that were read."""
    for name in route.takes:
        if name not in value:
            raise Refused(400, f"{name} must be given")
    for name in value:
        if name not in (*route.takes, *route.may_take):
            known = ", ".join((*route.takes, *route.may_take)) or "nothing"
            raise Refused(400, f"fields must be {known}; got {name[:60]!r}")
    if isinstance(value.get("results"), list):
        value["results"] = [math.nan if one is None else one for one in value["results"]]
    return value


def _single(pairs):
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name must stand once in an object")
    return value


def _no_constant(name):
    raise ValueError(f"{name} is no number of JSON; null is a result that is not known")
