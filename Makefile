# Everything a person or CI does here. Needs Python >= 3.11 (as python3, or PYTHON=...), Node >= 20 and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
SETUP := $(VENV)/.set-up
NODE := node_modules/.set-up

.PHONY: setup demo test check e2e fuzz bench eval generate lock clean

setup: $(SETUP) $(NODE)

# --require-hashes: nothing is installed that the lock file does not name with its digest.
$(SETUP): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "afterturn needs Python 3.11 or newer; set PYTHON=")'
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(PY) -m compileall -q sidecar protocol
	@touch $@

$(NODE): package-lock.json bench/node/package-lock.json
	npm ci --no-audit --no-fund --silent
	npm ci --no-audit --no-fund --silent --prefix bench/node
	@touch $@

demo: $(SETUP)
	@$(VENV)/bin/afterturn demo

test: setup
	$(PY) -m pytest

check: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	node_modules/.bin/pyright
	$(VENV)/bin/lint-imports
	$(PY) -m pytest tests/protocol/test_schema.py

# Every property test with new, random examples; not part of `test`, whose outcome must be the same everywhere.
fuzz: setup
	HYPOTHESIS_PROFILE=fuzz $(PY) -m pytest -m hypothesis --timeout 3600

# The real hosts: each installs what it needs below .hosts/ (pinned, with hashes) and drives the real thing.
e2e:

bench: setup
	$(PY) -m bench.speed

eval: setup
	$(PY) -m bench.quality

generate: $(SETUP)
	$(PY) -m afterturn.schema --write spec

# Needs `uv` on PATH; writes what `setup` installs.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --custom-compile-command 'make lock' pyproject.toml requirements/dev.in --output-file requirements/dev.lock

clean:
	rm -rf $(VENV) node_modules bench/node/node_modules .hosts .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find sidecar protocol tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
