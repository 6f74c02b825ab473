"""`pybandit doctor`: the description of the installation, and the self-test."""

import importlib.metadata
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import pybandit as pb
from pybandit import cli
from pybandit.cli import _self_test, doctor

# rooms without numbers of their own
WITHOUT_RESULTS = {"_shared", "cli", "integrations", "model_selection", "report", "serving"}


def test_doctor_prints_versions_build_packages_and_results(capsys):
    assert cli.main(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.endswith("All is well.\n")
    for words in (r"pybandit \d+\.\d+\.\d+ in /", "compiled by (GCC|Clang|MSVC) ", "hot loops: ",
                  "free-threaded Python: no", "required: numpy 2", "plot: matplotlib ",
                  "racing: equal", r"took \d"):
        assert re.search(words, out), words


def test_self_test_has_every_room_and_finds_a_changed_result(capsys, monkeypatch):
    rooms = {path.parent.name for path in Path(pb.__file__).parent.glob("*/__init__.py")}
    assert set(_self_test.EXPECTED) == rooms - WITHOUT_RESULTS
    monkeypatch.setattr(_self_test, "racing", lambda: [1, 2, 3])
    monkeypatch.setattr(_self_test, "mcmc", lambda: 1 / 0)
    assert cli.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "racing: differs: " in out and "mcmc: ZeroDivisionError: division by zero" in out
    assert out.endswith("Send this output with a report.\n")


def test_package_of_the_same_name_is_reported(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "distributions",
                        lambda: [SimpleNamespace(name=name) for name in ("pybandit", None)])
    (line, is_well), = doctor.conflicts()
    assert not is_well and "pip uninstall pybandit pybandit-core" in line


@pytest.mark.parametrize("line, expected", [
    ("numpy>=2.0", ("numpy", "2.0", "")),
    ('anyio>=4.4; extra == "async"', ("anyio", "4.4", "async")),
    ('dask[array,distributed]>=2024.1; extra == "dask"', ("dask", "2024.1", "dask")),
    ("jax>=0.5; (sys_platform != 'darwin') and extra == 'embed'", ("jax", "0.5", "embed"))])
def test_requirements_are_read(line, expected):
    assert doctor.parsed(line) == expected


@pytest.mark.parametrize("version, text, is_well", [
    ("2.10.1", "2.10.1", True), ("2.9.0rc1", "2.9.0rc1 (too old: at least 2.10 is needed)", False),
    (None, "missing", False)])
def test_old_and_missing_packages_are_named(version, text, is_well, monkeypatch):
    def found(name):
        if version is None:
            raise importlib.metadata.PackageNotFoundError
        return version

    monkeypatch.setattr(importlib.metadata, "version", found)
    assert doctor.state_of("numpy", "2.10") == (text, is_well)


def test_old_required_package_is_not_well(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: ["numpy>=99", "tqdm>=99; "
                                                                      'extra == "progress"'])
    assert [is_well for _, is_well in doctor.packages()] == [False, True]
