# On a fresh clone `make demo` serves the demo, and `make test` runs the tests. `make help` lists the other commands.
# They need python3 (3.11 or newer), node with npm, git and make; everything else is installed into .venv.

PYTHON ?= python3
# Processes that test: more than a small machine has cores, because many tests wait for something.
WORKERS ?= 5
# Images with Python often set it. Every process of the tests would then compile Tenantry again.
unexport PYTHONDONTWRITEBYTECODE
# Small distributions, each named as its folder.
CONTRIB := $(wildcard contrib/*)
# Folders with a pyproject.toml, floors and a session of tests.
SESSIONS := . site $(CONTRIB)
BIN := .venv/bin
INPUTS := pyproject.toml hatch_build.py requirements/constraints.txt frontend/package.json frontend/package-lock.json \
  $(wildcard frontend/*.py) $(shell find frontend/src -type f) site/pyproject.toml site/hatch_build.py site/frontend/package.json site/frontend/package-lock.json \
  $(wildcard contrib/*/pyproject.toml)
# uv, which pip brings; with --constraint, only files whose hashes are in the lock.
UV := $(BIN)/python requirements/install.py
INSTALL := $(UV) --constraint requirements/constraints.txt
SITE := --editable './site[serve]'

.PHONY: help clients demo structure test test-all test-matrix warehouses checks quick quick-tests lint types mypy pyright floors pytest session-of-core sessions-of-others coverage bench scale scorecard scorecard-full leaks sql-proof guard-proof audit lock changelog format clean

help:
	@echo "make demo    set up and serve a product that embeds dashboards for three customers (make demo PORT=8001: on another port)"
	@echo "make test    set up, run every check, and the tests that are not marked as slow"
	@echo "make test-all        the same with the slow tests, and every example of the property tests"
	@echo "make test-sql        the tests of one room (tests/sql); make test-site and make test-convert: of one distribution"
	@echo "make quick   lint, types, floors and the pure tests, in a minute"
	@echo "make test-matrix     every test on each Python that this machine has, of 3.11 to 3.14"
	@echo "make bench   set up and print the benchmark's ratios"
	@echo "make scale   the same with a million groups, and a simulated fleet of a thousand workers"
	@echo "make scorecard       set up and measure every promise, in twenty minutes (make scorecard-full: in an hour)"
	@echo "make leaks   serve the demo to 412 groups of unique values, and search all that it does for values of others"
	@echo "make sql-proof       20,000 generated SQL templates with hostile values on each real engine, in half an hour"
	@echo "make guard-proof     attacks on guarded tables on each real engine: all texts, 10,000 queries, 100,000 mutations (MUTATIONS=1000: fewer)"
	@echo "make clients set up and try the clients that four generators make of the OpenAPI document"
	@echo "make coverage    the tests again, and which lines no test has run"
	@echo "make structure   figures of how the code is cut: modules, functions, imports"
	@echo "make lock    find versions and hashes for requirements/constraints.txt (make lock UPGRADE=1: newer versions)"
	@echo "make audit   ask the registry that pip uses for known vulnerabilities of what requirements/constraints.txt lists"
	@echo "make changelog   print what the files in changes/ add to the changelog"
	@echo "make format  format the code"
	@echo "make clean   remove everything that the commands above made"

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tenantry needs Python 3.11 or newer, and $(PYTHON) is not. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making a virtual environment in .venv …"
	@$(PYTHON) -m venv .venv
	@touch $@

# One environment, three depths: what the demo needs, what the tests add, what the benchmark adds. It holds the
# distributions as they are here: tenantry, tenantry-site (site/) and, for the tests, those of contrib/.
.venv/demo: .venv/python $(INPUTS)
	@echo "Installing Tenantry into .venv: a minute, once …"
	@$(INSTALL) $(SITE) --editable '.[server,duckdb,http,dashboards,site]'
	@touch $@

.venv/test: .venv/python $(INPUTS)
	@echo "Installing Tenantry and its test tools into .venv: a minute, once …"
	@$(INSTALL) $(SITE) --editable '.[test]' $(CONTRIB:%=--editable ./%)
	@$(INSTALL) --target .venv/servers httptools uvloop   # apart: uvicorn takes them wherever it finds them
	@touch $@ .venv/demo

