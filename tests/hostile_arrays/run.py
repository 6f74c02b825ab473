"""Run the calls of some parts of the package while other code writes to their arrays.

Usage: ``run.py SECONDS PART ...``, with keys of `border_calls.ROOMS` as parts.

Any exception and any result is correct, but the process must neither crash nor hang. Each call is
printed before it is made, so the last line of the output names the one that did.
"""

import contextlib
import faulthandler
import io
import signal
import sys
import time
import warnings
import zlib

import numpy as np

from border_calls import ROOMS

from hostile_arrays.arena import FORMS, Arena
from hostile_arrays.drivers import DRIVERS

# limit in seconds; no call takes as long, even on a busy machine with sanitizers
HANGS = 300


class Slow(BaseException):
    """Raised if a call accepts the odd numbers and takes long."""


def stop(*_):
    raise Slow


def drivers_of(made):
    """Return the calls of an object by name: those of its class and of its base classes."""
    return {name: drive for cls in reversed(type(made).__mro__)
            for name, drive in DRIVERS.get(cls, {}).items()}


def attempt(call, seconds):
    """Make a call, which may take `seconds`; return its result, or None if it raises."""
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return call()
    except (Exception, Slow):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def attack(arena, function, given, seconds):
    """Call a function repeatedly with its arrays in the arena, and call methods of its results."""
    name, end = function.__name__, time.monotonic() + seconds
    i = zlib.crc32(name.encode())  # each function starts with another form
    last = i + 2
    while i < last or time.monotonic() < end:
        arena.begin(i)
        made = attempt(lambda: function(**{key: arena(value) for key, value in given.items()}), 2.0)
        if made is None:
            made = attempt(lambda: function(**given), 2.0)
        for method, drive in drivers_of(made).items():
            print(name, method, i % len(FORMS), flush=True)
            attempt(lambda drive=drive, made=made: drive(made, arena), 2.0)
        i += 1


def main(seconds, *rooms):
    """Attack every public callable of these rooms for `seconds` each."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, stop)
    arena = Arena()
    arena.start()
    sys.setswitchinterval(1e-5)
    for room in rooms:
        for function, given in ROOMS[room].items():
            faulthandler.dump_traceback_later(HANGS, exit=True)
            print(room, function.__name__, flush=True)
            attack(arena, function, given, float(seconds))
    faulthandler.cancel_dump_traceback_later()
    print("whole", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
