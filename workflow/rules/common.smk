# Load and validate the configuration, the catalogs and the registry; functions that rules share. No rules here.

import re
import sys
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

WORKFLOW = Path(workflow.basedir) / "workflow"
sys.path.insert(0, str(WORKFLOW / "scripts"))

from polyreward.codehash import code
from polyreward.errors import PolyrewardError, raise_all
from polyreward.naming import ModelName, Paths
from polyreward.seeds import job_seed
from polyreward.settings import catalog_problems, config_problems


def load_yaml(name):
    return yaml.safe_load((WORKFLOW / name).read_text(encoding="utf-8"))


def checked(data, schema):
    validate(data, str(WORKFLOW / "schemas" / schema))
    return data


checked(config, "config.schema.yaml")
MODELS = checked(load_yaml("catalog/models.yaml"), "models.schema.yaml")
DATASETS = checked(load_yaml("catalog/datasets.yaml"), "datasets.schema.yaml")
BENCHMARKS = checked(load_yaml("catalog/benchmarks.yaml"), "benchmarks.schema.yaml")
REGISTRY = checked(load_yaml("artifacts.yaml"), "artifacts.schema.yaml")
CLAIMS = checked(load_yaml("claims.yaml"), "claims.schema.yaml")
LANGUAGES_KNOWN = load_yaml("../resources/languages.yaml")

try:
    raise_all(catalog_problems(DATASETS, BENCHMARKS), "workflow/catalog")
    raise_all(config_problems(config, MODELS, DATASETS, BENCHMARKS, LANGUAGES_KNOWN), "configuration")
except PolyrewardError as error:
    raise WorkflowError(str(error)) from None

PATHS = Paths(config["results"])
SEED = config["seed"]
BASES = config["bases"]
SOURCE = config["source_language"]
TARGETS = config["target_languages"]
LANGUAGES = [SOURCE, *TARGETS]
MAIN = config["benchmarks"]["main"]
TWINS = config["benchmarks"]["twins"]
SCORED = [MAIN, TWINS]
OWN = config["own_benchmarks"]
LISTED = config["reward_models"]


def one_of(names):
    """Return a pattern for any of some names; one that nothing fits where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    base=r"[A-Za-z0-9.-]+",
    model=r"[A-Za-z0-9.-]+_[a-z]{2,3}(_seed\d+)?",
    language=r"[a-z]{2,3}",
    rowset=one_of(["train", "dev", *BENCHMARKS]),
    benchmark=one_of(BENCHMARKS),
    own=one_of(OWN),
    scored=one_of([*BENCHMARKS, *OWN]),
    listed=one_of(LISTED),
    engine=r"[A-Za-z0-9.-]+",


CONFIDENCE = f"{100 * config['intervals']['confidence']:g}%"


def caption(artifact):
    return REGISTRY[artifact]["caption"].format(confidence=CONFIDENCE)


def benchmark_categories(benchmark):
    sections = BENCHMARKS[benchmark]["sections"]
    return {subset: section for section, subsets in sections.items() for subset in subsets}


def benchmark_facts(benchmark):
    facts = BENCHMARKS[benchmark]
    return {"name": benchmark, "sections": facts["sections"], "weights": facts["weights"]}


def interval_settings():
    return {**config["intervals"], "seed": SEED}


def frozen_layers():
    """Return how many top layers adapters change, or 0 where no layer is frozen or its states are not kept."""
    settings = config["reward_model"]
    return settings["lora"]["top_layers"] if settings["lora"] and settings["cache_frozen_layers"] else 0


def frozen_states(base, rowset, language):
    return [PATHS.frozen(base, rowset, language)] if frozen_layers() else []


def languages_scored(model, benchmark):
    """Return the languages that a trained reward model is scored on: all of the main benchmark's, for Tables 3-7.

    On the twins the source language's is scored on all, another on its own. A further seed serves the gate alone."""
    name = ModelName.parse(model)
    if name.seed > 1:
        return [SOURCE]
    return LANGUAGES if benchmark == MAIN or name.language == SOURCE else [name.language]


def trained_models():
    return [str(ModelName(base, training)) for base in BASES for training in LANGUAGES]


def reward_models(benchmark, language):
    """Return the names of the reward models that are scored on a benchmark and language."""
    return [*LISTED, *(name for name in trained_models() if language in languages_scored(name, benchmark))]


