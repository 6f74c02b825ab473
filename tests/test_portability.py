"""Sources and flags for compilers other than GCC, and the report of tests/portability.py."""

import re
import runpy
from types import SimpleNamespace

import pytest
import setuptools

import portability
from compiler import KERNELS, ROOT, compile_c
from portability import Toolchain

# GNU extensions; C11 has _Pragma, but does not define the pragmas used
EXTENSION = re.compile(r"__attribute__|__builtin_|__extension__|vector_size|\btypeof\b|\(\{"
                       r"|__int128|#\s*pragma|_Pragma")


@pytest.mark.parametrize("source", [*KERNELS, *sorted((ROOT / "csrc").rglob("*.h"))],
                         ids=lambda source: source.name)
def test_compiler_extensions_are_conditional(source):
    depth, guard = 0, source.suffix == ".h"
    for line in source.read_text().splitlines():
        depth += bool(re.match(r"#\s*if", line)) - bool(re.match(r"#\s*endif", line))
        assert depth > guard or not EXTENSION.search(line), line


def test_kernels_are_strict_c11_without_vectors():
    compile_c("-DPB_PLAIN", "-fsyntax-only", *KERNELS)


@pytest.mark.slow
def test_results_without_vectors_are_bitwise_equal(tmp_path):
    found = {}
    for one in (Toolchain("gcc", "gcc"), Toolchain("plain", "gcc", portability.PLAIN)):
        (tmp_path / one.name).mkdir()
        found[one.name] = portability.digests(one, tmp_path / one.name)
        assert portability.report(one, found[one.name], 0.0, {})
    assert found["gcc"] == found["plain"] and len(set(found["gcc"].values())) > 30


def test_different_bits_are_reported(capsys):
    one = Toolchain("gcc", "gcc")
    assert portability.report(one, {"a": "1", "b": "2"}, 3.2, {"a": "1", "b": "3"})
    assert capsys.readouterr().out == "gcc: 2 of 2 passed, 3 s; other bits in b\n"


def test_error_is_reported_and_fails(capsys):
    one = Toolchain("gcc", "gcc", stage="linked")
    assert not portability.report(one, {"a": "", "b": RuntimeError("no")}, 0.4, {})
    assert capsys.readouterr().out == "gcc: 1 of 2 linked, 0 s\nfailed: b\nno\n"


def test_missing_compiler_is_reported(capsys, monkeypatch):
    monkeypatch.setattr(portability, "TOOLCHAINS", [Toolchain("odd", "no-such-compiler")])
    assert not portability.main([])
    assert capsys.readouterr().out == "odd: no no-such-compiler here, left out\n"


def test_user_defined_compiler_replaces_the_known_one(monkeypatch):
    monkeypatch.setenv("PYBANDIT_TOOLCHAINS", "gcc-15=chroot /srv/sid gcc\nclang=my-clang")
    *_, gcc, clang = portability.known()
    assert (gcc.name, gcc.compiler) == ("gcc-15", "chroot /srv/sid gcc")
    assert clang.compiler == "my-clang"
    assert [one.name for one in portability.known()].count("clang") == 1


def test_msvc_gets_its_own_flags(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYBANDIT_EXTENSIONS", "none")
    monkeypatch.delenv("PYBANDIT_CFLAGS", raising=False)
    monkeypatch.setattr(setuptools, "setup", lambda **options: None)
    flags_for = runpy.run_path("setup.py")["flags_for"]
    assert all(flag.startswith("/") for flag in flags_for(SimpleNamespace(compiler_type="msvc")))
    for compiler_type in ("unix", "mingw32"):
        flags = flags_for(SimpleNamespace(compiler_type=compiler_type))
        assert {"-std=c11", "-ffp-contract=off"} <= set(flags)
        assert not [flag for flag in flags if flag in ("-ffast-math", "-march=native")]
