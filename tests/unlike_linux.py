"""Make this interpreter lack what Windows lacks, and refuse what Windows refuses.

Call `pretend()` after `LIBRARIES` are imported and before pybandit is. Other libraries may use the
names of their system; only the names that pybandit looks up later are removed. This is not Windows:
it finds calls that Windows has not, and none that behave differently there in another way.
"""

import builtins
import ctypes
import errno
import fcntl
import importlib
import mmap
import os
import shutil
import signal
import socket
import stat
import sys
import time
import types
import warnings

# Imported first, because they use names that are removed.
LIBRARIES = ("asyncio", "concurrent.futures.process", "concurrent.futures.thread", "getpass",
             "gzip", "logging", "multiprocessing.pool", "numpy", "scipy.fft", "scipy.integrate",
             "scipy.interpolate", "scipy.optimize", "scipy.special", "scipy.stats", "sqlite3",
             "subprocess", "tempfile", "unittest.mock", "zipfile",
             "anyio", "arviz", "dask.array", "matplotlib.pyplot", "numba", "openpyxl", "pandas",
             "pyarrow.parquet", "sklearn.gaussian_process", "sklearn.linear_model",
             "sklearn.model_selection", "tenacity", "tqdm.auto", "uvicorn", "xarray", "zarr")
# Names that Python documents as "Availability: Unix", or as absent on Windows.
ABSENT = {
    os: ("O_CLOEXEC", "O_DIRECTORY", "O_DSYNC", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC",
         "O_TMPFILE", "chown", "ctermid", "confstr", "fchmod", "fchown", "fdatasync", "fork",
         "forkpty", "fpathconf", "fstatvfs", "getegid", "geteuid", "getgid", "getgroups",
         "getloadavg", "getpgid", "getpgrp", "getpriority", "getresuid", "getuid", "killpg",
         "lchown", "mkfifo", "mknod", "nice", "openpty", "pathconf", "posix_fadvise",
         "posix_fallocate", "posix_spawn", "pread", "preadv", "pwrite", "pwritev", "readv",
         "register_at_fork", "sched_getaffinity", "sched_yield", "sendfile", "setsid", "statvfs",
         "sync", "sysconf", "uname", "wait", "wait3", "wait4", "waitid", "writev"),
    signal: ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2",
             "alarm", "getitimer", "pthread_kill", "pthread_sigmask", "setitimer", "siginterrupt",
             "sigpending", "sigtimedwait", "sigwait"),
    socket: ("AF_UNIX", "SO_REUSEPORT", "socketpair"),
    time: ("clock_getres", "clock_gettime", "pthread_getcpuclockid", "tzset"),
    mmap: tuple(name for name in vars(mmap) if name.startswith(("MADV_", "MAP_", "PROT_"))),
}
MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios",
           "tty")


def pretend():
    """Remove the names, block the modules, and let files behave as they do on Windows."""
    for name in LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:  # an optional package
            pass
    for module, names in ABSENT.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for name in MODULES:
        sys.modules[name] = None
    warnings.filterwarnings("error", category=EncodingWarning, module=r"pybandit(\.|$)")
    _refuse_open_files()
    _refuse_calls()


def in_pybandit():
    """Let `sys.platform` be "win32" in the modules of pybandit that are imported by now."""
    ctypes.WinDLL = Kernel32
    ctypes.get_last_error = lambda: Kernel32.error
    windows = types.ModuleType("sys")
    vars(windows).update(vars(sys) | {"platform": "win32"})
    for name, module in list(sys.modules.items()):
        if name.startswith("pybandit.") and getattr(module, "sys", None) is sys:
            module.sys = windows


_open, _os_open, _stat = builtins.open, os.open, os.stat


def _refuse_open_files():
    """Raise PermissionError if an open file is renamed, replaced or removed."""
    def guarded(call, n_paths, may_replace=True):
        def checked(*paths, **options):
            for path in paths[:n_paths]:
                if "dir_fd" not in options and is_open(path):
                    raise PermissionError(errno.EACCES, "it is used by another process", path)
            if not may_replace and os.path.lexists(paths[1]) and paths[0] != paths[1]:
                raise FileExistsError(errno.EEXIST, "it exists", paths[1])
            return call(*paths, **options)
        return checked

    os.replace = guarded(os.replace, 2)
    os.rename = guarded(os.rename, 2, may_replace=False)
    os.unlink = os.remove = guarded(os.unlink, 1)
    shutil._use_fd_functions = False  # rmtree would open folders


def is_open(path):
    """Return True if this process has a file open, or mapped into memory."""
    try:
        file = _stat(path, follow_symlinks=False)
    except OSError:
        return False
    if not stat.S_ISREG(file.st_mode):
        return False
    for handle in os.listdir("/proc/self/fd"):
        try:
            if os.path.samestat(_stat(int(handle)), file):
                return True
        except OSError:
            continue
    with _open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any(line.split()[4] == str(file.st_ino) for line in maps)


def _refuse_calls():
    def open_file(path, *arguments, **options):
        if isinstance(path, str) and path.startswith(("/proc/", "/dev/shm")):
            raise FileNotFoundError(errno.ENOENT, "Windows has no such file", path)
        return _open(path, *arguments, **options)

    def open_handle(path, *arguments, **options):
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "folders cannot be opened", path)
        return _os_open(path, *arguments, **options)

    def sync(handle, call=os.fsync):
        if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "the file must be open for writing")
        call(handle)

    def read_link(path, call=os.readlink, **options):
        if str(path).startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, "Windows has no such file", path)
        return call(path, **options)

    def kill(pid, number):
        raise AssertionError(f"os.kill({pid}, {number}) sends Ctrl-C, or ends the process")

    builtins.open, os.open, os.fsync, os.readlink, os.kill = (
        open_file, open_handle, sync, read_link, kill)


class Function:
    """A function of a Windows library, whose argument types may be set."""

    def __init__(self, call):
        self.call = call

    def __call__(self, *arguments):
        return self.call(*arguments)


class Kernel32:
    """The four functions of kernel32.dll that tell whether a process lives, by /proc."""

    error = 0

    def __init__(self, name="kernel32", use_last_error=True):
        self.OpenProcess, self.CloseHandle = Function(self.opened), Function(lambda handle: True)
        self.WaitForSingleObject = Function(lambda pid, patience: 258)  # WAIT_TIMEOUT: it runs
        self.GetProcessTimes = Function(self.times)

    @classmethod
    def opened(cls, access, inherits, pid):
        cls.error = 0 if os.path.exists(f"/proc/{pid}") else 87
        return None if cls.error else pid

    @staticmethod
    def times(pid, created, *others):
        with _open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            created._obj.dwLowDateTime = int(file.read().rpartition(")")[2].split()[19])
        return True
