"""Working folders of shuffles: removed after SIGTERM; after SIGKILL, by the next shuffle."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from pybandit._shared import alive
from pybandit.tables import _scratch, shuffle

pytest.importorskip("pyarrow")
NAME = ".pybandit-" + "0" * 32
SHUFFLES = ("import sys; from pybandit.tables import shuffle\n"
            "def run(): shuffle(sys.argv[1], sys.argv[2], overwrite=True, rng=1)\n"
            "{}run(); print('on', flush=True)\nwhile True: run()")


def killed(folder, tmp_path, number, wait, before=""):
    """Return the exit status of a process that shuffles until it gets a signal."""
    child = subprocess.Popen([sys.executable, "-c", SHUFFLES.format(before), folder / "table.npy",
                              tmp_path / "out.parquet"], stdout=subprocess.PIPE)
    child.stdout.readline()
    time.sleep(wait)
    child.send_signal(number)
    try:
        child.communicate(timeout=60)
    finally:
        child.kill()
    return child.returncode


@pytest.mark.parametrize("wait", [0.0, 0.02, 0.1, 0.25])
def test_sigterm_leaves_nothing_and_ends_the_process(wait, folder, tmp_path):
    assert killed(folder, tmp_path, signal.SIGTERM, wait) == -signal.SIGTERM
    assert os.listdir(tmp_path) == ["out.parquet"]


def test_own_handler_of_sigterm_is_kept(folder, tmp_path):
    before = "import signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); "
    assert killed(folder, tmp_path, signal.SIGTERM, 0.1, before) == 7
    assert os.listdir(tmp_path) == ["out.parquet"]


def test_sigterm_handler_is_restored(folder, tmp_path):
    seen = []

    def work(inside):
        seen.append(signal.getsignal(signal.SIGTERM))
        assert sorted(os.listdir(tmp_path)) == [inside.name]

    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    _scratch.in_scratch(tmp_path, work)
    thread = threading.Thread(target=_scratch.in_scratch, args=(tmp_path, work))
    thread.start()
    thread.join()
    assert callable(seen[0]) and seen[1] is signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and not os.listdir(tmp_path)


def test_next_shuffle_removes_folder_left_by_sigkill(folder, tmp_path):
    left = []
    for wait in (0.01, 0.04, 0.07, 0.1, 0.15):
        assert killed(folder, tmp_path, signal.SIGKILL, wait) == -signal.SIGKILL
        left += [name for name in os.listdir(tmp_path) if name.startswith(".pybandit-")]
        if left:
            break
    assert left
    for name in left:  # killed before it wrote the owner: considered stale after a minute
        if set(os.listdir(tmp_path / name)) <= {"owner.json"}:
            os.utime(tmp_path / name, (0, 0))
    shuffle(folder / "table.npy", tmp_path / "out.parquet", rng=1, overwrite=True)
    assert os.listdir(tmp_path) == ["out.parquet"]


def owned(path, owner):
    path.mkdir()
    (path / "0.rows").write_bytes(b"rows")
    (path / "owner.json").write_text(owner if isinstance(owner, str) else json.dumps(owner))
    return path


def test_folders_of_dead_processes_of_this_machine_are_removed(tmp_path):
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                           capture_output=True, text=True)
    path = owned(tmp_path / NAME, [alive.here(), int(child.stdout), "boot 1"])
    _scratch.remove_stale(tmp_path)
    assert not path.exists()


@pytest.mark.parametrize("owner", [
    lambda: [alive.here(), os.getpid(), alive.started(os.getpid())],
    lambda: ["elsewhere", 2**22 + 7, "boot 1"], lambda: [alive.here(), -1, "boot 1"],
    lambda: [alive.here(), 0, "x"], lambda: [alive.here(), 1 << 40, "x"], lambda: "no JSON",
    lambda: "[" * 4000, lambda: [alive.here(), "1", "x"], lambda: [alive.here()], lambda: {}])
def test_folders_of_living_and_unknown_processes_stay(owner, tmp_path):
    path = owned(tmp_path / NAME, owner())
    _scratch.remove_stale(tmp_path)
    assert (path / "0.rows").read_bytes() == b"rows"


def test_other_folders_are_not_removed(tmp_path):
    """Links, other names, and a FIFO in place of the owner file."""
    dead = [alive.here(), 2**22 + 7, "boot 1"]
    target = owned(tmp_path / "target", dead)
    (tmp_path / NAME).symlink_to(target)
    other = owned(tmp_path / ".pybandit-mine", dead)
    fifo = tmp_path / NAME.replace("0", "a")
    fifo.mkdir()
    os.mkfifo(fifo / "owner.json")
    _scratch.remove_stale(tmp_path)
    assert all((path / "0.rows").exists() for path in (target, other)) and fifo.exists()
    assert (tmp_path / NAME).is_symlink()
