# `make demo` runs the laboratory, `make test` everything that guards it. Both make their own
# environment in .venv first; nothing is installed outside the checkout.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
STAMP := $(VENV)/.installed
# Sums depend on the number of threads, and two threads on two busy cores are slower than one.
SINGLE := OMP_NUM_THREADS=1
WORKERS ?= 2
# Tests start many processes, and each would compile the library again.
unexport PYTHONDONTWRITEBYTECODE

# What a processor of a generation before has: AVX2 for AVX-512, and SSE 4.1 for AVX2.
OLDER := $(if $(shell grep -m1 avx512f /proc/cpuinfo 2>/dev/null), \
    ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2, \
    ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41)

.PHONY: help env test thorough endurance lint format docs pages demo bench gpu mutants wheel \
    lowest newest clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo     forty networks of the ESBN paper beside the print, and the recorded curves'
	@echo 'make test     format, lint, types, layers, spelling and tests'
	@echo 'make format   what ruff can mend of format and lint'
	@echo 'make docs     make cards, names and pages of results anew, then the site: build/site/index.html'
	@echo 'make pages    only the cards, names and pages, which are committed'
	@echo 'make bench    speed against straightforward loops, and of layers against torch'\''s'
	@echo 'make gpu      networks together on a GPU, and the hours of the grid of webb2021 there'
	@echo 'make mutants  break the code on purpose and see the tests fail (ONLY=metrics: a part)'
	@echo 'make thorough further cases of checks, and float32 as on an older processor'
	@echo 'make endurance a thousand kills, hostile files, worlds, records (ENDURE="--soak 60": and an hour of runs)'
	@echo 'make wheel    build the package, install it with no extra elsewhere, and use it there'
	@echo 'make lowest   tests with the lowest versions that pyproject.toml admits (TESTS=tests/core: a part)'
	@echo 'make newest   tests with the newest versions that pip finds (TORCH=2.13.0 picks that of torch)'
	@echo 'make env      only make the environment (PYTHON=... picks the interpreter)'
	@echo 'make clean    remove the environment and all caches'

env: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Farfield needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	        "Name another: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo 'Making the environment in $(VENV) (torch is large; the first time takes some minutes)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

lint: env
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/codespell

format: env
	$(BIN)/ruff format --quiet
	$(BIN)/ruff check --fix --quiet

test: lint
	$(SINGLE) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

thorough: env
	$(SINGLE) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m thorough
	$(SINGLE) $(OLDER) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal \
	    tests/functional tests/models tests/nn tests/training -m 'processor and not slow'

# Many minutes: what `python -m endurance --help` says goes into ENDURE.
endurance: env
	$(SINGLE) PYTHONPATH=tests $(BIN)/python -m endurance $(ENDURE)

# Four models, each after the context norm of the paper.
FOUR := esbn+tcn transformer+tcn lstm+tcn rn+tcn

# Forty networks trained in full, then all that is recorded: the curve, and whitening.
demo: env
	$(BIN)/farfield reproduce webb2021/table-9 --budget paper --cell $(FOUR:%=%/withheld-98)
	$(BIN)/farfield report webb2021/table-9 --records results --out reports/recorded --cell $(FOUR:%='%/*')
	$(BIN)/farfield report webb2021/beyond --records results --out reports/recorded --cell 'relational-match-to-sample/*'

pages: env
	$(BIN)/python docs/cards.py
	$(BIN)/python docs/names.py
	$(BIN)/python docs/results.py
	$(BIN)/python docs/claims.py
	$(BIN)/python docs/measured.py
	$(BIN)/python docs/mechanisms.py

# Runs the examples, but for those that have not changed since. No part of `make test`, which looks
# at links, numbers and examples in seconds; this takes minutes and needs the tools of `[docs]`.
docs: pages $(VENV)/.docs
	$(SINGLE) $(BIN)/python -m sphinx -q -W --keep-going -c docs -d build/doctrees . build/site
	@echo 'Open build/site/index.html'

$(VENV)/.docs: $(STAMP)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

bench: env
	$(BIN)/python -m benchmarks.throughput
	$(BIN)/python -m benchmarks.normalizers
	$(BIN)/python -m benchmarks.analogies
	$(BIN)/python -m benchmarks.rims
	$(BIN)/python -m benchmarks.nfm
	$(BIN)/python -m benchmarks.recurrent
	$(BIN)/python -m benchmarks.compiled
	$(BIN)/python -m benchmarks.matrices
	$(BIN)/python -m benchmarks.interpreters
	$(BIN)/python -m benchmarks.mixing

gpu: env
	$(BIN)/python -m benchmarks.gpu
	$(BIN)/python -m benchmarks.image_networks
	$(BIN)/python -m benchmarks.store

# Folders with mutants of the tool, and those whose tests have to notice.
TESTS_functional := functional models nn
TESTS_metrics := metrics
TESTS_objectives := objectives training
TESTS_tasks := tasks
TESTS_training := objectives training

define mutate
	@rm -rf mutants/tests # tests that were renamed would stay
	$(SINGLE) PYTEST_ADDOPTS='-o "testpaths=$(addprefix tests/,$(TESTS_$(firstword $(subst /, ,$(1)))))"' \
	    $(BIN)/mutmut run --max-children $(WORKERS) 'farfield.$(subst /,.,$(1:.py=)).*'
	@$(BIN)/mutmut results | \
	    sed -n '/farfield.$(subst /,.,$(1:.py=)).*: \(survived\|no tests\|suspicious\)/p'

endef

# ONLY=metrics/_intervals.py or ONLY=tasks: the tool alone, on that file or folder.
mutants: env
	$(if $(ONLY),,$(SINGLE) $(BIN)/python -m pytest -q -n $(WORKERS) tests/mutants \
	    -m "mutants or not mutants")
	$(foreach part,$(or $(ONLY),metrics objectives training functional tasks),$(call mutate,$(part)))

wheel: env
	$(SINGLE) $(BIN)/python tools/wheel.py

# Environments of their own, beside that of the other targets: tools of other releases would find
# other faults of format and types.
lowest: env
	@$(PYTHON) -m venv $(VENV)-lowest
	@$(BIN)/python tools/lowest.py $(TORCH:%=torch==%) > $(VENV)-lowest/constraints.txt
	@$(VENV)-lowest/bin/python -m pip install -qq --disable-pip-version-check \
	    -c $(VENV)-lowest/constraints.txt -e '.[dev]'
	$(SINGLE) $(VENV)-lowest/bin/python -m pytest -q -n $(WORKERS) --dist worksteal $(TESTS)

newest:
	@$(PYTHON) -m venv $(VENV)-newest
	@$(VENV)-newest/bin/python -m pip install -qq --disable-pip-version-check \
	    --upgrade --upgrade-strategy eager -e '.[dev]' torch$(TORCH:%===%)
	$(SINGLE) $(VENV)-newest/bin/python -m pytest -q -n $(WORKERS) --dist worksteal $(TESTS)

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-newest docs/gallery mutants .pytest_cache .mypy_cache .ruff_cache .import_linter_cache build dist
