# Needs make and Python 3.11 or later; everything else is installed into folders of this one.
#
#   make run        the main job: every scheduler on Inception v1 with the figures of an A100; table and pictures
#   make test       style, types, tests, doctests, examples and documentation pages
#   make lowest     the tests again with the lowest versions of all dependencies that are allowed
#   make benchmark  speed of the engine, the ranks and the loaders
#   make docs       the documentation as web pages, in docs/_build/html
#   make pictures   draw the pictures of the documentation again
#   make screenshots take the screenshots of the page again; needs a browser
#   make notebooks  execute the notebooks again, in place
#   make clean      remove what the other targets made

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
WORKERS ?= 2
PIP     := -m pip --disable-pip-version-check --quiet install
RUN     := .venv/bin
TEST    := .venv-test/bin
DOCS    := .venv-docs/bin
BOOKS   := .venv-notebooks/bin

# Arguments: folder of the environment, its pinned requirements.
define environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "simsched needs Python 3.11 or later; say which one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(1)
	$(1)/bin/python $(PIP) --requirement requirements/build.txt --requirement $(2)
	$(1)/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	@touch $(1)/.ready
endef

.PHONY: run test lint types format lowest benchmark docs pictures screenshots notebooks clean

run: .venv/.ready
	$(RUN)/simsched compare inception_v1 --hardware a100_sxm_80gb --output results/inception_v1_a100

# pytest comes last, so that its count closes the output.
test: lint .browser/.ready
	$(TEST)/python -m pytest --numprocesses $(WORKERS)

lint: .venv-test/.ready
	$(TEST)/ruff check .
	$(TEST)/ruff format --check .
	$(TEST)/mypy
	@$(MAKE) --no-print-directory types

types: node_modules/.ready
	@if [ -f $< ]; then npm run --silent types; fi

format: .venv-test/.ready
	$(TEST)/ruff check --fix .
	$(TEST)/ruff format .

# Old libraries warn about newer ones; that is not what is tested here.
lowest: .venv-lowest/.ready
	.venv-lowest/bin/python -m pytest --numprocesses $(WORKERS) --override-ini filterwarnings=default

benchmark: .venv-test/.ready
	$(TEST)/python -m benchmarks

docs: .venv-docs/.ready
	$(DOCS)/sphinx-build --quiet --fail-on-warning --builder html docs docs/_build/html

pictures: .venv/.ready
	$(RUN)/python scripts/make_docs_pictures.py

screenshots: .venv-test/.ready .browser/.ready
	$(TEST)/python -m scripts.make_screenshots

notebooks: .venv-notebooks/.ready
	$(BOOKS)/python scripts/run_notebooks.py

clean:
	rm -rf .venv .venv-test .venv-lowest .venv-docs .venv-notebooks .browser node_modules docs/_build build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find results -mindepth 1 -not -name README.md -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: requirements/build.txt requirements/run.txt pyproject.toml
	$(call environment,.venv,requirements/run.txt)

.venv-test/.ready: requirements/build.txt requirements/run.txt requirements/dev.txt pyproject.toml
	$(call environment,.venv-test,requirements/dev.txt)

.venv-notebooks/.ready: requirements/build.txt requirements/run.txt requirements/notebooks.txt pyproject.toml
	$(call environment,.venv-notebooks,requirements/notebooks.txt)

.venv-docs/.ready: requirements/build.txt requirements/run.txt requirements/docs.txt pyproject.toml
	$(call environment,.venv-docs,requirements/docs.txt)

.venv-lowest/.ready: requirements/build.txt requirements/lowest.txt pyproject.toml
	$(call environment,.venv-lowest,requirements/lowest.txt)

# Asked once; without a browser the tests that need one are skipped and say so.
.browser/.ready: .venv-test/.ready scripts/get_browser.py
	@$(TEST)/python scripts/get_browser.py
	@mkdir -p .browser && touch $@

node_modules/.ready: package.json package-lock.json
	@if command -v npm > /dev/null && npm ci --silent --no-audit --no-fund --ignore-scripts; then touch $@; \
	else echo "npm is not here or reaches no registry: the types of the page's scripts are not checked."; fi
