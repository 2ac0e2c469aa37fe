# Everything a newcomer or CI runs. `make` alone lists the targets.

PYTHON ?= python3
# The oldest Python the lock must serve, and what else to tell the resolver (UPGRADE=--upgrade).
LOCK_PYTHON ?= 3.11
UPGRADE ?=
# What pytest is to run, and on how many processes: as many as there are cores, so that threads must not wait busily.
TESTS ?= notebooks tests/book tests/companion tests/nystrom_lib nystrom_lib companion
JOBS ?= 2
PYTEST = NYSTROM_JOBS=1 OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile \
    --no-loadscope-reorder --doctest-modules --nbval

# pytest without the plugin that imports Jupyter.
UNIT = OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -p no:nbval

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

# Caches of tools stay inside the project; compiled loops lie in the package's own __pycache__, for every caller.
export MPLCONFIGDIR ?= $(CURDIR)/.cache/matplotlib
export HYPOTHESIS_STORAGE_DIRECTORY ?= $(CURDIR)/.cache/hypothesis
# Settings of an outer environment must not leak into ours.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE VIRTUAL_ENV CONDA_PREFIX

.DEFAULT_GOAL := help
.PHONY: help setup book paper beyond refresh check test test-all processors mutants compile lint coverage bench lock clean

help: ## list the targets
	@echo "make <target>, where <target> is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## create .venv with the locked packages and this package in place
	@echo "setup: $(VENV) is ready"

$(STAMP): requirements.lock pyproject.toml companion/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "setup: '$(PYTHON)' is not Python 3.11 or later; name one with make setup PYTHON=..." >&2; exit 1; }
	@rm -f $@
	@test -x $(BIN)/python || { echo "setup: creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@awk -v uv=$(VENV)/uv.txt -v rest=$(VENV)/rest.txt \
	    '/^[^ #]/ { file = /^uv==/ ? uv : rest } { print > file }' requirements.lock
	@if $(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.txt && $(BIN)/uv --version > /dev/null; then \
	    install="$(BIN)/uv pip install --quiet --python $(BIN)/python"; \
	else \
	    echo "setup: uv cannot be had here; pip does the same, more slowly"; \
	    install="$(BIN)/python -m pip install --quiet"; \
	fi; \
	echo "setup: installing the packages of requirements.lock, each checked by its hash"; \
	$$install --require-hashes -r $(VENV)/rest.txt && \
	echo "setup: installing nystrom_lib and its companion in place" && \
	$$install --no-deps --no-build-isolation -e . -e companion
	@touch $@

book: setup compile ## set up, execute every chapter at the paper's parameters, build the book, say where to open it
	@$(BIN)/python -m companion.book

paper: setup compile ## set up, then compute all of the paper's experiments at full scale (resumes when interrupted)
	@$(BIN)/nystrom reproduce paper

# The stored arena has eleven repetitions of its long budgets, too: `nystrom reproduce arena` adds the other nine in
# forty minutes more.
beyond: setup compile ## set up, then compute everything beyond the paper, times included (resumes when interrupted)
	@$(BIN)/nystrom reproduce beyond
	@$(BIN)/python -m companion.chapters.prediction
	@$(BIN)/nystrom reproduce arena --long 2

refresh: setup ## set up, execute the committed notebooks again in place and show what changed
	@$(BIN)/python -m companion.notebook.refresh

check: setup lint compile ## lint, then run the library's tests and the examples in its docstrings: about a minute
	@echo "check: the library"
	@$(UNIT) --numprocesses $(JOBS) --dist worksteal --doctest-modules tests/nystrom_lib nystrom_lib

test: setup ## set up, lint, then run every test but the slow ones: docstrings, notebooks (nbval) and the book included
	@$(MAKE) --no-print-directory -j 2 lint compile
	@echo "test: the library, the companion, the book, and the notebooks"
	@$(PYTEST) --durations=15 $(TESTS)

test-all: setup compile ## set up, then run the slow tests too (wheel, browser, every notebook from nothing), and make processors
	@$(PYTEST) -m "slow or not slow" --durations=15 $(TESTS)
	@$(MAKE) --no-print-directory processors

processors: setup ## run the library's tests as on other processors, with other BLAS loops, and on a busy machine
	@$(BIN)/python tests/processors.py

mutants: setup ## break the paper's formulas one at a time and check that the tests notice
	@$(BIN)/python tests/mutants.py

compile: setup ## compile the loops, which takes a minute the first time and a second or two later
	@$(BIN)/python -c 'import nystrom_lib as nl; nl.warm_up()'

lint: setup ## ruff and mypy (strict)
	@echo "lint: ruff"
	@$(BIN)/ruff check .
	@echo "lint: mypy"
	@$(BIN)/mypy

coverage: setup ## run the tests and list the lines they miss, compiled loops included (slower)
	@rm -rf .cache/numba-coverage
	@NUMBA_JIT_COVERAGE=1 NUMBA_CACHE_DIR="$(CURDIR)/.cache/numba-coverage" \
	    $(BIN)/python -m pytest --doctest-modules --cov --cov-report=term $(TESTS)

bench: setup ## measure the speed beside plain C, JAX where it is installed, and the machine's ceilings
	@$(BIN)/python -m benchmarks

lock: setup ## resolve pyproject.toml into requirements.lock and requirements.txt (UPGRADE=--upgrade: newest)
	@echo "lock: resolving for Python $(LOCK_PYTHON) and later"
	@$(BIN)/uv pip compile --quiet pyproject.toml companion/pyproject.toml --all-extras --group dev --no-emit-package nystrom-lib --universal --fork-strategy fewest \
	    --python-version $(LOCK_PYTHON) --generate-hashes --no-header --no-annotate $(UPGRADE) -o requirements.lock
	@awk '/^[^ #]/ { sub(/ *\\$$/, ""); print }' requirements.lock > requirements.txt
	@echo "lock: checking"
	@$(BIN)/uv pip install --quiet --dry-run --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/python -m pytest -q -k "lock or pins or registry" tests/companion/test_packaging.py

clean: ## delete .venv, caches and build products
	rm -rf $(VENV) .cache build dist *.egg-info _build book/_generated
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
