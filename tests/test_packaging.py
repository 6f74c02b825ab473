"""Contents of the wheel and the sdist."""

import ast
import email
import importlib
import os
import pathlib
import re
import runpy
import tarfile
import zipfile

import pytest
import setuptools

import pybandit as pb
from pybandit._shared.optional import DISTRIBUTION

from compiler import HEADERS, KERNELS, ROOT
from sources import of_sources

PACKAGE = pathlib.Path(pb.__file__).parent
# all compiled modules, such as policies/batch/batch_sar
COMPILED = sorted(stub.relative_to(PACKAGE).with_suffix("").as_posix()
                  for stub in PACKAGE.rglob("*.pyi"))


@pytest.fixture(scope="session")
def wheel(distributions):
    (path,) = distributions.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="session")
def sdist(distributions):
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def files_of(folder, *patterns):
    found = {str(path.relative_to(folder)) for p in patterns for path in folder.rglob(p)}
    assert found, f"no {patterns} in {folder}"
    return found


def test_the_wheel_holds_what_the_package_needs_and_no_source(wheel):
    names = set(wheel.namelist())
    shipped = files_of(PACKAGE, "*.py", "*.pxd", "*.pyi", "*.h", "*.pc", "*.cmake", "py.typed")
    assert {f"pybandit/{name}" for name in shipped} <= names
    assert not {name for name in names if name.endswith((".c", ".pyx", ".o"))}
    assert {"pybandit/lib/libpybandit.a", "pybandit/lib/pybandit.lib"} & names
    assert {name.split("/")[0] for name in names} == {
        "pybandit", f"pybandit_core-{pb.__version__}.dist-info"}
    extensions = {name for name in names if name.endswith((".so", ".pyd"))}
    modules = {name.removeprefix("pybandit/").partition(".")[0] for name in extensions}
    assert any(name.startswith("policies/") for name in modules)
    assert modules >= set(COMPILED) and len(modules) == len(extensions)


