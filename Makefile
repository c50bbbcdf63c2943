# Everything a developer types. Needs python3 (3.11 or newer) with venv, make and nothing else; `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TOOLS := $(VENV)/tools/bin
LOCKED := dask mlflow postgresql sign sql
UPGRADE ?=
WORKERS ?= auto
TESTS ?=

.PHONY: help demo test nightly lint ruff types bench docs books docs-check sentences example gallery site package lock sbom audit clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s%s\n", $$1, $$2}' Makefile

demo: $(VENV)/.run ## install evalpipe into .venv and make the card of configs/titanic.yaml
	@$(BIN)/evalpipe run configs/titanic.yaml
	@ls -1 "$(CURDIR)/reports/titanic/card.html" "$(CURDIR)/reports/titanic/card.pdf"

test: $(VENV)/.test ## run the tests on all cores (TESTS=tests/spec for a part)
	@.ci/system test "$(BIN)/python"
	@$(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

nightly: $(VENV)/.test ## run what make test leaves out: models trained again, every PDF, simulations, more examples of each property
	@.ci/system test "$(BIN)/python"
	@$(BIN)/python -m pytest -n $(WORKERS) -m "nightly or hypothesis" $(TESTS)

lint: ruff types ## look for faults without running the code: ruff, then mypy

ruff: $(VENV)/.dev
	@$(BIN)/ruff check .

types: $(VENV)/.dev
	@$(BIN)/mypy

bench: $(VENV)/.peers ## compare with peers and write benchmarks/RESULTS.md (about three quarters of an hour)
	@$(VENV)/peers/bin/python benchmarks/run.py

docs: $(VENV)/.test ## write the generated pages of docs/ again
	@$(BIN)/python docs/build.py
	@$(BIN)/python docs/coverage_page.py

books: $(VENV)/.run ## run the specs of configs/books and write docs/books.md with its pictures again
	@$(BIN)/python docs/books.py

docs-check: $(VENV)/.test ## fail when a generated page of docs/ is stale
	@$(BIN)/python docs/build.py --check
	@$(BIN)/python docs/coverage_page.py --check
	@$(BIN)/python docs/books.py --check
	@$(BIN)/python docs/gallery.py --check

sentences: $(VENV)/.run ## list every sentence that the card, the commands, errors and documents can print
	@$(BIN)/python docs/sentences.py

example: $(VENV)/.run ## write reports/example again, the committed card
	@$(BIN)/evalpipe run configs/titanic.yaml --out reports/example --no-progress
	@rm reports/example/run.json

gallery: $(VENV)/.run ## run and sign the specs of configs/gallery in build/gallery, and write docs/gallery.md again
	@$(BIN)/python docs/gallery.py

site: $(VENV)/.test gallery ## build the site of all pages in build/site, and fail where a link leads nowhere
	@$(BIN)/python docs/site.py

package: $(VENV)/.test ## build the wheel in dist/ and try it on each Python that is here
	@.ci/package $(BIN)/python

lock: $(VENV)/.tools ## pin all that evalpipe needs, with hashes, in .ci/requirements.lock (UPGRADE=--upgrade for the newest)
	@$(TOOLS)/uv pip compile pyproject.toml $(LOCKED:%=--extra %) --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --quiet $(UPGRADE) --output-file .ci/requirements.lock

sbom: $(VENV)/.tools ## list what the lock file installs here, with licences, in .ci/sbom.cdx.json (CycloneDX)
	@$(TOOLS)/uv venv --quiet --clear --python "$(PYTHON)" $(VENV)/locked
	@$(TOOLS)/uv pip install --quiet --python $(VENV)/locked/bin/python --require-hashes --requirement .ci/requirements.lock
	@$(TOOLS)/cyclonedx-py environment $(VENV)/locked/bin/python --output-reproducible --output-format JSON \
	  | $(BIN)/python .ci/sbom.py > .ci/sbom.cdx.json

audit: $(VENV)/.tools ## look up known vulnerabilities of all that the lock file pins (needs the network)
	@$(TOOLS)/pip-audit --requirement .ci/requirements.lock --require-hashes --disable-pip

clean: ## remove .venv, caches and build products; reports stay
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. A stamp is made again when pyproject.toml has changed; each holds what the one before it holds.

$(VENV)/.venv:
	@.ci/system venv "$(PYTHON)"
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.venv pyproject.toml
	@.ci/system run "$(BIN)/python"
	@echo "Installing evalpipe into $(VENV) …"
	@$(PIP) install --quiet --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.run pyproject.toml
	@echo "Installing what the tests need into $(VENV) …"
	@$(PIP) install --quiet --editable '.[test]'
	@# Its schema and its validator need none of its dependencies, which are for its converters, nor Python 3.12.
	@$(PIP) install --quiet --no-deps --ignore-requires-python 'every-eval-ever>=0.3,<0.4'
	@touch $@

$(VENV)/.peers: $(VENV)/.run benchmarks/requirements.txt
	@echo "Installing the peers into $(VENV)/peers …"
	@$(BIN)/python -m venv $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip --disable-pip-version-check install --quiet --editable . -r benchmarks/requirements.txt
	@touch $@

$(VENV)/.tools: $(VENV)/.venv .ci/tools.txt
	@echo "Installing the tools for the lock file and the SBOM into $(VENV)/tools …"
	@$(BIN)/python -m venv $(VENV)/tools
	@$(TOOLS)/python -m pip --disable-pip-version-check install --quiet -r .ci/tools.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.test pyproject.toml
	@echo "Installing the linters into $(VENV) …"
	@$(PIP) install --quiet --editable '.[dev]'
	@touch $@
