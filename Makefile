# The commands of this project. They make their own virtual environment and need Python 3.11 to 3.13 and make.
.DEFAULT_GOAL := help
.PHONY: help demo test test-landing test-all test-costs check wheel land coverage bench bench-million bench-versions bench-reports bench-mining bench-live bench-large chaos pictures lock clean

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)
# Most of what is installed is never imported: each module is compiled when it first is. The pip that
# comes with Python 3.11 takes 45 s to choose what to install, and pip 26 takes 18 s.
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --no-compile
LOCKED := PIP_CONSTRAINT=$(CURDIR)/constraints.lock $(PIP) --constraint constraints.lock
# A second make waits for the first, and finds what that has installed.
ALONE := $(shell command -v flock >/dev/null && echo flock pyproject.toml)
INSTALL = $(ALONE) sh -c '{ test $@ -nt pyproject.toml && test $@ -nt constraints.lock; } || \
	{ $(LOCKED) --editable "$(1)" && touch $@ $(addprefix $(VENV)/,$(2)); }'
COMMA := ,
# On a terminal, show every second how far a long command has come.
SHOWN := $(if $(MAKE_TERMOUT),(s=0; while sleep 1 && kill -0 $$$$; do s=$$((s + 1)); \
	printf '\r%3d s, %4d MB in $(VENV) ' $$s $$(du -sm $(VENV) | cut -f1); done) 2>/dev/null & trap "kill $$!; echo" EXIT;)
# Otherwise each of the tests' hundreds of processes compiles all our sources again.
export PYTHONDONTWRITEBYTECODE :=
APP ?= 1
WORKERS ?= 3
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 10
# `.ci/run` adds those that `make test` skipped, as the machine had not what they need.
LANDING ?= landing
SECONDS ?= 600
SEED ?= 1
DATABASE ?= sqlite

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.base  ## run the whole pipeline on the packaged suite, then open the annotator app (APP=0: do not open it)
	$(BIN)/sts demo $(if $(filter 0,$(APP)),--no-app)

test: $(VENV)/.test  ## the quick tests; five minutes on two cores
	$(PYTEST) -m "not landing and not slow"

test-landing: $(VENV)/.test  ## what else a change must pass before it lands: all worlds, formats, pages, PostgreSQL
	$(PYTEST) -m "$(LANDING) and not slow"

test-all: $(VENV)/.test  ## all tests, also simulations and trials of many faults; up to three hours
	$(PYTEST) -p tests.costs

test-costs: $(VENV)/.test  ## list what each file of the quick and the landing tests costs
	$(PYTEST) -p tests.costs -m "not slow"

check: $(VENV)/.dev  ## ruff, mypy, tsc, import-linter, and a count of the modules and their imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if command -v tsc >/dev/null; then echo tsc -p annotator_app/sts_annotator_app/components && tsc -p annotator_app/sts_annotator_app/components; \
	else echo "the pages' scripts are not checked: there is no tsc (on Debian: apt-get install node-typescript)"; \
		case " $(STS_REQUIRE) " in *" tsc "*) exit 1;; esac; fi
	$(BIN)/lint-imports
	$(BIN)/python -m tests.rooms
	$(BIN)/python -m tests.prose

wheel: $(BIN)/python  ## build the wheel and try it in clean environments, of the oldest and newest Python too
	$(BIN)/python -m tests.wheel $(PYTHON)

land:  ## do what a landing does: .ci/run in a fresh clone of HEAD, with no environment active
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && git clone --quiet . "$$folder/clone" && cd "$$folder/clone" \
		&& env -u VIRTUAL_ENV -u MAKEFLAGS -u MAKELEVEL -u MFLAGS bash .ci/run

coverage: $(VENV)/.test  ## simulate the coverage of the report's intervals in all cells; takes ten CPU-hours
	$(BIN)/python -m tests.analysis.coverage --workers $(WORKERS)

bench: $(VENV)/.test  ## measure speed and update its section of docs/benchmarks.md
	$(BIN)/python -m tests.benchmarks

bench-million: $(VENV)/.test  ## measure a workspace of a million continuations; takes minutes
	$(BIN)/python -m tests.benchmarks.million

bench-versions: $(VENV)/.test  ## compare with BEFORE=CHECKOUT, and with MINED=FOLDER mining too; takes half an hour
	$(BIN)/python -m tests.benchmarks.versions $(BEFORE)

bench-reports: $(VENV)/.test  ## measure reports of up to 500 agents; takes minutes
	$(BIN)/python -m tests.benchmarks.reports

bench-mining: $(VENV)/.test  ## record a million episodes and measure mining them; takes 15 minutes
	$(BIN)/python -m tests.benchmarks.mining $(MINING)

bench-live: $(VENV)/.test  ## measure the ticks of live sessions, on one processor; takes 10 minutes
	$(BIN)/python -m tests.benchmarks.live

bench-large: $(VENV)/.test  ## simulate a hundred annotators on one server, and a day of their work; takes half an hour
	$(BIN)/python -m tests.benchmarks.load

chaos: $(VENV)/.test  ## inject faults everywhere for SECONDS, from a SEED, on a DATABASE (sqlite or postgresql)
	$(BIN)/python -m tests.faults --seconds $(SECONDS) --seed $(SEED) --database $(DATABASE)

pictures: $(VENV)/.test  ## retake the screenshots of the README with Chromium; takes minutes
	$(BIN)/python -m tests.pictures

lock:  ## resolve constraints.lock again (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --all-extras --upgrade \
		--no-header --no-annotate --no-emit-index-url pyproject.toml -o constraints.lock

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find sts scenarios analysis annotator_app tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 to 3.13 found; install one, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "make: $(PYTHON) has no ensurepip; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "making $(VENV) with $(PYTHON)"
	@$(SHOWN) $(ALONE) sh -c 'test -x $@ || { $(PYTHON) -m venv $(VENV) && $(PIP) "pip~=26.0"; }'

$(VENV)/.base: $(BIN)/python pyproject.toml constraints.lock
	@echo "installing into $(VENV): 1030 MB there, 270 MB over the network; a minute or two"
	@$(SHOWN) $(call INSTALL,.)

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.lock
	@echo "installing into $(VENV), with what tests need: 1450 MB there; some minutes"
	@$(SHOWN) $(call INSTALL,.[test],.base)

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.lock
	@echo "installing into $(VENV), with what tests and checks need: 1520 MB there; some minutes"
	@$(SHOWN) $(call INSTALL,.[test$(COMMA)dev],.base .test)
