"""Tell whether another process of this machine is still running."""

import os
import socket


def here():
    """Return the name of this machine and of the PID namespace (containers have their own)."""
    try:
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:  # only Linux has it
        numbers = ""
    return f"{socket.gethostname()} {numbers}".strip()


def started(pid):
    """Return the start time of a process as text: "" if unknown, None if it does not exist."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:  # a process of another user
        pass
    try:
        with open(f"/proc/{pid}/stat") as file:
            state, *numbers = file.read().rpartition(")")[2].split()
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
    except OSError:
        return ""
    # a zombie has ended
    return None if state in "ZX" else f"{boot} {numbers[18]}"


def is_alive(pid, began):
    """Return True if process `pid`, started at `began`, is running; numbers are reused."""
    now = started(pid)
    return now is not None and (now == began or "" in (now, began))
