"""The whole interface without what other systems and other options of Python lack."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pybandit as pb
from pybandit._shared import alive

import unlike_linux
from sources import of_sources

TOUR = Path(__file__).parent / "tour.py"


def tour(*options, arguments=(), **variables):
    """Run the tour in another interpreter."""
    done = subprocess.run(
        [sys.executable, *options, TOUR, *arguments], text=True, capture_output=True,
        encoding="utf-8", env=os.environ | variables | {
            "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"})
    assert (done.returncode, done.stdout) == (0, "all of it works\n"), done.stderr[-4000:]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux is made unlike itself")
def test_interface_works_without_the_calls_that_windows_lacks():
    tour(arguments=["windows"], PYTHONWARNDEFAULTENCODING="1")


@pytest.mark.parametrize("options", [("-X", "dev", "-W", "error"), ("-OO",)])
def test_interface_works_with_options_of_python(options):
    tour(*options)


@pytest.mark.skipif(sys.platform != "linux", reason="the library of Windows is played by /proc")
def test_windows_tells_whether_a_process_lives():
    library = unlike_linux.Kernel32()

    def started(pid):
        return alive.of_windows(pid, library, lambda: library.error)

    assert started(os.getpid()).isdecimal() and started(os.getpid()) == started(os.getpid())
    assert started(2**22 + 7) is None
    library.OpenProcess = unlike_linux.Function(lambda *arguments: None)
    library.error = 5  # access is denied: the process of another user
    assert started(os.getpid()) == ""
    library = unlike_linux.Kernel32()
    library.WaitForSingleObject = unlike_linux.Function(lambda process, patience: 0)
    assert started(os.getpid()) is None  # it has ended, but a handle of it is open


def test_refused_replacement_keeps_the_log_of_a_study(tmp_path, monkeypatch):
    def refused(old, new):
        raise PermissionError(13, "it is used by another process", old)

    path = tmp_path / "tea.study"
    policy = pb.policies.Uniform(2, budget=4)
    with pb.Study.create(path, policy) as study:
        study.ask()
        assert (log := Path(f"{path}-wal")).stat().st_size
        monkeypatch.setattr(os, "rename", refused)
        with pytest.raises(pb.errors.StudyError, match="close it in other programs first"):
            pb.Study.create(path, policy, overwrite=True)
        assert log.stat().st_size
    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(PermissionError, match="on Windows, close it first"):
        pb.simulate(policy, pb.environments.GaussianBandit([0.0, 1.0]), 2).save(tmp_path / "a.npz")
    assert os.listdir(tmp_path) == ["tea.study"]


@pytest.mark.parametrize("setup, words", [
    (True, "source folder, .*: start Python in another folder to use an installed package"),
    (False, "are not compiled for .*: install pybandit-core")])
def test_unbuilt_folder_is_named_with_the_remedy(setup, words, tmp_path):
    package = Path(pb.__file__).parent
    for path in ("__init__.py", "_shared/compiled.py", "_shared/paths.py", "_shared/version.py",
                 "_shared/__init__.py"):
        copy = tmp_path / "pybandit" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((package / path).read_bytes())
    if setup:
        (tmp_path / "setup.py").touch()
    done = subprocess.run([sys.executable, "-c", "import pybandit"], cwd=tmp_path, text=True,
                          capture_output=True, env=os.environ | {"PYTHONPATH": ""})
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ") and re.search(words, last)


@of_sources
def test_call_that_windows_lacks_is_reported(tmp_path, monkeypatch, capfd):
    pytest.importorskip("mypy")
    import platforms

    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.py").write_text("import os, sys\n\n\ndef one():\n    return os.getpid()\n")
    assert platforms.main(["good.py"]) == 0
    (tmp_path / "bad.py").write_text("import os\n\n\ndef one():\n    return os.fork()\n")
    assert platforms.main(["good.py", "bad.py"]) == 1
    printed = capfd.readouterr().out
    assert printed.startswith("win32: bad.py:5: error:") and printed.count("\n") == 1
