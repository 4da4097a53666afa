# Each target makes the environment if it is missing, then calls the tool.
#   make results/table1.csv   Table 1 of the transfer paper at scale mini
#   make                      every table, figure and notebook, and results/report.html, which shows them
#   make report               results/report.html of existing results; RESULTS=results/tiny for another scale
#   make test                 the quick tests (minutes); make test-all adds the slow ones

# Python for the environment, 3.11 to 3.13; by default the best one found.
PYTHON ?=
CORES ?= all
# Memory in MB for all jobs together; by default the machine's minus a reserve.
MEM_MB ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
TORCH := torch==2.13.0

.PHONY: all anchor carb docs docs-data docs-fill dress-rehearsal env format gpu-check lint lock lock-check plan report \
  test test-all test-cluster test-slow think_as_locals transfer
.DEFAULT_GOAL := all

# Snakemake and others keep caches below HOME. Where it cannot be written to, as in some containers, they keep them here.
CACHE = $${XDG_CACHE_HOME:-$$HOME/.cache}
ifneq ($(shell mkdir -p "$(CACHE)" 2> /dev/null && test -w "$(CACHE)" && echo yes),yes)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif

# Overlays of the scale that has a file's folder as its `results`.
overlays = $(shell $(BIN)/polyreward overlays $(1))$(if $(filter-out 0,$(.SHELLSTATUS)),$(error stopped before $@))

# Folder of the scale; the overlays are those that have it: make RESULTS=results/tiny
RESULTS ?= results

# Progress: one line that is updated; POLYREWARD_LOG=snakemake gives Snakemake's own log, job by job.
SNAKEMAKE = $(BIN)/snakemake --rerun-incomplete $(if $(MEM_MB),--resources mem_mb=$(MEM_MB) )--cores $(CORES)

# Everything of one paper.
carb think_as_locals transfer: $(READY)
	$(SNAKEMAKE) $@ $(call overlays,$(RESULTS)/SHA256SUMS)

# Everything, then Snakemake's own report, then our page, which links to it.
all: $(READY)
	$(SNAKEMAKE) all $(call overlays,$(RESULTS)/SHA256SUMS)
	$(BIN)/snakemake --report $(RESULTS)/snakemake_report.html all $(call overlays,$(RESULTS)/SHA256SUMS)
	$(BIN)/polyreward report $(RESULTS)

# The page of existing results, in seconds; for missing ones it says how to make them: make report RESULTS=results/tiny
report: $(RESULTS)/report.html

%/report.html: $(READY) FORCE
	$(BIN)/polyreward report $(@D)

# Snakemake's report of all jobs, with code and times. No rule can write it, since it comes after all of them.
%/snakemake_report.html: $(READY) FORCE
	$(BIN)/snakemake --report $@ all $(call overlays,$@)

# Snakemake makes any other file of results/ that is out of date.
results/%: $(READY) FORCE
	$(SNAKEMAKE) $@ $(call overlays,$@)

# Published reward models next to their printed numbers: inference only, on one card of 24 GB.
anchor: results/anchor/anchor.csv
	cat results/anchor/anchor.md

FORCE:

# The lines of recipes are not printed; make V=1 prints them.
ifeq ($(V)$(CI),)
.SILENT:
endif

# What a scale takes: `make plan`, or `make plan CONFIGFILE=mine.yaml`.
CONFIGFILE ?= workflow/scales/paper.yaml
plan: $(READY)
	$(BIN)/polyreward plan --configfile $(CONFIGFILE)

# Tests run in a process per core, at most four, since the longest group of tests then decides. CHECKOUT=FOLDER makes scale
# tiny in that copy of the checkout and keeps it for the next run.
WORKERS ?= logical
PYTEST = $(BIN)/python -m pytest $(if $(CI),--durations=25) $(if $(CHECKOUT),--checkout=$(CHECKOUT))
# COVERAGE=1 prints the share of the library's lines that they run, without Snakemake's jobs, which are other processes.
COVERED = $(if $(COVERAGE),--cov=polyreward --cov-report=term:skip-covered)
ALL_CORES = -n $(WORKERS) --maxprocesses 4 --no-loadscope-reorder

test: $(READY)
	$(PYTEST) $(ALL_CORES) $(COVERED) -m "not (slow or matrix)"

# Tests that `make test` leaves out. One process more than cores, since SLURM's tests wait.
test-slow: WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
test-slow: $(READY)
	$(PYTEST) $(ALL_CORES) -m "slow and not cluster"

test-all: $(READY)
	$(PYTEST) $(ALL_CORES) -m "not (cluster or matrix)"

# Scale tiny through SLURM, next to a run without it.
test-cluster: $(READY)
	$(PYTEST) -m cluster

# What docs/reference/guarantees.md promises, at scale tiny in three languages; CHECKOUT=FOLDER as above keeps it.
# faults: kill a job of each rule midway, and run again. FAULTS_SEED=1 draws other jobs and moments.
# edits: what each kind of edit reruns. determinism: the same bytes in other folders, locales etc.
.PHONY: faults edits determinism
faults: $(READY)
	$(PYTEST) -s -m matrix tests/e2e/test_kills.py

edits: $(READY)
	$(PYTEST) -s -m matrix tests/workflow/test_edits.py

determinism: $(READY)
	$(PYTEST) -s -m matrix tests/e2e/test_same_bytes.py

# Scales anchor, gpu and paper from end to end, on a card where there is one, with random miniatures of what they fetch: docs/limitations.md.
dress-rehearsal: $(READY)
	$(BIN)/python tests/dress_rehearsal.py

