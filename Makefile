# worldtape's commands. What they make lies in .venv and demo-output here, and in ~/.cache/worldtape.
.PHONY: help setup demo test check bench clean

PY := .venv/bin/python
RUN := .venv/bin

help:    ## what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup:   ## install what is missing: .venv, a container engine where it may, sandbox images, a tokenizer
	@scripts/setup.sh

demo: setup ## the main job end to end: record, curate, pack, train
	@$(PY) examples/demo.py

test:    ## every test, the real parts for real
	@scripts/setup.sh --tests
	@$(RUN)/pytest

check: setup ## lint, format, types, layers
	@$(RUN)/ruff check . && $(RUN)/ruff format --check . && $(RUN)/mypy && $(RUN)/lint-imports

bench: setup ## ours beside its peers, in one run
	@$(PY) -m benchmarks

clean:   ## remove what the demo and the checkers left here (not .venv)
	rm -rf demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