.venv/bench: .venv/test
	@echo "Installing what the benchmarks compare with into .venv …"
	@$(INSTALL) $(SITE) --editable '.[bench]'
	@touch $@

demo: .venv/demo
	@$(BIN)/tenantry demo $(if $(PORT),--port $(PORT))

test: checks pytest

test-all: checks
	@+$(call PYTEST,)

# Two at a time: mypy is one process, and takes as long as all the others.
checks: .venv/test
	@$(MAKE) --no-print-directory --jobs=2 mypy pyright lint floors

lint: .venv/test
	@$(BIN)/ruff check --no-cache --quiet .
	@$(BIN)/ruff format --no-cache --check --quiet .
	@echo "lint: ok"

types: mypy pyright

mypy: .venv/test
	@$(BIN)/mypy

# How many public symbols have a type that is known to who imports them.
pyright: .venv/test
	@$(BIN)/python -m scripts.verify_types

floors: .venv/test
	@set -e; for folder in $(SESSIONS); do $(BIN)/lint-imports --config $$folder/pyproject.toml; done

# A session for each distribution: each has a package called tests. A file's tests share what its fixtures start. Those of
# contrib/ are done before other processes would have started.
SESSION = $(CURDIR)/$(BIN)/python -m pytest --numprocesses=$(if $(filter contrib/%,$(1)),0,$(WORKERS)) --dist=loadfile --no-loadscope-reorder
# Core beside all the others: either waits for servers and browsers now and then. The others print when they are done.
PYTEST = $(MAKE) --no-print-directory --jobs=2 "OPTIONS=$(1)" session-of-core sessions-of-others
RUN = (cd $(1) && $(call SESSION,$(1)) $(OPTIONS))

session-of-core:
	@$(call RUN,.)

sessions-of-others: WORKERS = 2
sessions-of-others:
	@report=$$(mktemp); { $(foreach folder,$(filter-out .,$(SESSIONS)),$(call RUN,$(folder)) &&) true; } >"$$report" 2>&1; \
	  code=$$?; cat "$$report"; rm "$$report"; exit $$code

# The first tier: without the tests that are marked as slow. engines/hypothesis_profile.py runs fewer examples in it.
FIRST_TIER := -m 'not slow'

pytest: .venv/test
	@+$(call PYTEST,$(FIRST_TIER))

# Of one room: tests/sql, or tests/test_errors.py. Of one distribution: site, or contrib/tenantry-convert.
ROOM = $(wildcard tests/$* tests/test_$*.py)
DISTRIBUTION = $(wildcard $(filter site,$*) contrib/tenantry-$*)

test-%: .venv/test
	@test -n "$(DISTRIBUTION)$(ROOM)" || { echo "There are no tests of $*. Try the name of a folder of tests/."; exit 1; }
	@cd ./$(DISTRIBUTION) && $(call SESSION,$(DISTRIBUTION)) $(if $(DISTRIBUTION),,$(ROOM))

# While one works: without pyright, engines, servers and browsers.
PURE := tests/test_names.py tests/test_errors.py tests/http/test_error_response.py tests/http/test_accessors.py tests/test_public_names.py tests/groups \
  tests/tokens tests/html tests/sql $(wildcard tests/cache/*.py) tests/cache/slots/test_versions.py tests/scale
PURE_CONTRIB := contrib/tenantry-convert contrib/tenantry-warehouses
PURE_SITE := tests/test_public_names.py tests/test_contrast.py tests/config tests/navigation tests/markdown tests/icons tests/outputs
SLOW := test_spelling.py test_fleet_model.py test_dynamic_sql_engines.py test_fuzz.py test_hostile.py test_large.py test_scaling.py test_clause_completeness.py test_structure.py
QUICK := --quiet --numprocesses=2 --dist=loadfile --no-loadscope-reorder $(SLOW:%=--ignore-glob=*/%)

quick: lint mypy floors quick-tests

