# Each target installs what it needs into .venv, once; `make PYTHON=/path/to/python demo` chooses the interpreter.

PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALLED := $(VENV)/.installed
INSTALLED_TRAIN := $(VENV)/.installed-train
INSTALLED_DEV := $(VENV)/.installed-dev

.PHONY: help demo test check-long coverage bench strengths experiments exploits trainers golden format clean
.DELETE_ON_ERROR:

help:
	@echo "make demo        greedy against uniform play over the five rulebooks, and a learner trained for a minute"
	@echo "make test        every check: style, types, layers, tests"
	@echo "make check-long  the exactness checks on many more positions, the faces on the oldest and newest libraries"
	@echo "make coverage    the core's tests, interpreted, with coverage"
	@echo "make bench       speed, and one signature of behaviour"
	@echo "make strengths   the tournaments of the README's table of strengths, hours"
	@echo "make experiments the training runs of the README's table of experiments, half an hour or more"
	@echo "make exploits    the README's table of exploitation, twenty minutes or more"
	@echo "make trainers    how fast the trainers are beside MaskablePPO, a few minutes"
	@echo "make golden      write the golden files anew, to be read in the diff"
	@echo "make format      format the code and repair what ruff can"
	@echo "make clean       remove what the other targets made"

demo: $(INSTALLED_TRAIN)
	$(BIN)/scala40 demo

test: $(INSTALLED_DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2

check-long: $(INSTALLED_DEV)
	$(BIN)/python -m tests.long
	$(BIN)/python -m tests.versions

# Coverage does not see into compiled code, so the core's tests run interpreted.
coverage: $(INSTALLED_DEV)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 tests/core --cov=scala40_env.core --cov-report=term

bench: $(INSTALLED)
	$(BIN)/scala40 bench

strengths: $(INSTALLED_DEV)
	$(BIN)/python -m training.strengths

experiments: $(INSTALLED_DEV)
	$(BIN)/python -m training.experiments

exploits: $(INSTALLED_DEV)
	$(BIN)/python -m training.exploits

trainers: $(INSTALLED_DEV)
	$(BIN)/python -m training.bench_trainers --turns 6 --json > results/trainers.json

golden: $(INSTALLED_DEV)
	$(BIN)/python -m tests.golden.regenerate

format: $(INSTALLED_DEV)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) build dist *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find scala40_env agents training tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo \
	"scala40 needs Python 3.11 or newer, and $(if $(PYTHON),$(PYTHON) is not,neither python3.11 nor python3 is): make PYTHON=... demo" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# The stamps are files, not the folder: a change of the requirements installs again, anything else does not.
$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(INSTALLED_TRAIN): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[train]'
	@touch $(INSTALLED) $@

$(INSTALLED_DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[dev,train,recipes]'
	@touch $(INSTALLED) $(INSTALLED_TRAIN) $@
