"""Hand hostile files to a reader, each in a separate process, and report the outcomes.

One process imports what the reader needs and forks once per file, so a file costs milliseconds.
A file that hangs, crashes or takes memory ends its own process only. Use::

    PATHS = attack(folder, "hostile.calls:blocks", [folder / "a.npy", folder / "b.npy"])
    PATHS["a.npy"].refused("UnreadableFileError", "must hold real numbers")

`attack` fails if the files took too long or too much memory, if a process died, or if anything
in the folder was changed, deleted or created. A payload that writes a file should write it there,
for example to `folder / "ran"`. `refused` checks the error's class and that its text names the
file and the reason.

The reader is ``module:function``, found below tests/ or installed; it takes the path as str.
`attack_all` takes pairs of a reader and a path.

A study that is opened may change, as may its ``-wal`` and ``-shm``: name them in `may_change`.
"""

import hashlib
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pybandit

TESTS = Path(__file__).parent.parent
# Files take at most 5 s of processor time on a quiet machine, and twice that if another process
# shares the core.
SECONDS, MEGABYTES = 10.0, 500.0
SLOWER = 5  # maximum seconds of wall time per second of processor time on a loaded machine
# Limit of address space beyond that of the imports. It protects the machine that runs the tests;
# the assertion is about resident memory.
BACKSTOP = 4 << 30


class Outcome(NamedTuple):
    """Outcome of reading one file."""

    path: str
    seconds: float  # processor time
    megabytes: float  # peak memory beyond that of the imports
    died: str  # the signal that ended the process, or ""
    errors: list[str]  # class of the exception, then its base classes; empty if the file was read
    text: str  # message of the exception, or repr of the return value

    def refused(self, error, *words):
        """Assert that an exception of class `error` named the file and has these words."""
        assert error in self.errors, self
        assert self.path in self.text, self
        for word in words:
            assert word in self.text, (word, self)
        assert len(self.text) < 2000, self

    def read(self):
        """Assert that the file was read; return the repr of the result."""
        assert not self.errors, self
        return self.text


def attack(folder, reader, paths, **options):
    """Return outcomes by file name; fails as described in the module."""
    found = attack_all(folder, [(reader, path) for path in paths], **options)
    return {Path(one.path).name: one for one in found}


def attack_all(folder, jobs, seconds=SECONDS, megabytes=MEGABYTES, may_change=()):
    """Return the outcomes of (reader, path) pairs; imports are made once."""
    sentinel = Path(folder) / "sentinel.txt"
    sentinel.write_text("nobody may touch this")
    before = _tree(folder)
    jobs = [(reader, str(path)) for reader, path in jobs]
    done = subprocess.run([sys.executable, "-m", "hostile.driver"], cwd=TESTS, text=True,
                          input=json.dumps([seconds, jobs]), capture_output=True,
                          timeout=60 + len(jobs) * seconds * SLOWER)
    assert done.returncode == 0, done.stderr[-3000:]
    outcomes = [Outcome(*one) for one in json.loads(done.stdout.rpartition("\n#")[2])]
    after = _tree(folder)
    for name in may_change:
        before.pop(name, None)
        after.pop(name, None)
    assert after == before
    bad = [one for one in outcomes
           if one.died or one.seconds >= seconds or one.megabytes >= megabytes]
    assert not bad, bad
    return outcomes


def _tree(folder):
    """Return all files below a folder: kind, size, time of change and digest."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        about = path.lstat()
        digest = (hashlib.sha256(path.read_bytes()).hexdigest()
                  if path.is_file() and about.st_size < 1 << 26 else "")
        found[str(path.relative_to(folder))] = (about.st_mode, about.st_size,
                                                about.st_mtime_ns, digest)
    return found


def _main():
    seconds, jobs = json.loads(sys.stdin.read())
    functions = {}
    for reader in dict(jobs):
        module, _, name = reader.partition(":")
        functions[reader] = getattr(importlib.import_module(module), name)
    for name in pybandit.__all__:  # loads modules once here, not at their first use in each child
        getattr(pybandit, name)
    outcomes = [_forked(functions[reader], path, seconds) for reader, path in jobs]
    print("\n#" + json.dumps(outcomes))


def _forked(function, path, seconds):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _read(function, path, writing)
    os.close(writing)
    said = b""
    ends = time.monotonic() + SLOWER * seconds
    while select.select([reading], [], [], max(0.0, ends - time.monotonic()))[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            break
        said += part
    os.close(reading)
    if time.monotonic() >= ends:
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    took = used.ru_utime + used.ru_stime
    if not said:
        died = (signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status)
                else f"exit status {os.waitstatus_to_exitcode(status)}")
        return Outcome(path, took, 0.0, died, [], "")
    errors, text, peak = json.loads(said)
    return Outcome(path, took, peak, "", errors, text)


def _read(function, path, writing):
    """Run in the forked process; never returns."""
    base = _peak()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BACKSTOP, resource.RLIM_INFINITY))
    try:
        errors, text = [], repr(function(path))[:3000]
    except BaseException as error:
        errors, text = [one.__name__ for one in type(error).__mro__], str(error)[:3000]
    os.write(writing, json.dumps([errors, text, _peak() - base]).encode())
    os._exit(0)


def _peak():
    """Return the peak memory of the process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    _main()
