# Needs Python 3.11 or later, a C compiler and the package index; everything else is installed
# into .venv on first use. If nothing has changed, a target starts within seconds.
PYTHON ?= python3
PYTHONS ?= python3.11 python3.13
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-more test-slow docs lint bench bench-smoke sanitize sanitize-slow \
	sanitize-states soak soak-hour interrupts fuzz tsan parallel portability wheel wheel-test clean

demo: $(VENV)/.demo extensions
	$(BIN)/pybandit demo

# The first part of the tests takes at most five minutes on two processors; test-more runs the rest.
test: lint
	$(BIN)/pytest --part first -m "not slow" -n auto --dist worksteal

test-more: inplace
	$(BIN)/pytest --part rest -m "not slow" -n auto --dist worksteal

# All slow tests take hours; ROOM="mcmc racing" selects folders or files below tests.
ROOM ?=
test-slow: inplace
	PYBANDIT_EXAMPLES=all $(BIN)/pytest -m "slow or examples" $(addprefix tests/,$(ROOM))

# Build the site into build/docs/html without the network, with warnings as errors. Then test it,
# also in Chromium if it is installed.
docs: inplace $(VENV)/.docs
	mkdir -p build/docs/html/_static
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html -d build/docs/trees docs build/docs/html
	$(BIN)/pytest tests/site -n auto -o python_files="site_*.py"

lint: inplace
	$(BIN)/ruff check .
	$(BIN)/python tools/prose.py
	$(BIN)/python tools/platforms.py
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	find pybandit tests -name "*.p[yx][xd]" -print0 | \
	    PATH="$(CURDIR)/$(BIN):$$PATH" xargs -0 -P 2 -n 30 cython-lint

# Ratios are of processor time, which depends less on other load. The table is also written to
# build/bench.json, from which the tables of docs/explanation/numbers.md are written.
BENCH = $(BIN)/pytest bench -m "" -o python_files="bench_*.py"
bench: inplace $(VENV)/.bench
	mkdir -p build
	$(BENCH) --benchmark-timer=time.process_time --benchmark-quiet \
	    --benchmark-json=build/bench.json
	$(BIN)/python bench/write_tables.py build/bench.json
# Run every benchmark once at its smallest size.
bench-smoke: inplace $(VENV)/.bench
	$(BENCH) --benchmark-disable

# Rerun the commands next to tables of figures in the pages, and report changed figures. DATA is the
# folder of their data files; WORDS select pages and commands.
DATA ?=
WORDS ?=
FIGURES = OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/figures.py $(WORDS) $(if $(DATA),--data $(DATA))
.PHONY: figures figures-quick
figures: inplace $(VENV)/.bench
	$(FIGURES)
# Run every command at its smallest size.
figures-quick: inplace $(VENV)/.bench
	$(FIGURES) --quick

# Run every figure and table of the five papers in a small version, and print one table: figure,
# command, agreement with the paper, seconds. papers-full takes hours, and keeps its results.
PAPERS = OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/papers/run.py $(WORDS) $(if $(DATA),--data $(DATA))
.PHONY: papers papers-full
papers: inplace $(VENV)/.bench
	$(PAPERS)
papers-full: inplace $(VENV)/.bench
	$(PAPERS) --full --keep examples/papers/results.json

# Compile changed modules next to their sources, where the editable installation below finds them.
.PHONY: inplace extensions
inplace: $(VENV)/.test extensions
extensions: | $(BIN)/cython
	$(BIN)/python setup.py --quiet build_ext --inplace

# .venv/.<extra>: an editable installation with that extra. It does not compile extensions, which
# would go to another folder and be compiled twice. Nor does pip compile Python files, which takes
# a minute: Python compiles them at import.
PIP_INSTALL := $(BIN)/pip install --quiet --no-compile --disable-pip-version-check
$(VENV)/.%: pyproject.toml setup.py | $(BIN)/cython
	PYBANDIT_EXTENSIONS=none $(PIP_INSTALL) --no-build-isolation --editable ".[$*]"
	touch $@

# not during the other installation
$(VENV)/.docs: | $(VENV)/.test

$(BIN)/cython:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("pybandit needs Python 3.11 or later and $(PYTHON) is %d.%d; name another: make PYTHON=python3.12" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) "setuptools>=77" "Cython>=3.1" "numpy>=2.0"

# Build all extensions with the address and undefined-behaviour sanitizers, in another folder.
# CPython's -fwrapv would hide overflows. The C tests have their own sanitizers and run first.
SANITIZE := -O1 -g -UNDEBUG -fno-wrapv -fno-omit-frame-pointer -fsanitize=address,undefined
# A request for too much memory raises MemoryError, as without sanitizers.
SANITIZED = LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	PYTHONPATH=build/sanitize/lib $(BIN)/pytest -s
# sanitize runs the tests of compiled code, and sanitize-slow the others; tests/sanitized.py has the
# lists. Memory of malloc and of NumPy, which kernels use, is always checked. PYTHONMALLOC=malloc
# also checks Python objects, in twice the time.
ON_SANITIZED = $(SANITIZED) -m "not slow" -n auto --dist worksteal --sanitized
sanitize: sanitized
	$(BIN)/pytest -n auto tests/test_floors.py
	$(ON_SANITIZED) soon
sanitize-slow: sanitized
	$(ON_SANITIZED) later
	PYTHONMALLOC=malloc $(ON_SANITIZED) soon