quick-tests: .venv/test
	@$(BIN)/python -m pytest $(QUICK) $(PURE)
	@cd site && ../$(BIN)/python -m pytest $(QUICK) $(PURE_SITE)
	@set -e; for folder in $(PURE_CONTRIB); do (cd $$folder && $(CURDIR)/$(BIN)/python -m pytest $(QUICK)); done

# Interpreters of the PATH and of pyenv, each with an environment in .venv-matrix; those that are not found are named.
# One version, some tests: make test-matrix MATRIX="--versions 3.13 -- tests/sql"
test-matrix:
	@$(PYTHON) -m scripts.matrix --workers $(WORKERS) $(MATRIX)

# The clients of Snowflake and BigQuery need older versions of packages than the tests: they have their own environment.
WAREHOUSES := contrib/tenantry-warehouses
.venv-warehouses/made: .venv/python pyproject.toml $(WAREHOUSES)/pyproject.toml
	@$(PYTHON) -m venv --without-pip .venv-warehouses
	@$(UV) pip install --python .venv-warehouses --editable . --editable './$(WAREHOUSES)[snowflake,bigquery,databricks]' \
	  'fakesnow[server]>=0.12' 'pytest>=8.3' 'anyio>=4.6'
	@touch $@

warehouses: .venv-warehouses/made
	@cd $(WAREHOUSES) && ../../.venv-warehouses/bin/python -m pytest

# Apart, for measuring takes a fifth of the time again.
coverage: .venv/test
	@+$(call PYTEST,--cov --cov-report=term)

# Not into .venv: uvicorn takes these two wherever it finds them, and the tests run on what the extras install.
.bench/site: .venv/bench
	@echo "Installing a quicker HTTP server beside it …"
	@$(INSTALL) --target .bench/site httptools uvloop
	@touch $@

.venv/clients: .venv/test
	@$(INSTALL) $(SITE) --editable '.[clients]'
	@touch $@

clients: .venv/clients
	@$(BIN)/python -m tests.clients

bench: .venv/bench .bench/site
	@$(BIN)/python -m benchmarks.micro $(TABLES)

scale: .venv/bench
	@$(BIN)/python -m benchmarks.scale

scorecard: .venv/bench .bench/site
	@$(BIN)/python -m benchmarks.acceptance

scorecard-full: .venv/bench .bench/site
	@$(BIN)/python -m benchmarks.acceptance --full

leaks: .venv/bench
	@$(BIN)/python -m benchmarks.acceptance S24

sql-proof: .venv/bench
	@$(BIN)/python -m benchmarks.acceptance S25 --full

# ARGUMENTS="--engines duckdb --texts 500 --generated 100 --seed 7"
guard-proof: .venv/test
	@$(BIN)/python -m tests.sql.guarding.attacks $(if $(MUTATIONS),--mutations $(MUTATIONS)) $(ARGUMENTS)

structure:
	@$(PYTHON) -m scripts.structure

# The same versions again, with those that pyproject.toml asks for now; UPGRADE=1 takes newer ones.
lock: .venv/python
	@$(UV) pip compile requirements/lock.in --universal --python-version 3.11.5 --no-python-downloads --generate-hashes \
	  --no-annotate $(addprefix --no-emit-package ,tenantry tenantry-site $(notdir $(CONTRIB))) --custom-compile-command "make lock" \
	  $(if $(UPGRADE),--upgrade) --quiet --output-file requirements/constraints.txt

# Exit status 3: the registry that pip uses has no advisories.
audit: .venv/test
	@$(BIN)/python -m scripts.audit

changelog: .venv/test
	@$(BIN)/towncrier build --draft

format: .venv/test
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

clean:
	rm -rf .venv .venv-matrix .venv-warehouses .demo .bench .bundles-* .scorecard .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* \
	  frontend/node_modules tests/browser/node_modules tests/clients/node_modules src/tenantry/static/bundles \
	  site/.bundles-* site/.mypy_cache site/.pytest_cache site/.hypothesis site/.import_linter_cache site/.coverage* \
	  site/src/tenantry_site/static/bundles \
  $(foreach folder,$(CONTRIB),$(addprefix $(folder)/,.pytest_cache .hypothesis .import_linter_cache .coverage*))
