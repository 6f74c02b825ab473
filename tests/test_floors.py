"""Dependencies of layers: csrc does not use Python, and compiled modules do not import SciPy."""

import ast
import re
import sys
from pathlib import Path

import pytest

import pybandit as pb
from pybandit import policies

from compiler import HEADERS, KERNELS, ROOT, SANITIZE, compile_c, compile_kernels, run

C_TESTS = sorted((ROOT / "tests").glob("*/c/test_*.c"))
LIBM = {"ceil", "cos", "erfc", "exp", "expm1", "fabs", "floor", "fma", "fmax", "fmin", "frexp",
        "ldexp", "lgamma", "log", "log1p", "log2", "pow", "round", "sin", "sqrt", "tgamma"}
# functions that compilers call without a call in the source
RUNTIME = {"_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail", "memcpy", "memmove", "memset"}
RUNTIME |= {"__cpu_indicator_init", "__cpu_model"}  # used when kernels are loaded


@pytest.mark.slow
def test_kernels_are_strict_c_where_they_are_optimised(tmp_path):
    compile_kernels(tmp_path, "-O3")


def test_every_kernel_has_a_header_and_a_test():
    names = {kernel.stem for kernel in KERNELS}
    assert names
    assert names <= {header.stem for header in HEADERS}
    tested = {test.stem.removeprefix("test_") for test in C_TESTS}
    private = {header.stem for header in (ROOT / "csrc").rglob("*.h")}
    assert names <= tested <= names | private


def test_c_tests_compile():
    """All of them, while few run in each run."""
    compile_c("-fsyntax-only", *C_TESTS)


@pytest.mark.some(12)
@pytest.mark.parametrize("source", C_TESTS, ids=lambda source: source.stem)
def test_c_tests_pass_under_sanitizers(source, kernels, tmp_path):
    program = tmp_path / source.stem
    compile_c(*SANITIZE, source, kernels, "-lm", "-o", program)
    run(program)


def test_a_header_compiles_alone(tmp_path):
    assert HEADERS
    for header in HEADERS:
        source = tmp_path / f"{header.stem}.c"
        name = header.relative_to(pb.get_include())
        source.write_text(f'#include "{name}"\nextern int not_empty;\n')
        compile_c("-fsyntax-only", source)


def test_csrc_does_not_include_python():
    own = sorted((ROOT / "csrc").rglob("*.h"))
    for source in [*KERNELS, *HEADERS, *own]:
        for included in re.findall(r'^\s*#\s*include\s*[<"](.+)[>"]', source.read_text(), re.M):
            standard = re.fullmatch(r"(math|stdint|stddef|string|float|limits)\.h", included)
            ours = included.startswith("pybandit/") or (source.parent / included).resolve() in own
            assert standard or ours, f"{source.name}: {included}"


def test_csrc_keeps_no_state_and_calls_only_the_maths_library():
    (library,) = Path(pb.__file__).parent.glob("lib/libpybandit.a")
    made, defined, wanted = set(), set(), set()
    for line in run("nm", "-A", library).splitlines():
        of, _, symbol = line.rpartition(".o:")
        made.add(of.rpartition(":")[2])
        *_, kind, name = symbol.split()
        assert kind not in "BbCcDdGgSs", f"{of}: {name} is mutable ({kind})"
        (wanted if kind == "U" else defined).add(name)
        assert kind not in "TR" or name.startswith("pb_"), f"{of}: {name} is public"
    assert made == {kernel.stem for kernel in KERNELS}
    assert wanted <= defined | LIBM | RUNTIME, wanted - defined - LIBM - RUNTIME


def test_python_modules_do_not_call_c():
    """Only compiled modules use the names of csrc."""
    for module in (ROOT / "pybandit").rglob("*.py"):
        text = module.read_text()
        assert not re.search(r"\bpb_[a-z]|_csrc", text), module.name
        # compiled functions of users may be ctypes objects; Windows is asked about processes
        assert module.name in ("_callbacks.py", "alive.py") or "import ctypes" not in text


def test_studies_and_policies_are_independent():
    classes = set(policies.__all__) - {"Policy"}
    package = Path(policies.__file__).parents[1]
    studies = sorted((package / "studies").glob("*.py"))
    assert len(classes) > 20 and len(studies) > 10
    for path in studies:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        used |= {node.value for node in nodes
                 if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        assert not used & classes, path
    sources = [path for path in (package / "policies").rglob("*.p*")
               if path.suffix in (".py", ".pyx", ".pxd", ".pyi")]
    assert len(sources) > 100
    for path in sources:
        assert "stud" not in path.read_text().lower().replace("student", ""), path


def test_import_loads_no_scipy():
    code = "import pybandit.studies, sys; print(*sorted(sys.modules))"
    # -P: otherwise `python -c` would prefer the source tree to an installed package
    loaded = run(sys.executable, "-P", "-c", code).split()
    heavy = {"scipy", "matplotlib", "sklearn", "arch", "numba", "dask", "arviz", "pandas", "tqdm"}
    assert not heavy & set(loaded)
