"""Lists of the tests that run on extensions with sanitizers: soon, later, or never, and why.

`make sanitize` runs the tests of kernels and compiled classes, `make sanitize-slow` the rest. An
entry names a folder, a file, or file::function with or without parameters; the longest entry that
matches a test counts. Tests without an entry run soon, so that none is left out by mistake.
"""

LISTS = {
    "never": {
        "cli/test_screen_export.py::test_export_of_a_million_wells_takes_a_hundred_megabytes":
            "a memory limit: sanitizers take six times as much memory",
        "test_floors.py": "its C tests use sanitizers anyway: `make sanitize` runs it first",
        "test_packaging.py": "builds and installs wheels, which have no sanitizers",
        "embedding/test_cimport.py": "builds another package against the headers",
        "embedding/test_embed.py": "builds programs with their own sanitizers, and foreign"
                                   " samplers without any",
        "embedding/test_linking.py": "links programs with the wheel",
        "test_blocks.py::test_the_blocks_of_a_page_run[embed.md]":
            "links a program without sanitizers with libraries",
        "hostile": "limits of memory and time: sanitizers take several times as much",
        "typed": "checks types and runs nothing",
    },
    "later": {
        **dict.fromkeys(["cli", "evaluation", "lab", "model_selection", "serving", "studies",
                         "webtests"],
                        "a room without compiled code: other rooms test what it calls"),
        "fuzz/test_fuzz.py::test_c_fuzzer_passes_a_few_inputs":
            "programs with their own sanitizers",
        "site": "pages, which show what other rooms test",
        "soak": "memory over time, which sanitizers change",
        "simulation/test_numba.py": "code compiled by numba, which no sanitizer checks",
        "test_blocks.py": "pages, which show what other rooms test",
        "test_docstrings.py": "examples, which show what other rooms test",
        "test_examples.py": "scripts, which show what other rooms test",
    },
}
EVERY = {name: when for when, names in LISTS.items() for name in names}


def when(path, test):
    """Return "soon", "later" or "never" for a test, given its path below tests/ and its name."""
    parts = path.split("/")
    names = [f"{path}::{test}", f"{path}::{test.partition('[')[0]}",
             *("/".join(parts[:n]) for n in range(len(parts), 0, -1))]
    return next((EVERY[name] for name in names if name in EVERY), "soon")


def those_of(items, wanted, root):
    """Return, for each collected test, True if it belongs to the requested run."""
    return [when(item.path.relative_to(root).as_posix(), item.name) == wanted
            for item in items]