def test_wheel_has_correct_metadata(wheel):
    (info,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert metadata["Name"] == DISTRIBUTION
    assert metadata["Version"] == pb.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    required = [one for one in metadata.get_all("Requires-Dist") if "extra ==" not in one]
    assert sorted(one.partition(">")[0] for one in required) == ["numpy", "scipy"]
    assert "pybandit = pybandit.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()


def test_texts_name_the_right_package_to_install(wheel):
    """No text names another project's package, and all named extras exist."""
    texts = {path: path.read_text() for folder in (PACKAGE, ROOT / "docs", ROOT / "examples")
             for kind in ("*.py", "*.pyx", "*.md") for path in folder.rglob(kind)}
    texts |= {path: path.read_text() for path in ROOT.glob("*.md")}
    assert not [path for path, text in texts.items()
                if re.search(r"pybandit\[|pip install '?pybandit(?![-\w`])", text)]
    (info,) = {name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")}
    extras = set(email.message_from_bytes(wheel.read(info)).get_all("Provides-Extra"))
    named = {extra for text in texts.values() for extra in
             re.findall(r'require\("[\w.]+", "(\w+)"\)|pybandit-core\[(\w+)\]', text)}
    assert len(named) > 4 and {one or other for one, other in named} <= extras


def test_the_sdist_holds_every_source_and_nothing_generated(sdist):
    assert {"LICENSE", "README.md", "CHANGELOG.md", "Makefile", "pyproject.toml"} <= sdist
    assert {kernel.relative_to(ROOT).as_posix() for kernel in KERNELS} <= sdist
    declared = {"pybandit/__init__.pxd", "pybandit/embedding.pxd", "pybandit/embedding.pyx"}
    declared |= {f"pybandit/{header.relative_to(pb.get_include()).parts[1]}/_csrc.pxd"
                 for header in HEADERS}
    assert {f"pybandit/{name}.pyx" for name in COMPILED} <= sdist | declared
    assert {"tools/declare.py", "tools/c_headers.py", "tools/unpublished.py"} <= sdist
    assert len(declared) == 11 and not declared & sdist
    assert {f"tests/{name}" for name in files_of(ROOT / "tests", "*.py", "*.c", "*.pyx")} <= sdist
    assert {f"pybandit/{header.relative_to(PACKAGE).as_posix()}" for header in HEADERS} <= sdist
    assert not {name for name in sdist if name.startswith("pybandit/") and name.endswith(".c")}


def test_sdist_is_reproducible(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYBANDIT_EXTENSIONS", "none")
    monkeypatch.setattr(setuptools, "setup", lambda **options: None)
    command = runpy.run_path("setup.py")["SourceArchive"](setuptools.Distribution())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1735689600")
    made = []
    for age, mode in ((0, 0o600), (1_000_000_000, 0o664)):
        folder = tmp_path / f"at_{age}"
        for name in ("b.c", "a/run"):
            path = folder / "pack-1.0" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
            path.chmod(mode | (0o100 if path.name == "run" else 0))
            os.utime(path, (age, age))
        monkeypatch.chdir(folder)
        name = command.make_archive("dist/pack", "gztar", base_dir="pack-1.0")
        made.append(pathlib.Path(name).read_bytes())
    assert made[0] == made[1]
    with tarfile.open(folder / "dist" / "pack.tar.gz") as archive:
        modes = {member.name: member.mode for member in archive if member.isfile()}
    assert modes == {"pack-1.0/a/run": 0o755, "pack-1.0/b.c": 0o644}


def test_get_include_holds_every_header_that_is_included():
    lines = [line for source in [*KERNELS, *HEADERS] for line in source.read_text().splitlines()]
    included = {line.split('"')[1] for line in lines if line.startswith('#include "pybandit/')}
    assert included == {header.relative_to(pb.get_include()).as_posix() for header in HEADERS}


def test_public_names():
    assert all(hasattr(pb, name) for name in pb.__all__)  # includes names that are loaded on demand
    public = {name for name in vars(pb) if not name.startswith("_")}
    submodules = {path.name.partition(".")[0] for path in PACKAGE.iterdir()}
    assert public - submodules == set(pb.__all__) - submodules


@pytest.mark.parametrize("name", COMPILED)
def test_stub_names_all_public_objects_of_its_module(name):
    module = importlib.import_module(f"pybandit.{name}".replace("/", "."))
    body = ast.parse((PACKAGE / f"{name}.pyi").read_text()).body
    assert set(getattr(module, "__all__", [])) <= _defined(body)
    for node in body:
        if isinstance(node, ast.ClassDef):
            # the stub must have all fields and methods, also of bases without a stub
            held = {key for base in _without_stub(getattr(module, node.name)) for key in vars(base)
                    if not key.startswith("_")}
            stubbed = {key for key in _defined(node.body) if not key.startswith("_")}
            assert held == stubbed, node.name


def _without_stub(cls):
    """Return a class and its bases that have no stub."""
    stubbed = {f"pybandit.{name.replace('/', '.')}" for name in COMPILED}
    return [cls, *(base for base in cls.__mro__[1:] if base.__module__.startswith("pybandit.")
                   and base.__module__ not in stubbed)]


def _defined(body):
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
    return names


def test_every_public_compiled_module_has_a_stub():
    compiled = {path.relative_to(PACKAGE).as_posix().partition(".")[0]
                for path in PACKAGE.rglob("*.so")}
    assert "policies/batch/batch_sar" in compiled
    assert {name for name in compiled if "_" not in (name[0], name[name.rfind("/") + 1])} <= set(
        COMPILED)
    assert (PACKAGE / "py.typed").exists()


@of_sources
def test_no_extension_declares_support_for_free_threading():
    """It is not proven; docs/how_it_is_checked.md says what is missing."""
    sources = [*(ROOT / "pybandit").rglob("*.pyx"), *(ROOT / "pybandit").rglob("*.pxd"),
               ROOT / "setup.py"]
    assert len(sources) > 50
    assert not [path for path in sources if "freethreading_compatible" in path.read_text()]
