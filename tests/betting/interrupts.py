"""Raise Ctrl-C at a chosen moment, by an alarm with the handler of SIGINT."""

import contextlib
import signal


@contextlib.contextmanager
def alarms():
    """Let alarms raise KeyboardInterrupt inside the block."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def interruption(seconds, call, *args):
    """Call with Ctrl-C after `seconds`; return the KeyboardInterrupt, or None if the call ended."""
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
    """Call with Ctrl-C after `seconds`; return True if it came before the end."""
    return interruption(seconds, call, *args) is not None
