# What all rules go by, read and checked once. `polyreward sheet` prints SHEET and SCORES. No rules here.

import sys
from functools import partial
from pathlib import Path

WORKFLOW = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
sys.path.insert(0, str(WORKFLOW / "scripts"))  # the library that belongs to these rules

from polyreward.core.codehash import code_of
from polyreward.core.naming import TEXT_BASELINES, ModelName, one_of, seed_suffix
from polyreward.core.seeds import job_seed
from polyreward.core.sheet import KNOCKOUT
from polyreward.ops.folder_lock import hold_folder
from polyreward.ops.resources import written_at_once
from polyreward.ops.workflow import (
    end_jobs_on_interrupt,
    follow_code,
    limit_jobs,
    stop_early,
    wait_for_jobs,
)
from polyreward.plan import read_plan
from polyreward.sheet.data import (
    carb_parts,
    dataset_entry,
    dataset_file,
    drawn_share,
    judge_kinds,
    own_benchmark_file,
    paper_benchmarks,
    quartet_choices,
)
from polyreward.sheet.engines import Engine, engine_of
from polyreward.settings.reward_models import as_entry
from polyreward.settings.think_as_locals import WARMUPS, WITHOUT_CRITERIA
from polyreward.sheet.papers import checked_tables, checks_of
from polyreward.sheet.scorers import (
    ANCHORS,
    CARB_TEXT,
    PERTURBED_JUDGES,
    QUARTET_TEXT,
    printed,
    published,
    ready_made,
    trained_models,
    without_question,
)

PLAN = read_plan(workflow, config, report)
# config.yaml; workflow/catalog/; workflow/papers/; where models lie; tables and figures
SETTINGS, CATALOG, PAPERS = PLAN.settings, PLAN.catalog, PLAN.papers
SHORTS = {name: paper.facts["short"] for name, paper in PAPERS.items()}  # how tables call a paper
CHECKED = {name: paper.facts for name, paper in PAPERS.items() if checks_of(paper.facts)}
MODELS, ARTIFACTS = PLAN.models, PLAN.artifacts
caption, table_files, figure_files = ARTIFACTS.caption, ARTIFACTS.table_files, ARTIFACTS.figure_files
# What a job asks of a machine: one with models, one with tables, one with TF-IDF
for_models, for_tables, for_tfidf = (
    PLAN.resources.for_models,
    PLAN.resources.for_tables,
    PLAN.resources.for_tfidf,
)
FILE = PLAN.project.file  # where a file of the project is, also where another workflow uses this one

# The sheet: a row for each scorer, by its name, with its kind, base, trained_in, seed, ties and entry
SHEET = PLAN.sheet.scorers
# Which table reads which scores: rows of table, benchmark, scorer and language
SCORES = PLAN.sheet.scores
# How each scorer is loaded, and the folders that it is loaded from
ENTRIES = {name: MODELS.loadable(entry) for name, entry in SHEET.entry.items() if entry}
FOLDERS = {name: MODELS.folders(entry) for name, entry in SHEET.entry.items() if entry}
# The same for CARB, which asks about four answers, so that a judge's question about two is left out
CARB_ENTRIES = ENTRIES | {
    name: MODELS.loadable(without_question(entry))
    for name, entry in SHEET.entry.items()
    if entry and "question" in entry
}
CARB_FOLDERS = FOLDERS | {
    name: MODELS.folders(without_question(entry))
    for name, entry in SHEET.entry.items()
    if entry and "question" in entry
}

# With `missing: row`, published reward models that cannot be had are empty rows. Params that say so take `output`, too: Snakemake
# then reruns no job where only they change, so that a change of `missing` rescores nothing.
MISSING = SETTINGS.missing == "row"
MAY_BE_MISSING = list(published(SETTINGS, CATALOG)) if MISSING else []

# Parts of the settings that many rules need.
SOURCE, TARGETS, LANGUAGES = SETTINGS.source_language, SETTINGS.target_languages, SETTINGS.languages
BASES, EMBEDDED, SEEDS = SETTINGS.shown_bases, SETTINGS.embedding_models, SETTINGS.reward_model_seeds
MAIN, TWINS, BENCHMARKS = SETTINGS.benchmarks.main, SETTINGS.benchmarks.twins, paper_benchmarks(SETTINGS)
OWN, THREADS, SCORING, LAUNCH = (
    SETTINGS.own_benchmarks,
    SETTINGS.threads,
    SETTINGS.score_options,
    SETTINGS.launch,
)
INTERVAL, CONFIDENCE, SEED = SETTINGS.interval, SETTINGS.confidence, SETTINGS.seed
ALIGNMENT, CARB, LOCALS = SETTINGS.alignment, SETTINGS.carb, SETTINGS.think_as_locals
CULTURES, DOMAINS = CARB.cultures, CARB.domains

