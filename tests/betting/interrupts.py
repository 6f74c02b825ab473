"""Ctrl-C at a chosen moment: an alarm with the handler that SIGINT has."""

import contextlib
import signal


@contextlib.contextmanager
def alarms():
    """Alarms raise KeyboardInterrupt inside."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def interruption(seconds, call, *args):
    """Call, with Ctrl-C after so many seconds; the KeyboardInterrupt, or None at the end."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            call(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt as error:
        return error
    return None


def interrupted(seconds, call, *args):
    """The same; whether it came before the end."""
    return interruption(seconds, call, *args) is not None
