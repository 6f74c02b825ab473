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


def interrupted(seconds, call, *args):
    """Call, with Ctrl-C after so many seconds; whether it came before the end."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            call(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False