# Reward models that are not trained here; those that are, all seeds; all of both, one seed of each
READY_MADE = list(ready_made(SETTINGS, CATALOG))
TRAINED = list(SHEET.index[SHEET.trained_in != ""])
REWARD_MODELS = [*trained_models(SETTINGS), *READY_MADE]
CARB_SCORERS = list(dict.fromkeys(SCORES.scorer[SCORES.table == "carb_leaderboard"]))
# Reward models that train a policy
REWARDING = (CARB.grpo.reward_models or REWARD_MODELS) if CARB.grpo else []
# Models that write CARB's answers, where carb.generators names some
GENERATORS = {name: as_entry(model) for name, model in CARB.generators.items()}
# Who wrote the answers to CARB's prompts: generators, or the references
CARB_ANSWERS = f"<prepared>/carb/steps/{'completions' if CARB.generators else 'possible_items'}.jsonl"
# Judges that write criteria read and write longer texts, so fewer at once
LOCALS_SCORING = SCORING | {"token_budget": LOCALS.judge_token_budget}
# What CARB's references are built for
BUILT_CULTURES, BUILT_DOMAINS = carb_parts(CARB)
# What the probe of a base reads: the benchmark and the language of each file
PROBED = (
    SCORES.loc[SCORES.scorer.str.startswith("probe-"), ["benchmark", "language"]]
    .drop_duplicates()
    .to_dict("list")
)
# Place quartets, the test of culture: what they are made of, in which languages, and who scores them
QUARTETS = quartet_choices(SETTINGS)
QUARTET_LANGUAGES = QUARTETS["languages"]
QUARTET_SCORERS = list(dict.fromkeys(SCORES.scorer[SCORES.benchmark == "quartets"]))
# The benchmark next to CARB that Think-as-Locals' judges see, and in which languages
JUDGED = LOCALS.evaluation.benchmark or MAIN
JUDGED_LANGUAGES = SETTINGS.judged_languages
# Rewrites of right answers, and the same answers in all languages
PERTURBED_SETS = ["carb_perturbation", "carb_consistency"]


def brought(dataset):
    """Return the languages in which passages or instructions come; an engine translates them into the others."""
    return [language for language in LANGUAGES if language in CATALOG.datasets[dataset]["languages"]]


def frozen_states(scorer, items):
    """Return the states of items below the layers that a reward model trained here has of its own, where these are kept."""
    if not SHEET.trained_in[scorer] or not SETTINGS.top_layers:
        return []
    return [f"<scores>/frozen/{SHEET.base[scorer]}/{items}.safetensors"]


seed_of = partial(job_seed, SEED)  # the seed of a job, by its name

# Where judges' replies and trainings' checkpoints are kept. Params have no pathvars.
REPLIES, TRAININGS = f"{SETTINGS.results}/work/5_scores/replies", f"{SETTINGS.results}/work/4_models"

# Tokens that writing has at once, for the memory of a card.
SAMPLED_AT_ONCE = written_at_once(ALIGNMENT.sampling.batch_size, ALIGNMENT.sampling.max_new_tokens)
CANDIDATES_AT_ONCE = written_at_once(CARB.candidates.per_question, CARB.candidates.max_new_tokens)
TRANSLATED_AT_ONCE = max(
    (
        2 * one.batch_size * one.max_new_tokens
        for one in SETTINGS.translation.engines.values()
        if one.kind != "gettext"
    ),
    default=0,
)

# Who labels a policy's responses: the target language's reward model, or the source's.
LABELLERS = ["target", "english"]


wildcard_constraints:
    base=r"[A-Za-z0-9.-]+",
    model=r"[A-Za-z0-9.-]+_[a-z]{2,3}(_seed\d+)?",
    language=r"[a-z]{2,3}",
    rowset=one_of(["train", "dev", "judge", "prompts", *CATALOG.benchmarks]),
    benchmark=one_of(CATALOG.benchmarks),
    engine=r"[A-Za-z0-9.-]+",
    seed=r"(_seed\d+)?",  # of a reward model's name; the first one's has none
    policy=one_of(CARB.policies),
