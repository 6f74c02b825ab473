"""Run each single-threaded test in four threads at once, with pytest-run-parallel::

    python tests/threads/parallel.py              # the rooms below, as `make parallel`
    python tests/threads/parallel.py tests/tables

A test that creates its own objects must pass in all threads, because the functions that it calls
have no shared state. If threads share an object, its error about concurrent use is correct as well.
Each test first runs alone; long ones run only once.
"""

import collections
import functools
import inspect
import pathlib
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
THREADS = 4
# processor time of the run alone, in seconds
LONG, TOO_LONG = 0.1, "long"
# if this many cases of a function take long, the others are skipped
STRIKES = 3
ROOMS = ["_shared", "betting", "evaluation", "mcmc", "model_selection", "montecarlo", "policies",
         "racing", "simulation", "studies", "tables"]
# Words in the code, the name or the file of a test that uses state of the process, and reasons.
OF_THE_PROCESS = {
    "ctrl_c": "signals", "signal": "signals", "interrupt": "signals", "os.kill": "signals",
    "fork": "processes", "kills": "processes", "Process": "processes", "subprocess": "processes",
    "costs.py": "time is measured",
    "one_blas_thread": "a number of the process", "test_malformed_results": "a file of the room",
    "test_twin": "a machine of Hypothesis",
    "test_quantiles_are_of_those_that_stopped": "a class counts",
    "test_n_fits_equals_the_fits_made": "a class counts",
    "test_candidates_take_the_splits_in_one_order": "a class counts",
}
REFUSED = "in use by another thread"


def uses_own_fixture(item):
    """Return True if a fixture of function scope other than `tmp_path` is used."""
    made, given = item._fixtureinfo.name2fixturedefs, getattr(item, "callspec", None)
    names = {*item._fixtureinfo.argnames} - {"tmp_path"} - {*(given.params if given else ())}
    return any(made[name][-1].scope == "function" for name in names if name in made)


class InParallel:
    """A plugin that selects the tests that run in several threads, and counts them."""

    def __init__(self):
        self.long, self.refused = collections.Counter(), set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        for item in items:
            if uses_own_fixture(item):
                item.add_marker(pytest.mark.thread_unsafe(reason="a fixture made for one test"))
            text = f"{item.path.name}::{item.name}{inspect.getsource(item.function)}"
            for word, reason in OF_THE_PROCESS.items():
                if word in text:
                    item.add_marker(pytest.mark.thread_unsafe(reason=reason))

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        """Run a test alone and then, unless that took long, in all threads."""
        from pytest_run_parallel.plugin import wrap_function_parallel

        test, where = pyfuncitem.obj.__wrapped__, (pyfuncitem.path, pyfuncitem.originalname)
        if self.long[where] == STRIKES:
            pytest.skip(TOO_LONG)
        before = time.thread_time()
        test(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
        if time.thread_time() - before > LONG:
            self.long[where] += 1
            pytest.skip(TOO_LONG)
        tried = self._right_or_refused(test, pyfuncitem.nodeid)
        pyfuncitem.obj = wrap_function_parallel(tried, THREADS, 1)
        return (yield)

    def _right_or_refused(self, test, name):
        @functools.wraps(test)
        def tried(**given):
            try:
                test(**given)
            except (RuntimeError, AssertionError, pytest.fail.Exception) as error:
                if REFUSED not in str(error):
                    raise
                self.refused.add(name)

        return tried

    def pytest_terminal_summary(self, terminalreporter):
        stats = terminalreporter.stats
        why = collections.Counter(report.longrepr[2].removeprefix("Skipped: ").partition(":")[0]
                                  for report in stats.get("skipped", ()))
        terminalreporter.line(f"{len(stats.get('passed', ()))} by {THREADS} threads at once, "
                              f"{len(self.refused)} of them refused by what they share; not:")
        for reason, n in why.most_common():
            terminalreporter.line(f"  {n} {reason}")


def main():
    paths = sys.argv[1:] or [f"tests/{room}" for room in ROOMS]
    began = time.process_time()
    status = pytest.main([
        *paths, f"--rootdir={ROOT}", "-q", "-m", "not slow", "-p", "no:cacheprovider",
        "-p", "no:xdist", f"--parallel-threads={THREADS}", "--skip-thread-unsafe=1", "-rfE",
        "--tb=short"], plugins=[InParallel()])
    print(f"{time.process_time() - began:.0f} s of processor time")
    sys.exit(status)


if __name__ == "__main__":
    main()
