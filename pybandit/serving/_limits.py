"""Limits of requests: size by kind, total size of bodies in memory, and time in the event loop.

Independent of the web framework.
"""

import asyncio
import codecs
import contextlib
import json
import math
import re

# Bytes of a request without results: names, numbers, and the reason of an amendment.
SMALL = 16_384
# Bytes per result: a value of up to 24 digits, its position, separators and indentation.
PER_RESULT = 64
# Results of one request; another array of the same length holds their positions.
MOST_RESULTS = 1_000_000
MOST_FIELDS = 4
# Total bytes of bodies above SMALL in memory; one body of the largest size fits.
HELD = SMALL + PER_RESULT * MOST_RESULTS
# Bytes parsed in one call. Other threads wait meanwhile, about 5 ms at worst.
PIECE = 16_384
FIELD = re.compile(rb'[ \t\r\n]*"([a-z_]{1,32})"[ \t\r\n]*:[ \t\r\n]*')
NEXT = re.compile(rb"[ \t\r\n]*([,}])[ \t\r\n]*")
OPEN = re.compile(rb"[ \t\r\n]*\{[ \t\r\n]*")


class TooLarge(ValueError):
    """Raised for a body that is larger than the limit of its kind."""


class Busy(Exception):
    """Raised if too many large bodies are in memory."""


def most_bytes(n_results=None):
    """Return the maximum size of a body; `n_results` is the maximum number of its results."""
    return SMALL + (0 if n_results is None else PER_RESULT * min(n_results, MOST_RESULTS))


def check_bytes(name, size, n_results=None):
    """Raise TooLarge if the body of request `name` is larger than its limit."""
    most = most_bytes(n_results)
    if size > most:
        why = "" if n_results is None else (f": {SMALL:,}, and {PER_RESULT} for each of "
                                            f"{n_results:,} results (the largest batch plus 1)")
        raise TooLarge(f"the body of {name} must be at most {most:,} bytes{why}; got {size:,}")


class BodyMemory:
    """Memory of the request bodies that are processed at the same time.

    Small bodies are not counted: the number of connections limits them.
    """

    def __init__(self, most=HELD, patience=15.0):
        self.most, self.patience, self.held = most, patience, 0
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def for_body(self, size):
        """Hold memory for a body of `size` bytes; wait for it, or raise Busy."""
        if size <= SMALL:
            yield
            return
        try:
            async with asyncio.timeout(self.patience), self._changed:
                await self._changed.wait_for(lambda: self.held + size <= self.most)
                self.held += size
        except TimeoutError:
            raise Busy("too many large bodies at the same time: send the request again") from None
        try:
            yield
        finally:
            self.held -= size
            async with self._changed:
                self._changed.notify_all()


def parsed(body, n_results=MOST_RESULTS):
    """Return the object in a JSON body.

    A body above `PIECE` bytes is read in parts, between which other threads run. It must be an
    object without nesting, whose arrays have numbers and null, at most `n_results` each; null
    becomes NaN.

    Raises
    ------
    ValueError, RecursionError
        If the body is not JSON, or not of that form.
    """
    if len(body) <= PIECE:
        return json.loads(body.decode() if body else "{}", object_pairs_hook=_single,
                          parse_constant=_no_constant)
    at, value, sign = _found(OPEN, body, 0, "an object").end(), {}, b","
    while sign == b",":
        field = _found(FIELD, body, at, "the name of a field")
        name, at = field[1].decode(), field.end()
        if name in value:
            raise ValueError(f"{name!r} must occur once in an object")
        if body[at:at + 1] == b"[":
            value[name], at = _array(name, body, at, n_results)
        else:
            value[name], at = _scalar(name, body, at)
        if len(value) > MOST_FIELDS:
            raise ValueError(f"an object must have at most {MOST_FIELDS} fields")
        found = _found(NEXT, body, at, f"',' or '}}' after {name}")
        sign, at = found[1], found.end()
    if at < len(body):
        raise ValueError(f"nothing must follow the object; got more at byte {at}")
    return value


def _found(pattern, body, at, what):
    found = pattern.match(body, at)
    if found is None:
        raise ValueError(f"{what} is expected at byte {at}")
    return found


def _array(name, body, at, most):
    """Return the numbers of the array that starts at a byte, and the byte after its end."""
    values, start, end = [], at + 1, body.find(b"]", at)
    if end < 0:
        raise ValueError(f"{name} must end with ']'")
    while start <= end:
        cut = end if end - start <= PIECE else body.rfind(b",", start, start + PIECE)
        piece = body[start:cut] if cut > 0 else b'"'
        if any(mark in piece for mark in (b"[", b"{", b'"')) or (values and not piece.strip()):
            raise ValueError(f"{name} must be an array of numbers and null; it is not at byte "
                             f"{start}")
        values += [math.nan if one is None else one
                   for one in json.loads(b"[" + piece + b"]", parse_constant=_no_constant)]
        if len(values) > most:
            raise ValueError(f"{name} must have at most {most:,} entries")
        start = cut + 1
    return values, end + 1


def _scalar(name, body, at):
    """Return the number, text or literal that starts at a byte, and the byte after its end."""
    text = codecs.getincrementaldecoder("utf-8")().decode(body[at:at + SMALL])
    if text[:1] == "{":
        raise ValueError(f"{name} must not be an object")
    value, end = json.JSONDecoder(parse_constant=_no_constant).raw_decode(text)
    return value, at + len(text[:end].encode())


def _single(pairs):
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name must occur once in an object")
    return value


def _no_constant(name):
    raise ValueError(f"{name} is not a JSON number; use null for an unknown result")
