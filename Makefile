# make demo, make test: each sets up everything it needs in .venv first (quick when that is done).
#   PYTHON=python3.12 make test     another interpreter than python3 (>= 3.11)
#   SYSTEM_PACKAGES=no make test    do not call apt, even where that is allowed
#   KERNELS=no make demo            do not compile the kernels of the examples in advance

PYTHON ?= python3
VENV ?= .venv
OUT ?= out
BIN := $(VENV)/bin
READY := $(VENV)/.ready

export PYTHON VENV

.PHONY: help setup petsc demo test test-long test-all test-seconds versions lint types validate bench compile generated docs-tools docs clean FORCE

help:
	@echo "make demo      run examples/slider_crank; results, figures and an animation in $(OUT)/slider_crank"
	@echo "make test      the everyday tests: all but those that take long"
	@echo "make test-all  all tests (what make test leaves out: make test-long)"
	@echo "make versions  a part of the tests with the oldest and with the newest versions of what fem-mbs needs"
	@echo "make lint      ruff: rules and format"
	@echo "make types     mypy"
	@echo "make validate  the published benchmarks, as a table"
	@echo "make bench     timings"
	@echo "make compile   all kernels, on all processors (minutes; without it models compile what they need)"
	@echo "make petsc     .venv-petsc, in which --backend petsc runs (Debian; docs/distributed.md)"
	@echo "make generated the files that are written from the registries (references, schemas, stubs, the list)"
	@echo "make docs      the documentation site in $(OUT)/docs; executes the tutorials"
	@echo "make clean     remove the environment and what runs and builds left behind"

setup: $(READY)

# The script decides by itself whether anything has changed.
$(READY): FORCE
	@bash .ci/setup.sh

FORCE:

# Beside $(VENV): Debian's petsc4py needs Debian's Python and numpy 1.
petsc:
	@bash .ci/petsc.sh

demo: $(READY)
	$(BIN)/fem-mbs run examples/slider_crank/model.toml -o $(OUT)/slider_crank
	$(BIN)/fem-mbs plot $(OUT)/slider_crank
	$(BIN)/fem-mbs animate $(OUT)/slider_crank

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not long" $(PYTEST_ARGS)

test-all: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

# Those that the everyday tests leave out.
test-long: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m long $(PYTEST_ARGS)

# All tests, in one process, with compiled kernels; writes what they take to tests/seconds.json, by which `make test` leaves
# out the long ones.
test-seconds: compile
	$(BIN)/python -m pytest -q --write-seconds $(PYTEST_ARGS)

versions: $(READY)
	.ci/versions.sh oldest
	.ci/versions.sh newest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy -p fem_mbs

validate: $(READY)
	$(BIN)/fem-mbs validate -j $$(getconf _NPROCESSORS_ONLN)

bench: $(READY)
	$(BIN)/python benchmarks/run.py

compile: $(READY)
	$(BIN)/fem-mbs compile

# Written aside first: a module that fails leaves its file as it is.
generated: $(READY)
	@set -e; new=$$(mktemp); write() { $(BIN)/python -m $$1 > $$new && cat $$new > $$2; }; \
	write fem_mbs.modelfile.reference docs/model-file.md; \
	write fem_mbs.modelfile.json_schema docs/model.schema.json; \
	write fem_mbs.results.summary_schema docs/summary.schema.json; \
	write fem_mbs.model.stubs fem_mbs/model/made.pyi; \
	write fem_mbs.modelfile.inventory fem_mbs/modelfile/inventory.txt; \
	write fem_mbs.validation.listing docs/validation-cases.md; \
	$(BIN)/python -m fem_mbs.decks.reference docs/decks.md; rm $$new

# What builds the site, into the same environment; no other package is changed.
docs-tools: $(READY)
	@$(BIN)/python -c 'import furo, myst_nb' 2>/dev/null || $(BIN)/python -m pip --disable-pip-version-check install -q \
	    $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')

# Notebooks draw into the page, whatever backend the caller has.
docs: docs-tools
	env -u MPLBACKEND $(BIN)/python -m sphinx -W --keep-going -q -d $(OUT)/docs-cache docs $(OUT)/docs

clean:
	rm -rf $(VENV) $(OUT) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -not -path "./peers/*" -prune -exec rm -rf {} +
