# Every target makes its own environment in .venv first; nothing but Python 3.11, git and make has to be there.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
ENVIRONMENT = $(PYTHON) tools/environment.py
IN = .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run test install

help: ## Print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 20

run: ## Start DRA-Dash and print its address; PORT, DRADASH_HOME and ARGS=--simulated are yours to set
	@exec $(ENVIRONMENT) -- dradash up $(ARGS)

install: ## Make .venv with the `dradash` command, and no more
	@$(ENVIRONMENT)
