# Everything a person types here. Works with no environment active; needs Python 3.11 to 3.13 and make.
.DEFAULT_GOAL := help
.PHONY: help demo test test-all check wheel bench bench-million lock clean

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)
LOCKED := PIP_CONSTRAINT=$(CURDIR)/constraints.lock PIP_DISABLE_PIP_VERSION_CHECK=1 \
	$(BIN)/python -m pip install $(if $(MAKE_TERMOUT),--progress-bar on,--quiet) --constraint constraints.lock
APP ?= 1
WORKERS ?= 2

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.base  ## the whole pipeline on the packaged suite, then the annotator (APP=0: without)
	$(BIN)/sts demo $(if $(filter 0,$(APP)),--no-app)

test: $(VENV)/.test  ## the test suite
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-all: $(VENV)/.test  ## the test suite with its slow tier
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

check: $(VENV)/.dev  ## ruff, mypy strict, import-linter, rooms and arrows counted
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.rooms

wheel: $(BIN)/python  ## build the wheel, install it in a clean environment, try it from another folder
	rm -rf build/wheel build/clean build/elsewhere && mkdir -p build/elsewhere
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/clean
	PIP_DISABLE_PIP_VERSION_CHECK=1 build/clean/bin/python -m pip install --quiet --constraint constraints.lock build/wheel/*.whl
	cd build/elsewhere && ../clean/bin/sts suite verify starter@1 \
		&& ../clean/bin/sts run starter@1 --agent random --agent rule --continuations 1 \
		&& ../clean/bin/sts label starter@1 && ../clean/bin/sts report starter@1

bench: $(VENV)/.test  ## measure speed and write docs/benchmarks.md
	$(BIN)/python -m tests.benchmarks

bench-million: $(VENV)/.test  ## measure a workspace of a million continuations; minutes
	$(BIN)/python -m tests.benchmarks.million

lock:  ## resolve constraints.lock anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --all-extras --upgrade \
		--no-header --no-annotate --no-emit-index-url pyproject.toml -o constraints.lock

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find sts scenarios analysis annotator_app tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 to 3.13 found; install one, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "make: $(PYTHON) has no ensurepip; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(BIN)/python pyproject.toml constraints.lock
	@echo "installing into $(VENV): 1.0 GB on the disk, a minute or two"
	$(LOCKED) --editable .
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.lock
	$(LOCKED) --editable '.[test]'
	@touch $@ $(VENV)/.base

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.lock
	$(LOCKED) --editable '.[test,dev]'
	@touch $@ $(VENV)/.test $(VENV)/.base
