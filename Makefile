# The two commands of the README: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin

.PHONY: demo test lint bench clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(VENV)/installed
	@$(BIN)/python -m pellucid demo

test: lint
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# the peers live in an environment of their own
$(BENCH)/installed: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --disable-pip-version-check --editable . -r benchmarks/requirements.txt
	@touch $@

# DATA=folder adds the time to a validation loss on a real data set (it has letter.csv.xz)
bench: $(BENCH)/installed
	$(BENCH)/bin/python -m benchmarks $(if $(DATA),--data $(DATA))
	$(if $(DATA),$(BENCH)/bin/python -m benchmarks.accuracy --data $(DATA))
	$(BENCH)/bin/python -m pytest tests/optim/test_peers.py -p no:cacheprovider

clean:
	rm -rf $(VENV) $(BENCH) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
