# Entry points for users and contributors; `make` lists the targets. The implementation is in scripts/ and in the packages.
# Options: QUERY=q1|q11 and MASTER=standalone|yarn|kubernetes for the demos, PYTHON=python3.12 for the setup, ARGS="..." for extra arguments of the demo or pytest.

SETUP    = scripts/setup.sh pyproject.toml rheostat-lab/pyproject.toml
DEMO     = --end-with-parent $(if $(QUERY),--query $(QUERY)) $(if $(MASTER),--cluster $(MASTER)) $(ARGS)
PYTEST   = .venv/bin/python -m pytest
PARALLEL = -n logical --dist loadfile --no-loadscope-reorder
CODE     = src rheostat-lab tests scripts benchmarks examples
TESTS    = $(wildcard tests/unit tests/contract tests/property tests/theory tests/docs tests/e2e)
MATRIX   = 3.5.7 4.0.0 4.1.4 4.2.0

.PHONY: help setup demo demo-full demo-days demo-kubernetes test thorough coverage docs check dist matrix lock clean $(MATRIX:%=matrix-%) matrix-newest
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

setup: .venv/.ready ## create the environment: .venv, Java, JARs (the other targets run this first)

.venv/.ready: requirements/lock.txt $(SETUP)
	@scripts/setup.sh .venv $<

demo: .venv/.ready ## run the demo: Spark and Kafka, a day of load in four minutes, autoscaled; report in out/demo
	@.venv/bin/rheostat demo $(DEMO)

demo-full: .venv/.ready ## run the demo and compare it with the same load at fixed sizes
	@.venv/bin/rheostat demo --full $(DEMO)

demo-days: .venv/.ready ## run the demo for two consecutive days, sized by predictive; report in out/demo-days
	@.venv/bin/rheostat demo --end-with-parent --days 2 --out out/demo-days $(if $(QUERY),--query $(QUERY)) $(ARGS)

demo-kubernetes: .venv/.ready ## run on Kubernetes: sized by the HPA, then by a Rheostat policy; 10 minutes, 18 the first time; report in out/demo-kubernetes
	@.venv/bin/rheostat demo --operator --end-with-parent --out out/demo-kubernetes $(if $(QUERY),--query $(QUERY)) $(ARGS)

test: .venv/.ready ## run the tests for every change, including real Spark and Kafka; about half an hour on two cores
	@$(PYTEST) $(PARALLEL) -m "not thorough" $(TESTS) $(ARGS)

thorough: .venv/.ready ## run the long-running tests
	@$(PYTEST) -m thorough $(TESTS) $(ARGS)
	@HYPOTHESIS_PROFILE=searching $(PYTEST) tests/property tests/contract

docs: .venv/.ready ## build the documentation site into build/site and check every link
	@.venv/bin/python scripts/reference_pages.py
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict

coverage: .venv/.ready ## measure line coverage of the tests without Spark; report in build/coverage.xml
	@$(PYTEST) $(PARALLEL) -m "not e2e and not thorough" --cov --cov-report=term --cov-report=xml $(filter-out tests/e2e,$(TESTS)) $(ARGS)

check: .venv/.ready ## check style, format, complexity, types, layers and version
	@.venv/bin/ruff check $(CODE)
	@.venv/bin/ruff format --check $(CODE)
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@.venv/bin/python scripts/same_version.py

dist: ## build wheels and source archives into dist/, check them, and install each extra alone
	@scripts/dist.sh

matrix: $(MATRIX:%=matrix-%) matrix-newest ## run the end-to-end tests on PySpark 3.5.7, 4.0.0, 4.1.4, 4.2.0 and the newest version

$(MATRIX:%=matrix-%): matrix-%: .venv-%/.ready
	@echo "PySpark $*"
	@.venv-$*/bin/python -m pytest -m "not thorough" tests/e2e $(ARGS)

$(MATRIX:%=.venv-%/.ready): .venv-%/.ready: requirements/lock-%.txt $(SETUP)
	@scripts/setup.sh .venv-$* $<

matrix-newest: .venv/.ready
	@echo "PySpark, newest version"
	@$(PYTEST) -m "not thorough" tests/e2e $(ARGS)

lock: ## update the lock files to the newest versions that pyproject.toml allows
	@scripts/lock.sh $(MATRIX)

clean: ## remove all generated files, including environments (cached JARs are kept)
	@rm -rf .venv .venv-* build dist out artifacts spark-warehouse metastore_db derby.log src/*.egg-info
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
