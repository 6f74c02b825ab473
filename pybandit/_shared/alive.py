"""Tell whether another process of this machine is still running."""

import ctypes
import os
import socket
import sys
from ctypes import wintypes

# constants of Windows
QUERY_AND_WAIT = 0x1000 | 0x100000  # PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE
NO_SUCH_PROCESS = 87  # ERROR_INVALID_PARAMETER
HAS_ENDED = 0  # WAIT_OBJECT_0


def here():
    """Return the name of this machine and of the PID namespace (containers have their own)."""
    try:
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:  # only Linux has it
        numbers = ""
    return f"{socket.gethostname()} {numbers}".strip()


def started(pid):
    """Return the start time of a process as text: "" if unknown, None if it does not exist."""
    if sys.platform == "win32":  # os.kill(pid, 0) would send Ctrl-C there
        return of_windows(pid, ctypes.WinDLL("kernel32", use_last_error=True),
                          ctypes.get_last_error)
    return of_posix(pid)


def of_posix(pid):
    """Return `started(pid)` on Linux, macOS and other systems with POSIX signals."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:  # a process of another user
        pass
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, *numbers = file.read().rpartition(")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
    except OSError:  # not Linux
        return ""
    # a zombie has ended
    return None if state in "ZX" else f"{boot} {numbers[18]}"


def of_windows(pid, kernel32, last_error):
    """Return `started(pid)` on Windows: the creation time, which no two processes share."""
    kernel32.OpenProcess.argtypes = wintypes.DWORD, wintypes.BOOL, wintypes.DWORD
    kernel32.OpenProcess.restype = wintypes.HANDLE
    kernel32.WaitForSingleObject.argtypes = wintypes.HANDLE, wintypes.DWORD
    kernel32.WaitForSingleObject.restype = wintypes.DWORD
    kernel32.GetProcessTimes.argtypes = wintypes.HANDLE, *[ctypes.POINTER(wintypes.FILETIME)] * 4
    kernel32.CloseHandle.argtypes = wintypes.HANDLE,
    process = kernel32.OpenProcess(QUERY_AND_WAIT, False, pid)
    if not process:  # it does not exist, or belongs to another user
        return None if last_error() == NO_SUCH_PROCESS else ""
    try:
        if kernel32.WaitForSingleObject(process, 0) == HAS_ENDED:
            return None
        times = [wintypes.FILETIME() for _ in range(4)]
        if not kernel32.GetProcessTimes(process, *map(ctypes.byref, times)):
            return ""
        return f"{times[0].dwHighDateTime << 32 | times[0].dwLowDateTime}"
    finally:
        kernel32.CloseHandle(process)


def is_alive(pid, began):
    """Return True if process `pid`, started at `began`, is running; numbers are reused."""
    now = started(pid)
    return now is not None and (now == began or "" in (now, began))
