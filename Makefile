# Two commands do everything on a fresh clone: `make demo` and `make test`.
# They need python3 (3.11 or newer), node with npm, git and make; everything else is installed into .venv.

PYTHON ?= python3
BIN := .venv/bin
INPUTS := pyproject.toml hatch_build.py requirements/constraints.txt frontend/package.json frontend/package-lock.json $(wildcard frontend/src/*.js)
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt

.PHONY: help demo test lint types floors pytest bench format clean

help:
	@echo "make demo    set up and serve one dashboard as three customers see it (make demo PORT=8001: on another port)"
	@echo "make test    set up and run every check and test"
	@echo "make bench   set up and print the benchmark's ratios"
	@echo "make format  format the code"
	@echo "make clean   remove everything that the commands above made"

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tenantry needs Python 3.11 or newer, and $(PYTHON) is not. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv .venv
	@touch $@

# One environment, three depths: what the demo needs, what the tests add, what the benchmark adds.
.venv/demo: .venv/python $(INPUTS)
	@echo "Installing Tenantry into .venv: a minute or two, once …"
	@$(PIP) --editable '.[server,duckdb,http]'
	@touch $@

.venv/test: .venv/python $(INPUTS)
	@echo "Installing Tenantry and its test tools into .venv: a minute or two, once …"
	@$(PIP) --editable '.[test]'
	@touch $@ .venv/demo

.venv/bench: .venv/test
	@$(PIP) --editable '.[bench]'
	@touch $@

demo: .venv/demo
	@$(BIN)/tenantry demo $(if $(PORT),--port $(PORT))

test: lint types floors pytest

lint: .venv/test
	@$(BIN)/ruff check --no-cache --quiet .
	@$(BIN)/ruff format --no-cache --check --quiet .
	@echo "lint: ok"

types: .venv/test
	@$(BIN)/mypy

floors: .venv/test
	@$(BIN)/lint-imports

pytest: .venv/test
	@$(BIN)/python -m pytest --cov --cov-report=term

bench: .venv/bench
	@$(BIN)/python -m bench

format: .venv/test
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

clean:
	rm -rf .venv .demo .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* \
	  frontend/node_modules tests/browser/node_modules src/tenantry/static/bundles
