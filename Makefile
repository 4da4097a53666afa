# One way in: each target makes the environment when it is missing, then calls the tool.
#   make results/table1.csv   Table 1 of the transfer paper at scale mini
#   make                      every table, figure and notebook, and results/report.html, which shows them
#   make report               results/report.html of what is there already
#   make test                 the quick tests (minutes); make test-all has the slow ones too

# The Python that the environment is made with, 3.11 to 3.13; the best one that is found where none is named.
PYTHON ?=
CORES ?= all
# Memory in MB that jobs get together; where none is given, the machine's less a reserve.
MEM_MB ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
TORCH := torch==2.13.0

.PHONY: all carb cluster-check docs dress-rehearsal env format gpu-check lint lock lock-check plan report \
  test test-all test-cluster test-environments test-slow think_as_locals transfer
.DEFAULT_GOAL := all

# A target in results/tiny/ is of that scale.
SCALE = $(if $(findstring results/tiny/,$@),--configfile workflow/scales/tiny.yaml)

# How a run tells of itself: one line that is kept up to date; with LOGGER= as Snakemake does, job by job.
LOGGER ?= polyreward
# One Snakemake of make's at a time in a folder: a lock of the system's ends with it, even by a kill. Snakemake's own (a file)
# would outlive it, so that it is used only where there is no flock.
FLOCK := $(shell command -v flock)
ONLY = $(if $(FLOCK),mkdir -p .snakemake && exec 9> .snakemake/make.lock && { flock -w 3 9 || \
  { echo "another make runs Snakemake in this folder; wait until it ends. Then run the same command again" >&2; exit 1; }; } && )
SNAKEMAKE = $(ONLY)$(BIN)/snakemake $(if $(FLOCK),--nolock )$(if $(LOGGER),--logger $(LOGGER) )--rerun-incomplete $(if $(MEM_MB),--resources mem_mb=$(MEM_MB) )--cores $(CORES)

# Everything of one paper.
carb think_as_locals transfer: $(READY)
	$(SNAKEMAKE) $@

# Everything, then Snakemake's own report, then our page, which links to it.
all: $(READY)
	$(SNAKEMAKE) all
	$(BIN)/snakemake --report results/snakemake_report.html all
	$(BIN)/polyreward report results

# The page of what is there, in seconds: it asks for no result, and says of what is missing how to make it.
report: results/report.html

%/report.html: $(READY) FORCE
	$(BIN)/polyreward report $(@D)

# It tells of all that ran, with code and times, so that no rule can write it: Snakemake does, once everything is made.
%/snakemake_report.html: $(READY) FORCE
	$(BIN)/snakemake --report $@ all $(SCALE)

# Any other file of results/ is asked of Snakemake, which knows what is out of date.
results/%: $(READY) FORCE
	$(SNAKEMAKE) $@ $(SCALE)

FORCE:

# What a scale takes before it runs: `make plan`, or `make plan CONFIGFILE=mine.yaml`.
CONFIGFILE ?= workflow/scales/paper.yaml
plan: $(READY)
	$(BIN)/polyreward plan --configfile $(CONFIGFILE)

# Tests run in a process for each core; more than four gain nothing, as the longest group of tests then decides. With
# CHECKOUT=FOLDER, scale tiny is made in that copy of the checkout and kept for the next run.
WORKERS ?= logical
PYTEST = $(BIN)/python -m pytest $(if $(CHECKOUT),--checkout=$(CHECKOUT))
# With COVERAGE=1, the share of the library's lines that they run; jobs of Snakemake are processes of their own and not counted.
COVERED = $(if $(COVERAGE),--cov=polyreward --cov-report=term:skip-covered)
ALL_CORES = -n $(WORKERS) --maxprocesses 4 --no-loadscope-reorder

test: $(READY)
	$(PYTEST) $(ALL_CORES) $(COVERED) -m "not (slow or environments or matrix)"

# The tests that `make test` leaves out: some 17 minutes on two cores.
test-slow: $(READY)
	$(PYTEST) $(ALL_CORES) -m "slow and not cluster"

test-all: $(READY)
	$(PYTEST) $(ALL_CORES) -m "not (cluster or environments or matrix)"

# The whole of scale tiny through SLURM, beside a run without it.
test-cluster: $(READY)
	$(PYTEST) -m cluster

# Tables of docs/guarantees.md, at scale tiny in three languages; CHECKOUT=FOLDER as above spares making it each time.
# faults: a job of each rule is killed midway and made again. FAULTS_SEED=1 draws other jobs and moments.
# edits: what each kind of edit reruns, and what not. determinism: the same bytes in other folders, locales and the like.
.PHONY: faults edits determinism
faults: $(READY)
	$(PYTEST) -s -m matrix tests/e2e/test_kills.py

