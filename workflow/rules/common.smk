# The plan of the run, by which all rules go: polyreward/plan.py reads and checks settings, catalogs and registry. No rules here.

import sys
from pathlib import Path

WORKFLOW = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
sys.path.insert(0, str(WORKFLOW / "scripts"))  # the library that belongs to these rules

from polyreward.carb.inputs import PERTURBED_SETS, TEXT_SCORERS
from polyreward.config.inputs import claims_of, notebook_settings
from polyreward.config.translation import (
    Engine,
    engine_of,
    languages_brought,
    languages_translated,
    quality_rows,
)
from polyreward.core.codehash import code_of
from polyreward.core.naming import TEXT_BASELINES, ModelName, one_of, seed_suffix
from polyreward.ops.folder_lock import hold_folder
from polyreward.ops.workflow import (
    end_jobs_on_interrupt,
    follow_code,
    limit_jobs,
    name_environments,
    name_logs,
    stop_early,
)
from polyreward.ops.resources import written_at_once
from polyreward.plan import read_plan
from polyreward.sources.revisions import locked
from polyreward.think_as_locals.inputs import ARTIFACTS as JUDGES_ARTIFACTS
from polyreward.think_as_locals.inputs import PERTURBED_JUDGES, WARMUPS

PLAN = read_plan(workflow, config, report)
SETTINGS, KNOWN, SCALE, PATHS = PLAN.settings, PLAN.known, PLAN.scale, PLAN.scale.paths
FILES, RESOURCES, ARTIFACTS = PLAN.files, PLAN.resources, PLAN.artifacts
CARB, JUDGES = PLAN.carb, PLAN.judges

# What many rules loop over or ask about.
SOURCE, TARGETS, LANGUAGES = SETTINGS.source_language, SETTINGS.target_languages, SCALE.languages
CULTURES, DOMAINS = SETTINGS.carb.cultures, SETTINGS.carb.domains
BASES, MAIN, OWN = SCALE.table1_bases, SETTINGS.benchmarks.main, SETTINGS.own_benchmarks
ALIGNMENT = SETTINGS.alignment

# Tokens that writing has at once, for the memory of a card.
SAMPLED_AT_ONCE = written_at_once(ALIGNMENT.sampling.batch_size, ALIGNMENT.sampling.max_new_tokens)
CANDIDATES_AT_ONCE = written_at_once(
    SETTINGS.carb.candidates.per_question, SETTINGS.carb.candidates.max_new_tokens
)
TRANSLATED_AT_ONCE = max(
    (
        2 * one.batch_size * one.max_new_tokens
        for one in SETTINGS.translation.engines.values()
        if one.kind != "gettext"
    ),
    default=0,
)

# What the printed numbers of published reward models are of, and the same pairs in other languages.
ANCHOR, ANCHOR_TRANSLATED = "rewardbench", "multilingual-rewardbench"

# Who labels a policy's responses: the target language's reward model, or the source's.
LABELLERS = ["target", "english"]


wildcard_constraints:
    base=r"[A-Za-z0-9.-]+",
    model=r"[A-Za-z0-9.-]+_[a-z]{2,3}(_seed\d+)?",
    language=r"[a-z]{2,3}",
    rowset=one_of(["train", "dev", "judge", "prompts", *KNOWN.benchmarks]),
    benchmark=one_of(KNOWN.benchmarks),
    engine=r"[A-Za-z0-9.-]+",
    seed=r"(_seed\d+)?",  # of a reward model's name; the first one's has none
    policy=one_of(SETTINGS.carb.policies),
