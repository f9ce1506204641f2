# helamem: every command a contributor needs. `make` alone lists them.
# Needs python3.11 (or PYTHON=...), make and git. Everything else is installed into .venv.
# The tests also start Neo4j, for which they need Java 17 (or 21), a JDK of Java 21 or newer, and Maven;
# HELAMEM_SKIP_NEO4J=1 skips the tests that need it.

PYTHON ?= python3.11
VENV ?= .venv
PYTEST_ARGS ?=

PY := $(VENV)/bin/python
READY := $(VENV)/.ready
DEPS_READY := $(VENV)/.deps
UV_READY := $(VENV)/.uv
UV ?= $(VENV)/bin/uv
LOWEST := .venv-lowest

# Settings made for pip hold for uv as well, unless uv has its own.
comma := ,
space := $(subst ,, )
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_EXTRA_INDEX_URL
export UV_INDEX ?= $(PIP_EXTRA_INDEX_URL)
endif
ifdef PIP_FIND_LINKS
export UV_FIND_LINKS ?= $(subst $(space),$(comma),$(strip $(PIP_FIND_LINKS)))
endif
ifdef PIP_CERT
export SSL_CERT_FILE ?= $(PIP_CERT)
endif
export UV_HTTP_TIMEOUT ?= 300
export UV_COMPILE_BYTECODE ?= 1
export UV_PYTHON_DOWNLOADS ?= never
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test browser check format bench slow lock lowest build clean

help: ## list these targets
	@echo "make <target>   [PYTHON=python3.11] [PYTEST_ARGS='-k name'] [HELAMEM_DATA=folder of the data sets]"
	@echo "                [HELAMEM_SKIP_NEO4J=1: no Java here]"
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile | while IFS='|' read -r name what; do \
	  printf '%-10s %s\n' "$$name" "$$what"; done

setup: $(READY) ## make .venv with the pinned dependencies (nothing to do when it is up to date)

$(UV_READY): requirements/uv.txt
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) || { \
	  echo "helamem needs Python 3.11 or newer with venv; name one with PYTHON=..." >&2; exit 1; }
	$(PY) -m pip install --quiet --require-hashes -r requirements/uv.txt
	@touch $@

$(DEPS_READY): $(UV_READY) requirements/dev.txt
	$(UV) pip sync --quiet --python $(PY) --require-hashes requirements/dev.txt
	@touch $@

$(READY): $(DEPS_READY) pyproject.toml
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## remember a conversation, recall, show why, reinforce, show what changed
	$(PY) -m examples.demo

test: check browser ## everything but the slow tests; this is what the CI runs
	$(PY) -m pytest -m "not slow" --durations=10 $(PYTEST_ARGS)

browser: ## Chromium for the tests of Neo4j Browser: installed where it may be, else what is missing
	@sh tests/neo4j/chromium.sh

FAST_TESTS := $(wildcard tests/docs) tests/packaging/test_house.py

check: $(READY) ## the fast half: format, lint, types, import rules, documentation
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -c "from importlinter.cli import lint_imports_command as lint; lint()" --no-logo
	$(PY) -m pytest -q -m "not slow" $(FAST_TESTS)

format: $(READY) ## put the code in shape and mend what ruff can mend
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

bench: $(READY) ## the benchmarks of the README (reads HELAMEM_DATA)
	$(PY) -m helamem_core.cli bench locomo
	$(PY) -m helamem_core.cli bench latency

slow: $(READY) ## the slow tests
	$(PY) -m pytest -m slow --durations=10 $(PYTEST_ARGS)

COMPILE = $(UV) pip compile --quiet --python $(PY) --universal --generate-hashes $(LOCK_ARGS) \
  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

lock: $(UV_READY) ## renew requirements/*.txt after a change in pyproject.toml (LOCK_ARGS=--upgrade for newer versions)
	$(COMPILE) --all-extras --group dev -o requirements/dev.txt pyproject.toml
	$(COMPILE) --extra all --constraint requirements/dev.txt -o requirements/runtime.txt pyproject.toml
	$(COMPILE) -o requirements/uv.txt requirements/uv.in

OLDEST = $(UV) pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --group dev --editable

lowest: $(UV_READY) ## run the tests with the oldest versions that pyproject.toml allows
	$(UV) venv --quiet --clear --python $(PY) $(LOWEST)
	$(OLDEST) ".[all]"
	$(LOWEST)/bin/python -m pytest -m "not slow" --ignore=tests/packaging --ignore=tests/docs $(PYTEST_ARGS)
	$(OLDEST) ".[all,ray]"
	$(LOWEST)/bin/python -m pytest -m "not slow" tests/bulk

build: $(READY) ## wheel and sdist into dist/, checked
	$(UV) build --quiet --clear --python $(PY) --no-build-isolation --out-dir dist
	$(PY) -m pytest -q tests/packaging/test_wheel.py

clean: ## remove all that these targets made, .venv included
	rm -rf $(VENV) $(LOWEST) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
