# `make run` opens the studio, `make test` checks everything; both build .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
XDIST ?= 2

.PHONY: help run test check lint types contracts unit snapshots clean
.DEFAULT_GOAL := help

help: ## show what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

run: $(STAMP) ## open the studio
	@$(BIN)/rlgpt-studio

test: check unit ## lint, types, contracts and all tests

check: lint types contracts ## what needs no test run

lint: $(STAMP)
	$(BIN)/ruff check studio engine skills_db tests
	$(BIN)/ruff format --check studio engine skills_db tests

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

# Screens and pseudo-terminals are timed by people's patience: what fails on a loaded machine is
# run once more, alone; what fails again has failed. Pictures that this second run does not draw
# are no failure.
unit: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(XDIST) --dist loadgroup -q || \
	OMP_NUM_THREADS=1 $(BIN)/pytest -q --last-failed --last-failed-no-failures none \
		--snapshot-warn-unused

snapshots: $(STAMP) ## draw the SVG snapshots anew, after a look at the difference
	$(BIN)/pytest -q tests/studio --snapshot-update

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache *.egg-info