# Restore mutated states, PYBANDIT_MUTATIONS in all (default 100,000).
sanitize-states: sanitized
	PYTHONMALLOC=malloc $(SANITIZED) -m slow -k many tests/policies/test_states.py \
	    tests/betting/test_mutated_states.py tests/studies/test_mutated_states.py

.PHONY: sanitized
sanitized: inplace
	CC="$(CC)" PYBANDIT_CFLAGS="$(SANITIZE)" PYBANDIT_LDFLAGS="-fsanitize=address,undefined" \
	    $(BIN)/python setup.py --quiet build --build-base build/sanitize --build-lib build/sanitize/lib

# Data races: the C tests in eight threads at once, then the tests that use threads, with extensions
# under ThreadSanitizer. CPython is built without it: its locks are seen, but not its memory. Forks,
# code compiled by numba and tests of Ctrl-C are left out.
TSAN := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
IN_THREADS := _shared betting cluster evaluation/test_executors.py mcmc model_selection montecarlo \
	policies racing simulation studies tables webtests test_threads.py
.PHONY: tsan
tsan: inplace
	$(BIN)/python tests/threads/native.py
	CC="$(CC)" PYBANDIT_CFLAGS="$(TSAN)" PYBANDIT_LDFLAGS="-fsanitize=thread" \
	    $(BIN)/python setup.py --quiet build --build-base build/tsan --build-lib build/tsan/lib
	LD_PRELOAD="$$($(CC) -print-file-name=libtsan.so)" PYTHONPATH=build/tsan/lib \
	    PYTHONMALLOC=malloc PYBANDIT_SOAK_SECONDS=1 \
	    TSAN_OPTIONS=suppressions=tests/threads/tsan.supp:history_size=3 \
	    setarch "$$(uname -m)" -R $(BIN)/pytest -s $(addprefix tests/,$(IN_THREADS)) \
	    -k "thread and not (fork or ctrl_c or hears or numba)"

# Run each single-threaded test in four threads at once.
.PHONY: parallel
parallel: inplace build/parallel
	PYTHONPATH=build/parallel $(BIN)/python tests/threads/parallel.py
build/parallel: | $(BIN)/cython
	$(PIP_INSTALL) --no-deps --target $@ "pytest-run-parallel>=0.10"

# soak: eight threads on every public class, for SECONDS each. interrupts: Ctrl-C at MOMENTS random
# times in every call that takes data.
SECONDS ?= 60
MOMENTS ?= 1000
soak: inplace
	PYBANDIT_SOAK_SECONDS=$(SECONDS) $(BIN)/pytest -m slow tests/test_threads.py
# Run everything and two servers for an hour on half a processor, and report growth.
.PHONY: soak-hour
soak-hour: inplace
	$(BIN)/python tests/soak/run.py --seconds 3600

interrupts: inplace
	PYBANDIT_MOMENTS=$(MOMENTS) $(BIN)/pytest -m slow tests/test_interrupts.py \
	    tests/policies/test_interrupts.py tests/betting/test_interrupts.py \
	    tests/racing/test_signals.py tests/studies/test_interrupts.py \
	    tests/lab/test_interrupts.py tests/webtests/test_counts.py \
	    tests/model_selection/test_interrupts.py

# Run every fuzzer for SECONDS: in C with clang's libFuzzer, in Python with atheris, or at random if
# they are not installed. Failing inputs are left in build/fuzz/.
FUZZED := policies refitting races count_races sequences tables scores arms plates codec counts \
	values stocks sheets picklists cells studies journals forged stores tellers blocks dialects \
	zarrs comparisons neighbours names
fuzz: inplace
	$(BIN)/python tests/fuzz/native.py --seconds $(SECONDS)
	for target in $(FUZZED); do \
	    $(BIN)/python tests/fuzz/run.py $$target --seconds $(SECONDS) || exit 1; \
	done

# Run the C tests with every installed compiler and emulated processor, or those in NAMED.
NAMED ?=
portability:
	$(PYTHON) tests/portability.py $(NAMED)

# Tests with Inspect, Optuna, GEPA and DSPy themselves, which install a hundred packages; `make test`
# fakes them.
.PHONY: inspect integrations
inspect: inplace $(VENV)/.inspect
	$(BIN)/pytest tests/evaluation/inspect_mock_models.py
integrations: inplace $(VENV)/.optuna $(VENV)/.gepa $(VENV)/.dspy
	$(BIN)/pytest -o python_files="real_*.py" tests/integrations

# Test the built wheel with the tests of the sdist, in a fresh environment per interpreter, without
# the sources of the package.
wheel-test:
	@tested=no; for python in $(PYTHONS); do \
	    if $$python -c "" 2>/dev/null; then .ci/wheel-test $$python && tested=yes || exit 1; \
	    else echo "$$python does not run here: left out"; fi; \
	done; test $$tested = yes

# Build sdist and wheel for an index into dist/, and check that two builds have the same bytes.
wheel:
	.ci/wheel $(PYTHON)

clean:
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .benchmarks $(VENV)
	find pybandit \( -name "*.so" -o -name "*.c" -o -name "*.a" -o -name _csrc.pxd \) -delete
	rm -f pybandit/__init__.pxd pybandit/embedding.p[yx][xd]
	rm -rf docs/gallery docs/reference/api docs/reference/c
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