# Run a scale's own jobs, small, on this machine's GPU, and measure them: make gpu-check CONFIGFILE=workflow/scales/gpu.yaml
gpu-check: $(READY)
	$(BIN)/polyreward gpu-check --configfile $(CONFIGFILE)

# The documents as a site, in site/; fails on a broken link or anchor. `python -m http.server -d site` shows it.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Copy the tables of a finished run into docs/data/ and fill the numbers of all pages from them: make docs-data RESULTS=results
docs-data: $(READY)
	$(BIN)/python docs/fill.py --take $(RESULTS)
	$(BIN)/python docs/images/draw.py docs/data/reference/table1.csv docs/images/table1.png

# Fill the numbers of README.md and docs/ from docs/data/.
docs-fill: $(READY)
	$(BIN)/python docs/fill.py

lint: $(READY) docs
	$(BIN)/python docs/fill.py --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules workflow/profiles
	$(BIN)/lint-imports
	$(BIN)/snakemake --lint
	$(BIN)/basedpyright

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules workflow/profiles

env: $(READY)

# torch comes first and without a hash, since its build depends on the machine.
$(READY): requirements.lock pyproject.toml
	echo "Making the environment in $(VENV): about 2 minutes and 3 GB of disk, or up to 12 GB with CUDA's libraries" >&2
	sh envs/python.sh make $(VENV) $(PYTHON)
	sh envs/shown.sh "1 of 3: PyTorch" $(BIN)/python -m pip install --quiet $(TORCH)
	sh envs/shown.sh "2 of 3: the other packages" $(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	sh envs/shown.sh "3 of 3: polyreward" $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check
	touch $@

# An environment does not work after its folder was moved, so it is made again.
ifeq ($(shell sh envs/python.sh usable $(VENV)),no)
$(READY): FORCE
endif

RESOLVE = $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-package torch --extra pipeline --extra dev --extra docs --no-header pyproject.toml

# After a change in pyproject.toml: resolve again, and give envs/ the same pins.
lock:
	$(BIN)/python -m pip install --quiet uv
	$(RESOLVE) --python-version 3.11 --output-file requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/polyreward envs
	$(MAKE) lock-check

# Check that the lock serves each Python: the same versions and hashes, and a wheel of each package (connection-pool has
# none). Comments, which say what requires a package, may differ. Needs the network.
lock-check: $(READY)
	$(BIN)/python -m pip install --quiet uv
	@for python in 3.11 3.12 3.13; do \
	  resolved=$(VENV)/resolved-$$python; cp requirements.lock $$resolved.txt \
	  && $(RESOLVE) --python-version $$python --output-file $$resolved.txt \
	  && grep -v '^ *#' requirements.lock > $$resolved.old && grep -v '^ *#' $$resolved.txt | diff $$resolved.old - \
	  && $(BIN)/uv pip install --quiet --dry-run --python-version $$python --target $(VENV)/none --only-binary :all: \
	    --no-binary connection-pool --no-deps --require-hashes -r requirements.lock \
	  && echo "requirements.lock serves Python $$python" || exit 1; \
	done

# Check that results are unchanged, and that a rebuild in a temporary folder gives the same bytes:
#   make verify   make verify RESULTS=results/tiny   make verify RESULTS=results/tiny ARTIFACT=table1
# Name of a table or figure, such as table1; by default all.
ARTIFACT ?=
NAMED = $(if $(ARTIFACT),$(notdir $(firstword $(wildcard $(addprefix $(RESULTS)/$(ARTIFACT).,csv png html ipynb)) $(ARTIFACT))))

# Retry each reward model that `missing: row` left as an empty row; `polyreward unavailable results` lists them. Of another
# scale: make again RESULTS=results/paper
.PHONY: again
again: $(READY)
	found=$$($(BIN)/polyreward unavailable $(RESULTS)) && $(SNAKEMAKE) all \
	  $(call overlays,$(RESULTS)/SHA256SUMS) --forcerun $$(echo "$$found" | cut -f1)

.PHONY: verify verify-sums provenance
verify: $(READY)
	$(BIN)/polyreward verify $(RESULTS) $(NAMED) --rebuild --cores $(CORES)

# Only the check for changes, in seconds.
verify-sums: $(READY)
	$(BIN)/polyreward verify $(RESULTS) $(NAMED)

# What made a table or figure, back to raw data: make provenance ARTIFACT=table1
provenance: $(READY)
	$(BIN)/polyreward provenance --all $(RESULTS)/$(NAMED)

# Generate 5,000 files of each kind; each must be read and scored, or refused with an error. The quick tests try 20 to 300.
FUZZ_EXAMPLES ?= 5000
.PHONY: fuzz audit tables
fuzz: $(READY)
	FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest tests/unit/fuzz --hypothesis-show-statistics

# Known vulnerabilities of the locked packages, from PyPI's service; fails on a package unknown there. torch is not in the lock.
audit: $(READY)
	$(BIN)/python -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet pip-audit
	$(VENV)/audit/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

# Tables, figures, scores, analysis and provenance in one file, without weights; `polyreward unbundle` checks and unpacks it.
.PHONY: bundle
bundle: $(READY)
	$(BIN)/polyreward bundle $(RESULTS) $(NAMED)

# Make all tables and figures of a bundle from its scores, without a model: make tables BUNDLE=bundle.zip
BUNDLE ?= bundle.zip
tables: $(READY)
	$(BIN)/polyreward unbundle $(BUNDLE) $(basename $(BUNDLE)) --rebuild --cores $(CORES)