edits: $(READY)
	$(PYTEST) -s -m matrix tests/workflow/test_edits.py

determinism: $(READY)
	$(PYTEST) -s -m matrix tests/e2e/test_same_bytes.py

# Does pip resolve each file of envs/ to what it pins? Asks a package index.
test-environments: $(READY)
	$(PYTEST) -m environments

# Scales paper and gpu from end to end on a CPU, over miniatures of all that they fetch: docs/rehearsal.md.
dress-rehearsal: $(READY)
	$(BIN)/python tests/dress_rehearsal.py

# Is the GPU to be trusted with long jobs, and how fast is it? A few minutes tell.
gpu-check: $(READY)
	$(BIN)/polyreward gpu-check

# Is the SLURM profile right for this cluster? A toy job on a CPU and one on a GPU tell.
cluster-check: $(READY)
	$(BIN)/polyreward cluster-check

# The documents as a site, in site/; it fails where a link or an anchor leads nowhere. `python -m http.server -d site` shows it.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lint: $(READY) docs
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

# torch comes first and without a hash: which of its builds is right depends on the machine.
$(READY): requirements.lock pyproject.toml
	sh envs/python.sh make $(VENV) $(PYTHON)
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check
	touch $@

# An environment whose folder was moved does not run; it is made anew.
ifeq ($(shell sh envs/python.sh usable $(VENV)),no)
$(READY): FORCE
endif

RESOLVE = $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-package torch --extra dev --extra docs --no-header pyproject.toml

# After a change of pyproject.toml: resolve again, then bring envs/ to the same pins.
lock:
	$(BIN)/python -m pip install --quiet uv
	$(RESOLVE) --python-version 3.11 --output-file requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/polyreward envs
	$(MAKE) lock-check

# Does the lock serve each Python: the same versions and hashes when it is resolved for it, and a wheel of each package
# (connection-pool has none)? Comments say what wants a package, which may differ. Needs the network.
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

# Are results as they were made, and does a rebuild from nothing, in a temporary folder, give the same bytes?
#   make verify   make verify RESULTS=results/tiny   make verify RESULTS=results/tiny ARTIFACT=table1
RESULTS ?= results
# The name of a table or figure, such as table1; none for all.
ARTIFACT ?=
NAMED = $(if $(ARTIFACT),$(notdir $(firstword $(wildcard $(addprefix $(RESULTS)/$(ARTIFACT).,csv png html ipynb)) $(ARTIFACT))))

# Ask again for each reward model that `missing: row` left as an empty row; `polyreward unavailable results` lists them.
.PHONY: again
again: $(READY)
	found=$$($(BIN)/polyreward unavailable $(RESULTS)) && $(SNAKEMAKE) all \
	  $(if $(filter results/tiny,$(RESULTS)),--configfile workflow/scales/tiny.yaml) --forcerun $$(echo "$$found" | cut -f1)

.PHONY: verify verify-sums provenance
verify: $(READY)
	$(BIN)/polyreward verify $(RESULTS) $(NAMED) --rebuild --cores $(CORES)

# The first half of it, in seconds.
verify-sums: $(READY)
	$(BIN)/polyreward verify $(RESULTS) $(NAMED)

# What made a table or figure, back to raw data: make provenance ARTIFACT=table1
provenance: $(READY)
	$(BIN)/polyreward provenance $(RESULTS)/$(NAMED)

# Files of strangers, 2,000 made up of each kind: are they read, or refused in words? The quick tests try 20.
FUZZ_EXAMPLES ?= 2000
.PHONY: fuzz audit tables
fuzz: $(READY)
	FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest tests/unit/fuzz --hypothesis-show-statistics

# Known faults of the locked packages. Asks PyPI's vulnerability service, and fails where that does not know one; torch is not in the lock.
audit: $(READY)
	$(BIN)/python -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet pip-audit
	$(VENV)/audit/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

# Tables, figures, scores, analysis and provenance in one file, without weights; `polyreward unbundle` checks and unpacks it.
.PHONY: bundle
bundle: $(READY)
	$(BIN)/polyreward bundle $(RESULTS)

# All tables and figures of a bundle, made again from its scores without a model: make tables BUNDLE=bundle.zip
BUNDLE ?= bundle.zip
tables: $(READY)
	$(BIN)/polyreward unbundle $(BUNDLE) $(basename $(BUNDLE)) --rebuild --cores $(CORES)
