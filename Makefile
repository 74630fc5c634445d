# The two commands of the README: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
LOWEST := .venv-lowest
BIN := $(VENV)/bin
# percent of the lines of src/pellucid that the tests must run
COVERAGE := 85

.PHONY: demo test test-lowest coverage lint soak bench bench-tables docs docs-build release-check clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(VENV)/installed
	@$(BIN)/python -m pellucid demo

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

# a named part of the tests (tests/lowest.py) with the lowest version of every package that pyproject.toml allows, and
# the share of lines that this part runs
$(LOWEST)/installed: pyproject.toml tests/lowest.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python tests/lowest.py versions > $(LOWEST)/versions.txt
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --editable ".[test]" --constraint $(LOWEST)/versions.txt
	@touch $@

test-lowest: $(LOWEST)/installed
	@cat $(LOWEST)/versions.txt
	$(LOWEST)/bin/python -m pytest -n auto --dist worksteal -p no:cacheprovider --cov --cov-report= $$($(LOWEST)/bin/python tests/lowest.py tests)
	@echo "This part of the tests runs $$($(LOWEST)/bin/coverage report --format=total) % of the lines."

# all tests, with the share of lines that they run; from Python 3.12 on it costs next to nothing (sys.monitoring)
CORE := import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")
coverage: $(VENV)/installed
	COVERAGE_CORE=$$($(BIN)/python -c '$(CORE)') $(BIN)/python -m pytest -n auto --cov --cov-report=
	$(BIN)/coverage report --sort=cover --fail-under=$(COVERAGE)

# some minutes of hard use, with a table of figures; WORDS="forks --seed 3" for a part, another seed
soak: $(VENV)/installed
	$(BIN)/python -m soak $(WORDS)

lint: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# the book, served while it is written; links that lead nowhere are errors
BOOK := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs
docs: $(VENV)/installed
	$(BOOK) serve

docs-build: $(VENV)/installed
	$(BOOK) build

# wheel and source archive are built, looked into, and the wheel is used in an environment of its own
release-check: $(VENV)/installed
	$(BIN)/python -m tests.release

# the peers live in an environment of their own
$(BENCH)/installed: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --disable-pip-version-check --editable . -r benchmarks/requirements.txt
	@touch $@

# DATA=folder (it has index.json and tables) adds the time to a validation loss, and how good the defaults are on tables;
# AGAINST=REV compares this tree with a commit instead (WORDS="--case mid" for a part)
bench: $(BENCH)/installed
ifdef AGAINST
	$(BENCH)/bin/python -m benchmarks.against $(AGAINST) $(WORDS)
else
	$(BENCH)/bin/python -m benchmarks $(if $(DATA),--data $(DATA))
	$(BENCH)/bin/python -m pytest tests/optim/test_peers.py -p no:cacheprovider
	$(if $(DATA),$(MAKE) bench-tables)
endif

# many hours for five seeds; it can be interrupted and taken up: what is there is not measured again. SEEDS=1 for a part,
# WORDS="--table iris --contestant fast" for another; WORDS=--report prints and writes what is there
SEEDS ?= 5
bench-tables: $(BENCH)/installed
	$(BENCH)/bin/python -m benchmarks.tables $(if $(DATA),--data $(DATA)) --seeds $(SEEDS) $(WORDS)

clean:
	rm -rf $(VENV) $(BENCH) $(LOWEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage site dist