def other_languages():
    """Return {training language: languages that Table 1 does not ask its reward model about}."""
    return {training: [language for language in LANGUAGES if language != training] for training in TARGETS}


def gate_models():
    return [str(ModelName(config["gate"]["base"], SOURCE, seed)) for seed in range(1, config["gate"]["seeds"] + 1)]


TEXT_BASELINES = ["length", "tfidf-answer", "tfidf-prompt-answer"]


def baseline_scorers():
    return [*TEXT_BASELINES, *(f"{kind}-{base}" for base in BASES for kind in ("probe", "loglik", "pmi"))]


# Scorers that nobody trained here: Table 2, and the claim about it
OFF_THE_SHELF = [*LISTED, *(f"loglik-{base}" for base in BASES)]


def off_the_shelf_pretraining():
    """Return {off-the-shelf scorer: its base's pretraining}; "unknown" of a base that is not in the catalog."""
    bases = {**{f"loglik-{base}": base for base in BASES}, **{name: entry.get("model") for name, entry in LISTED.items()}}
    return {name: MODELS.get(bases.get(name), {}).get("pretraining", "unknown") for name in OFF_THE_SHELF}


def claim_scorers():
    """Return the scorers that the claims are about; all of them score the main benchmark in every language."""
    return [*trained_models(), *OFF_THE_SHELF]


def scorers(benchmark, language):
    """Return all scorers of a benchmark and language, reward models first."""
    return [*reward_models(benchmark, language), *baseline_scorers()]


def by_script(languages):
    """Return the languages in two groups: those not written in Latin letters, and those that are; no empty one."""
    latin = [language for language in languages if LANGUAGES_KNOWN[language]["script"] == "Latn"]
    return [group for group in ([language for language in languages if language not in latin], latin) if group]


def own_scorers(name):
    """Return all scorers of a benchmark of the user's own; text baselines are fitted in the languages of the pool only."""
    text = TEXT_BASELINES if OWN[name]["language"] in LANGUAGES else []
    return [*LISTED, *trained_models(), *text]


def located(entry):
    """Return a reward model's entry with its `source`: a folder, or a hub id; and the same for its reference."""
    where = {"path": lambda path: path, "hub": lambda name: name, "model": PATHS.base_model}
    found = {key: value for key, value in entry.items() if key not in where}
    found.update({"source": locate(entry[key]) for key, locate in where.items() if key in entry})
    return {**found, "reference": located(entry["reference"])} if "reference" in entry else found


def folders(entry):
    """Return the folders that a reward model is loaded from."""
    entries = [entry, entry.get("reference", {})]
    return [located(one)["source"] for one in entries if "path" in one or "model" in one]


def engine_input(name, language):
    """Return what an engine needs: a catalog or a model; nothing for the source language."""
    engine = config["translation"]["engines"][name]
    if language == SOURCE:
        return []
    if engine["kind"] == "gettext":
        return f"{engine['catalogs']}/{language}.po"
    return PATHS.base_model(engine["model"])


# The paper has a table for each of these languages (3-7): {table: evaluation language}
LANGUAGE_TABLES = {name: artifact["language"] for name, artifact in REGISTRY.items() if artifact.get("language") in LANGUAGES}


def made_here():
    """Return the artifacts of the languages at hand."""
    return [artifact["target"] for artifact in REGISTRY.values() if artifact.get("language", SOURCE) in LANGUAGES]


# The transfer paper's tables whose printed numbers are known: {artifact: the file of those}
PRINTED = {
    name: artifact["published"]
    for name, artifact in REGISTRY.items()
    if artifact["paper"] == "transfer" and artifact["published"] and artifact.get("language", SOURCE) in LANGUAGES
}

# Tables that are only put together: {table: the files of their rows}
STACKED = {
    "data_sources": [PATHS.counts("train"), *(PATHS.counts(benchmark) for benchmark in SCORED)],
    "baselines": [PATHS.analysis(f"scorers/{benchmark}_{language}.csv") for benchmark in SCORED for language in LANGUAGES],
    "subsets": [PATHS.analysis(f"subsets/{benchmark}_{language}.csv") for benchmark in SCORED for language in LANGUAGES],
    "twins": [PATHS.analysis(f"twins/{language}.csv") for language in LANGUAGES],
    "translation_quality": [PATHS.analysis("translation_quality.csv")],
}
