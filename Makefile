# make demo   a real translator from nothing in under ten minutes; PAIR=en-fr, en-de or en-es for another pair
# make test   every test, in two processes
# make check  lint, format and types
# make bench  the tables that can be measured; TABLES="speed memory" measures them
# The environment .venv is made here when it is missing; PYTHON=python3.12 makes it with another interpreter.

PYTHON ?= python3
PAIR ?= zh-en
BUDGET ?= 5m30s
TABLES ?=
RUN = .venv/bin/python
INSTALL = $(RUN) -m pip install -qq --disable-pip-version-check --no-compile --constraint constraints.txt --editable

# Libraries are installed without bytecode, so that whoever imports one first keeps it for the others: where the
# environment forbids that, each of many processes would compile torch anew, which takes longer than most tests.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test check bench journeys

demo: .venv/installed
	$(RUN) examples/demo.py $(PAIR) $(BUDGET)

test: .venv/installed-dev
	OMP_NUM_THREADS=1 $(RUN) -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder  # a core for each process

check: .venv/installed-dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

journeys: .venv/installed-dev
	$(RUN) -m pytest tests/journeys.py

bench: .venv/installed-dev
	$(RUN) -m benchmarks $(TABLES)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Dragoman needs Python 3.11 or newer; make PYTHON=python3.12 chooses one")'
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo 'installing into .venv; the first time this takes a minute or two'
	@$(INSTALL) .
	@touch $@

.venv/installed-dev: pyproject.toml constraints.txt | .venv/bin/python
	@echo 'installing into .venv, with the development tools; the first time this takes a minute or two'
	@$(INSTALL) '.[dev]'
	@touch $@ .venv/installed
