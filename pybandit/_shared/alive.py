"""Tell whether another process of this machine is still running."""

import os
import socket


def here():
    """This machine, and how it numbers its processes: a container has numbers of its own."""
    try:
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:  # only Linux has it
        numbers = ""
    return f"{socket.gethostname()} {numbers}".strip()


def started(pid):
    """When a process began; "" where the system does not say, None where there is none."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:  # another user's
        pass
    try:
        with open(f"/proc/{pid}/stat") as file:
            state, *numbers = file.read().rpartition(")")[2].split()
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
    except OSError:
        return ""
    # nobody has asked yet how a zombie ended, but it has
    return None if state in "ZX" else f"{boot} {numbers[18]}"


def is_alive(pid, began):
    """Whether the process of that number is the one that began then: numbers come again."""
    now = started(pid)
    return now is not None and (now == began or "" in (now, began))
