"""A folder for the files of a shuffle, which is removed when the shuffle ends or fails.

SIGTERM removes the folder and then ends the process as usual. After SIGKILL the folder
stays until the next shuffle into the same directory: `owner.json` names the process that made it.
"""

import json
import os
import re
import secrets
import shutil
import signal
import stat
import threading
import time
from pathlib import Path

from pybandit._shared import alive
from pybandit._shared.files import parsed_json, read_regular

NAME = re.compile(r"\.pybandit-[0-9a-f]{32}")
OWNER, MOST_OWNER = "owner.json", 1 << 12


class Terminated(BaseException):
    """SIGTERM was received; the process ends by it once the folder is gone."""


def in_scratch(parent, work):
    """Return ``work(folder)`` for a new folder in `parent`, which is removed afterwards."""
    remove_stale(parent)
    folder = Path(parent) / f".pybandit-{secrets.token_hex(16)}"
    heard = _hear_sigterm()
    try:
        folder.mkdir(0o700)
        owner = json.dumps([alive.here(), os.getpid(), alive.started(os.getpid()) or ""])
        (folder / OWNER).write_text(owner, "ascii")
        return work(folder)
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:  # Ctrl-C may interrupt the removal too
            shutil.rmtree(folder, ignore_errors=True)
            if heard is not None:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                if heard:  # even if a callback suppressed the exception
                    signal.raise_signal(signal.SIGTERM)


def _hear_sigterm():
    """Make SIGTERM raise `Terminated` if it has no other handler.

    Returns a list that receives the signals, or None if there is another handler.
    """
    if (threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL):
        return None
    heard = []

    def terminate(number, frame):
        heard.append(number)
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    return heard


def remove_stale(parent):
    """Remove folders of shuffles of this machine whose process has ended.

    Folders of other users and of other machines stay: their processes may still run.
    """
    try:
        found = [entry.path for entry in os.scandir(parent) if NAME.fullmatch(entry.name)]
    except OSError:
        return
    for path in found:
        if _is_stale(path):
            shutil.rmtree(path, ignore_errors=True)


def _is_stale(path):
    try:
        about = os.lstat(path)
        own = os.getuid() if hasattr(os, "getuid") else about.st_uid
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != own:
            return False
        host, pid, began = parsed_json(read_regular(os.path.join(path, OWNER), MOST_OWNER))
    except (OSError, ValueError, TypeError):
        return _is_abandoned(path)
    if not (isinstance(began, str) and type(pid) is int and 0 < pid < 1 << 31):
        return False
    return host == alive.here() and not alive.is_alive(pid, began)


def _is_abandoned(path):
    """Return True if a folder without an owner has not changed for a minute."""
    try:
        is_old = time.time() - os.lstat(path).st_mtime > 60.0
        return is_old and set(os.listdir(path)) <= {OWNER}
    except OSError:
        return False
