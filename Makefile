# Every target makes its own environment in .venv first; nothing but Python 3.11, git and make has to be there.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
IS_NEW_ENOUGH = $(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 11))' 2>&1)
SET_UP = $(if $(filter True,$(IS_NEW_ENOUGH)),$(PYTHON) tools/environment.py,$(error DRA-Dash needs Python 3.11 or newer. Install it (Debian: apt install python3.11), or name it: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)))
IN = .venv/bin/
PACKAGES = dra kube simulator clusters objects pools ingest api dashboard ui dradash
PYTEST = $(if $(COVERAGE),$(IN)coverage run -m pytest,$(IN)python -m pytest)
UV ?= uv
# Where a command only has to load the settings.
QUIET_SETTINGS = SECRET_KEY=only-for-these-checks-0123456789-abcdefghijklmnopqrstuvwxyz STATIC_FROM_SOURCE=true

.DEFAULT_GOAL := help
.PHONY: help run install test test-e2e test-cluster test-image test-start check lint format templates types imports consistency coverage covered bench lock vendor messages clean developer

help: ## Print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /make \1\t/' | expand -t 20

run: ## Start DRA-Dash and print its address (PORT=8001, ARGS=--simulated, DRADASH_HOME=… are yours to set)
	@exec $(SET_UP) -- dradash up $(ARGS)

install: ## Make .venv with the `dradash` command, and no more
	@$(SET_UP)
	@echo "Ready: .venv/bin/dradash"

test: developer ## Run the tests (ARGS='-k pools' and the like are passed on)
	@$(PYTEST) -n auto --dist loadgroup $(ARGS)

test-e2e: developer ## Run the tests in a browser; needs Chromium
	@$(IN)python -m pytest tests/e2e $(ARGS)

test-cluster: developer ## Run the tests on a real Kubernetes control plane; needs Go
	@$(IN)python -m pytest tests/cluster $(ARGS)

test-image: developer ## Run the steps of the Dockerfile in a clean folder, without Docker
	@$(IN)python tools/run_image_steps.py

test-start: developer ## Run `make test` and `make run` in a new clone, as root and as an ordinary user
	@$(IN)python tools/try_first_start.py

check: lint coverage ## Everything that has to hold: format, lint, templates, types, imports, migrations, settings, tests, coverage

lint: format templates types imports consistency

format: developer
	@$(IN)ruff format --check .
	@$(IN)ruff check .
	@$(IN)codespell
	@$(IN)deptry .

templates: developer
	@$(IN)djlint --quiet --lint templates
	@$(IN)djade --check --target-version 5.2 $$(git ls-files 'templates/*.html' ':!templates/rows/*' ':!templates/frame/*')

types: developer
	@$(IN)mypy $(PACKAGES) manage.py tests

imports: developer
	@$(IN)lint-imports

consistency: developer
	@$(QUIET_SETTINGS) $(IN)python -W ignore manage.py makemigrations --check --dry-run
	@$(QUIET_SETTINGS) DRADASH_HTTPS=true $(IN)python manage.py check --deploy --fail-level WARNING

coverage: developer
	@$(IN)coverage erase
	@$(MAKE) --no-print-directory test COVERAGE=1
	@$(MAKE) --no-print-directory covered

covered:
	@$(IN)coverage combine --quiet
	@$(IN)coverage report --include='dra/*' --fail-under=100
	@$(IN)coverage report --fail-under=95

bench: developer ## Measure, against what a user would otherwise take
	@$(IN)python -m bench $(ARGS)

vendor: ## Bring static/vendor to the versions in package.json (needs npm)
	@npm install --package-lock-only --ignore-scripts --silent
	@$(IN)python tools/vendor_static.py

messages: developer ## Gather the texts of pages for translation (needs gettext)
	@$(QUIET_SETTINGS) $(IN)python manage.py makemessages --all --no-wrap --no-location --no-obsolete --ignore='.venv/*' --ignore='tests/*'

lock: ## After a change of dependencies in pyproject.toml: resolve, and write the lists with hashes (needs uv)
	@$(UV) lock
	@$(UV) export --frozen --no-emit-project --no-header --no-annotate --quiet --no-dev --output-file requirements/run.txt
	@$(UV) export --frozen --no-emit-project --no-header --no-annotate --quiet --no-dev --extra embedded --output-file requirements/embedded.txt
	@$(UV) export --frozen --no-emit-project --no-header --no-annotate --quiet --group dev --output-file requirements/dev.txt

clean: ## Remove the environment and what tools left; data in DRADASH_HOME stays
	@rm -rf .venv .venv.lock .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

developer:
	@$(SET_UP) --dev
