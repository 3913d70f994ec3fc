# `make test` and `make demo` need only CPython 3.11+ with venv and pip; everything else goes into .venv.
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3 python; do \
  $$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
PY := .venv/bin/python

.PHONY: check test foreign update coverage budgets explore demo views bench bench-cli bench-find bench-peers bundle wheel clean lock

# before a commit: format, lint, types, import contracts, workflows, and the tests of the core, in about a minute
check: .venv/.installed
	@$(PY) -m tests.check quick

# before a push, and in CI: every check, and every test that needs no other people's programs
test: .venv/.installed
	@$(PY) -m tests.check

# in CI, and after a change of views or of the server's MCP: the tests that need Node, npm's registry and Chromium
foreign: .venv/.installed
	@$(PY) -m tests.check foreign

# writes every generated file anew: snapshots, transcripts, tables and pictures in documents, the entries of packages
update: .venv/.installed
	@$(PY) packaging/owner.py
	@$(PY) -m pytest --quiet --update tests
	@$(PY) packaging/chatgpt.py

# which lines the tests run; apart, since tracing doubles the time and is not reliable beside threads that fork
coverage: .venv/.installed
	@$(PY) -m pytest --quiet -m "not timing" --cov --cov-report=term:skip-covered tests

# the times that the contract promises, on a machine with nothing else to do
budgets: .venv/.installed
	@$(PY) -m pytest --quiet -m timing tests

# the tests of properties with other examples each time, and 25 times as many: `make test` tries the same ones
explore: .venv/.installed
	@$(PY) -m pytest --quiet -m hypothesis --hypothesis-profile=explore tests

demo: .venv/.installed
	@$(PY) -m tests.demo

# the pages of the views; only who changes packaging/views needs this, and Node 20
views:
	@cd packaging/views && npm ci --no-audit --no-fund --silent && npm run --silent check && npm run --silent build

# make bench SIZE=300000: what grows with the vault instead, up to so many notes
bench: .venv/.installed
	@$(PY) -m benchmarks$(if $(SIZE),.scale $(SIZE)) $(BENCH)

# every command beside the drop-in's for the same work, and beside ripgrep
bench-cli: .venv/.installed
	@$(PY) -m benchmarks.commands

# how well searches find what questions are about
bench-find: .venv/.installed
	@$(PY) -m benchmarks.find

# other servers to measure beside, into .bench; the only part of this that needs a network
bench-peers: .venv/.installed
	@$(PY) -m benchmarks.peers

# the wheel in an empty environment, as a person installs it; needs the package index
wheel: .venv/.installed
	@$(PY) -m tests.wheel

bundle: .venv/.installed
	@$(PY) packaging/bundle.py

.venv/.installed: pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "CPython 3.11 or later is needed and was not found."; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@PYTHONDONTWRITEBYTECODE= $(PY) -m compileall -q obsidian_mcp
	@touch $@

lock: .venv/.installed
	@$(PY) -m pip install --quiet uv
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
	  --group dev --all-extras pyproject.toml --output-file requirements.lock

clean:
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* build dist
