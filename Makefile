# Everything a newcomer needs; `make` alone says what there is. The work is in scripts/ and in the package.
# Options: QUERY=q1|q11 and MASTER=standalone|yarn|kubernetes for the demo, PYTHON=python3.12 for the set-up, ARGS="..." handed on to the demo or to pytest.

SETUP  = scripts/setup.sh pyproject.toml rheostat-lab/pyproject.toml
DEMO   = --end-with-parent $(if $(QUERY),--query $(QUERY)) $(if $(MASTER),--cluster $(MASTER)) $(ARGS)
PYTEST = .venv/bin/python -m pytest
CODE   = src rheostat-lab tests scripts benchmarks examples
BESIDE = -n logical --dist loadfile --no-loadscope-reorder
TESTS  = $(wildcard tests/unit tests/contract tests/property tests/theory tests/docs tests/e2e)
MATRIX = 3.5.7 4.0.0 4.1.4 4.2.0

.PHONY: help setup demo demo-full demo-days demo-kubernetes test thorough coverage docs check dist matrix lock clean $(MATRIX:%=matrix-%) matrix-newest
.DEFAULT_GOAL := help

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: .venv/.ready ## the environment: .venv, a Java, the JARs (once; the other targets do it too)

.venv/.ready: requirements/lock.txt $(SETUP)
	@scripts/setup.sh .venv $<

demo: .venv/.ready ## the main job: Spark, Kafka, a day in four minutes, the autoscaler; report in out/demo
	@.venv/bin/rheostat demo $(DEMO)

demo-full: .venv/.ready ## the same, and the same load at fixed sizes beside it
	@.venv/bin/rheostat demo --full $(DEMO)

demo-days: .venv/.ready ## two days one after the other, sized by predictive; report in out/demo-days
	@.venv/bin/rheostat demo --end-with-parent --days 2 --out out/demo-days $(if $(QUERY),--query $(QUERY)) $(ARGS)

demo-kubernetes: .venv/.ready ## on Kubernetes: its own HPA sizes the job, then a policy of ours; 10 minutes, 8 more the first time; report in out/demo-kubernetes
	@.venv/bin/rheostat demo --operator --end-with-parent --out out/demo-kubernetes $(if $(QUERY),--query $(QUERY)) $(ARGS)

test: .venv/.ready ## what every change is tested by, real Spark and Kafka included; about half an hour on two cores
	@$(PYTEST) $(BESIDE) -m "not thorough" $(TESTS) $(ARGS)

thorough: .venv/.ready ## the tests that take longer
	@$(PYTEST) -m thorough $(TESTS) $(ARGS)
	@HYPOTHESIS_PROFILE=searching $(PYTEST) tests/property tests/contract

docs: .venv/.ready ## the documentation's site, into build/site; every link is checked
	@.venv/bin/python scripts/reference_pages.py
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict

coverage: .venv/.ready ## the share of lines that the tests without Spark run; report in build/coverage.xml
	@$(PYTEST) $(BESIDE) -m "not e2e and not thorough" --cov --cov-report=term --cov-report=xml $(filter-out tests/e2e,$(TESTS)) $(ARGS)

check: .venv/.ready ## style, format, complexity, types, layers, version
	@.venv/bin/ruff check $(CODE)
	@.venv/bin/ruff format --check $(CODE)
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@.venv/bin/python scripts/same_version.py

dist: ## wheels and source archives into dist/, checked, installed with each extra alone
	@scripts/dist.sh

matrix: $(MATRIX:%=matrix-%) matrix-newest ## the end-to-end tests on each PySpark: 3.5.7, 4.0.0, 4.1.4, 4.2.0 and the newest

$(MATRIX:%=matrix-%): matrix-%: .venv-%/.ready
	@echo "PySpark $*"
	@.venv-$*/bin/python -m pytest -m "not thorough" tests/e2e $(ARGS)

$(MATRIX:%=.venv-%/.ready): .venv-%/.ready: requirements/lock-%.txt $(SETUP)
	@scripts/setup.sh .venv-$* $<

matrix-newest: .venv/.ready
	@echo "PySpark, the newest"
	@$(PYTEST) -m "not thorough" tests/e2e $(ARGS)

lock: ## the lock files anew: the newest versions that pyproject.toml allows
	@scripts/lock.sh $(MATRIX)

clean: ## remove all that was made here, the environments too (not the JARs in the cache)
	@rm -rf .venv .venv-* build dist out artifacts spark-warehouse metastore_db derby.log src/*.egg-info
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
