# Load and validate the configuration, the catalogs and the registry; functions that rules share. No rules here.

import re
import sys
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

WORKFLOW = Path(workflow.basedir) / "workflow"
sys.path.insert(0, str(WORKFLOW / "scripts"))

from polyreward.cluster import stop_early
from polyreward.codehash import code
from polyreward.errors import PolyrewardError, raise_all
from polyreward.machine import cuda_devices, hand_out, model_memory_mb
from polyreward.naming import ModelName, Paths, hub_name
from polyreward.revisions import locked, read_lock
from polyreward.seeds import job_seed
from polyreward.settings import catalog_problems, config_problems, moved_settings


def load_yaml(name):
    return yaml.safe_load((WORKFLOW / name).read_text(encoding="utf-8"))


def checked(data, schema):
    validate(data, str(WORKFLOW / "schemas" / schema))
    return data


try:
    raise_all(moved_settings(config), "configuration")
except PolyrewardError as error:
    raise WorkflowError(str(error)) from None
checked(config, "config.schema.yaml")
MODELS = checked(load_yaml("catalog/models.yaml"), "models.schema.yaml")
DATASETS = checked(load_yaml("catalog/datasets.yaml"), "datasets.schema.yaml")
BENCHMARKS = checked(load_yaml("catalog/benchmarks.yaml"), "benchmarks.schema.yaml")
CATALOG = checked(load_yaml("catalog/reward_models.yaml"), "reward_models.schema.yaml")
REGISTRY = checked(load_yaml("artifacts.yaml"), "artifacts.schema.yaml")
CLAIMS = checked(load_yaml("claims.yaml"), "claims.schema.yaml")
LOCK = checked(read_lock(WORKFLOW / "catalog/revisions.lock.yaml"), "revisions.schema.yaml")
LANGUAGES_KNOWN = load_yaml("../resources/languages.yaml")

try:
    raise_all(catalog_problems(DATASETS, BENCHMARKS), "workflow/catalog")
    raise_all(config_problems(config, MODELS, CATALOG, DATASETS, BENCHMARKS, LANGUAGES_KNOWN), "configuration")
except PolyrewardError as error:
    raise WorkflowError(str(error)) from None

PATHS = Paths(config["results"])
PRECISION = config["precision"]
SCORING = {"dtype": PRECISION, **config["scoring"]}  # as models are loaded to score
SEED = config["seed"]
RM_SEEDS = config["reward_model_seeds"]
BASES = config["bases"]
FIGURE2_MODELS = config["figure2_models"] or BASES
SOURCE = config["source_language"]
TARGETS = config["target_languages"]
LANGUAGES = [SOURCE, *TARGETS]
MAIN = config["benchmarks"]["main"]
TWINS = config["benchmarks"]["twins"]
SCORED = [MAIN, TWINS]
OWN = config["own_benchmarks"]
LISTED = config["reward_models"]
SHELF = config["off_the_shelf"]
ALIGNMENT = config["alignment"]
LABELLERS = ["target", "english"]
CARB = config["carb"]
DEVICES = config["devices"]
# How accelerate starts the processes of a training; None for the job's own alone
LAUNCH = DEVICES["launch"] and yaml.safe_load(Path(DEVICES["launch"]).read_text(encoding="utf-8"))
SERVE = DEVICES["serve"]  # how models that write are served; None for transformers
LOCALS = config["locals"]


def one_of(names):
    """Return a pattern for any of some names; one that nothing fits where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    base=r"[A-Za-z0-9.-]+",
    model=r"[A-Za-z0-9.-]+_[a-z]{2,3}(_seed\d+)?",
    language=r"[a-z]{2,3}",
    rowset=one_of(["train", "dev", "prompts", *BENCHMARKS]),
    benchmark=one_of(BENCHMARKS),
    own=one_of(OWN),
    scored=one_of([*BENCHMARKS, *OWN]),
    listed=one_of(LISTED),
    shelf=one_of(SHELF),
    engine=r"[A-Za-z0-9.-]+",
    seed=r"(_seed\d+)?",  # of a reward model's name; the first one's has none


CONFIDENCE = f"{100 * config['intervals']['confidence']:g}%"


# The report's categories: {paper of the registry: what its tables and figures stand under}
CATEGORIES = {"transfer": "Transfer paper", "carb": "CARB paper", "polyreward": "Beside the papers"}


def entry(artifact):
    """Return an artifact's entry in the registry; a benchmark of the user's own has none there and gets one here."""
    if artifact in REGISTRY:
        return REGISTRY[artifact]
    own = artifact.removeprefix("benchmark_")
    return {
        "paper": "polyreward",
        "number": f"Benchmark {own}",
        "caption": (
            f"Accuracy (%) of every scorer on {own} ({OWN[own]['language']}) with 95% Wilson intervals over items; chosen must "
            "beat every rejected answer. Truncated: share of conversations cut to the scorer's window. Within noise: items "
            "whose margin is no larger than what batching may move."
        ),
    }


def caption(artifact):
    return entry(artifact)["caption"].format(confidence=CONFIDENCE)


def shown(file, artifact, kind):
    """Return an output file that the report shows under its artifact's number; the rule's params hold the caption.

    file, artifact: names, in which the rule's wildcards may stand. kind: what the file is, in the report's words."""
    of = lambda wildcards: entry(artifact.format(**wildcards))
    return report(
        PATHS.artifact(file),
        caption="../report/caption.rst",
        category=lambda wildcards: CATEGORIES[of(wildcards)["paper"]],
        labels=lambda wildcards: {"number": of(wildcards)["number"], "kind": kind, "format": Path(file).suffix[1:]},
    )


def table_files(artifact):
    """Return a table's output files: its data, and what is rendered from them."""
    return {
        "csv": shown(f"{artifact}.csv", artifact, "table"),
        "html": shown(f"{artifact}.html", artifact, "table"),
        "md": PATHS.artifact(f"{artifact}.md"),
        "tex": PATHS.artifact(f"{artifact}.tex"),
    }


def figure_files(artifact):
    """Return a figure's output files: drawn twice, and the plotted data."""
    return {
        "png": shown(f"{artifact}.png", artifact, "figure"),
        "pdf": shown(f"{artifact}.pdf", artifact, "figure"),
        "csv": shown(f"{artifact}.csv", artifact, "plotted data"),
    }


def benchmark_categories(benchmark):
    sections = BENCHMARKS[benchmark]["sections"]
    return {subset: section for section, subsets in sections.items() for subset in subsets}


def benchmark_facts(benchmark):
    facts = BENCHMARKS[benchmark]
    return {"name": benchmark, "sections": facts["sections"], "weights": facts["weights"]}


def interval_settings():
    return {**config["intervals"], "seed": SEED}


def training_settings(section, left_out=""):
    """Return the settings of a training out of its section; none of a section that is null."""
    kept = {key: value for key, value in (section or {}).items() if key != left_out}
    return {**kept, "precision": PRECISION, "liger": DEVICES["liger"]}


CUDA_DEVICES = cuda_devices()  # of this machine


def holding(kind, models, training=None, devices=True):
    """Return the resources that a job with models asks for on this machine: memory, and GPUs where there are any.

    kind: of polyreward.machine.WORK. models: a function of the wildcards that returns names of models.yaml or entries of reward
    models, those that are loaded one after another. training: the section of its settings. devices: does it use a GPU? What a
    job asks for on a cluster stands in the cluster's profile."""
    processes = LAUNCH["num_processes"] if LAUNCH and training is not None else 1
    full = training is not None and not training["lora"]
    entries = lambda wildcards: [MODELS[one] if isinstance(one, str) else one for one in models(wildcards)]
    dtype = "bfloat16" if training is None and PRECISION == "bfloat16" else "float32"  # auto may turn out as float32

    def gpus(wildcards):
        held = workflow.local_exec and any("server" not in one for one in entries(wildcards))
        return processes if held and not (training is not None and LAUNCH and LAUNCH.get("use_cpu")) else 0

    return {
        "mem_mb": lambda wildcards: processes * model_memory_mb(kind, entries(wildcards), MODELS, dtype, full),
        **({"gpu": gpus} if devices and CUDA_DEVICES else {}),
    }


def trained_base(wildcards):
    """Return the base of a job's trained reward model."""
    return wildcards.get("base") or ModelName.parse(wildcards.model).base


def engine_models(name, language):
    """Return the models of a translation engine in a language; none for catalogs and for the source language."""
    engine = config["translation"]["engines"][name]
    if language == SOURCE or engine["kind"] != "lm":
        return []
    return [engine["model"][language] if isinstance(engine["model"], dict) else engine["model"]]


def frozen_layers():
    """Return how many top layers adapters change, or 0 where no layer is frozen or its states are not kept."""
    settings = config["reward_model"]
    return settings["lora"]["top_layers"] if settings["lora"] and settings["cache_frozen_layers"] else 0


def languages_scored(model, benchmark):
    """Return the languages that a trained reward model is scored on: all of the main benchmark's, for Tables 3-7.

    On the twins the source language's is scored on all, another on its own, and a further seed on none."""
    name = ModelName.parse(model)
    if benchmark == MAIN:
        return LANGUAGES
    return [] if name.seed > 1 else LANGUAGES if name.language == SOURCE else [name.language]


def trained_models(seeds=(1,)):
    return [str(ModelName(base, training, seed)) for base in BASES for training in LANGUAGES for seed in seeds]


def reward_models(benchmark, language):
    """Return the names of the reward models that are scored on a benchmark and language, one seed of each."""
    shelf = SHELF if benchmark == MAIN else []
    return [*LISTED, *shelf, *(name for name in trained_models() if language in languages_scored(name, benchmark))]


def table_models():
    """Return the reward models of Tables 3-7, all seeds of each."""
    return [*LISTED, *SHELF, *trained_models(RM_SEEDS)]


def gate_models():
    return [str(ModelName(config["gate"]["base"], SOURCE, seed)) for seed in range(1, config["gate"]["seeds"] + 1)]


TEXT_BASELINES = ["length", "tfidf-answer", "tfidf-prompt-answer"]


def baseline_scorers():
    return [*TEXT_BASELINES, *(f"{kind}-{base}" for base in BASES for kind in ("probe", "loglik", "pmi"))]


def scorers(benchmark, language):
    """Return all scorers of a benchmark and language, reward models first."""
    return [*reward_models(benchmark, language), *baseline_scorers()]


def off_the_shelf():
    """Return {scorer: kind} for Table 2: what was not trained here, and the log-likelihood of every base."""
    listed = {**{name: CATALOG[name] for name in SHELF}, **LISTED}
    return {name: entry["kind"] for name, entry in listed.items()} | {f"loglik-{base}": "baseline" for base in BASES}


def shelf_pretraining():
    """Return {reward model that was not trained here: its base's pretraining}; "unknown" of one that is not in the catalog."""
    entries = {**{name: CATALOG[name] for name in SHELF}, **LISTED}
    return {name: MODELS[one["model"]]["pretraining"] if "model" in one else "unknown" for name, one in entries.items()}


def claims_of(paper):
    """Return a paper's entries of workflow/claims.yaml."""
    return {name: entry for name, entry in CLAIMS.items() if entry["paper"] == paper}


def claim_scorers():
    """Return the reward models that the transfer paper's claims are about; all of them score the main benchmark in every language."""
    return [*trained_models(RM_SEEDS), *LISTED, *SHELF]


def by_script(languages):
    """Return the languages in two groups: those not written in Latin letters, and those that are; no empty one."""
    latin = [language for language in languages if LANGUAGES_KNOWN[language]["script"] == "Latn"]
    return [group for group in ([language for language in languages if language not in latin], latin) if group]


def own_scorers(name):
    """Return all scorers of a benchmark of the user's own; text baselines are fitted in the languages of the pool only."""
    text = TEXT_BASELINES if OWN[name]["language"] in LANGUAGES else []
    return [*LISTED, *trained_models(), *text]


def hub_repositories():
    """Return {(kind, name in files): (repository, revision)} of all that may be fetched from the hub."""
    listed = [*CATALOG.values(), *LISTED.values(), *CARB["generators"].values(), CARB["embedding"]]
    entries = [*listed, *(entry["reference"] for entry in listed if "reference" in entry)]
    sources = [model["source"] for model in MODELS.values() if model["source"]["kind"] == "hub"]
    found = [
        *(("dataset", entry["id"], entry["revision"]) for entry in DATASETS.values() if entry["kind"] == "hub"),
        *(("model", entry["hub"], entry.get("revision", "main")) for entry in entries if "hub" in entry),
        *(("model", source["id"], source["revision"]) for source in sources),
    ]
    return {(kind, hub_name(repository, revision)): (repository, revision) for kind, repository, revision in found}


HUB = hub_repositories()


def hub_revision(kind, source):
    """Return the record of the commit at which a source of the hub is used; nothing for any other source."""
    return [PATHS.revision(kind, hub_name(source["id"], source["revision"]))] if source["kind"] == "hub" else []


def located(entry):
    """Return a reward model's entry with its `source`, a folder, and how it is served; and the same for its reference."""
    fetched = lambda name: PATHS.hub_model(hub_name(name, entry.get("revision", "main")))
    where = {"path": str, "hub": fetched, "model": PATHS.base_model, "locals": PATHS.locals_model}
    found = {key: value for key, value in entry.items() if key not in (*where, "revision", "parameters_b")}
    found.update({"source": locate(entry[key]) for key, locate in where.items() if key in entry})
    if SERVE and entry.get("verdict") == "text" and "source" in found:
        found["serve"] = SERVE
    return {**found, "reference": located(entry["reference"])} if "reference" in entry else found


def folders(entry):
    """Return the folders that a reward model is loaded from."""
    entries = [entry, entry.get("reference", {})]
    return [located(one)["source"] for one in entries if {"path", "hub", "model", "locals"} & one.keys()]


def labellers(language):
    """Return the reward models that label responses in a language: the target's and the English one."""
    return [PATHS.model(f"{ALIGNMENT['reward_base']}_{training}") for training in (language, SOURCE)]


def prompt_rows():
    """Return the rows whose prompts the policy answers: a dataset's of their own, or the pool's dev rows."""
    return "prompts" if ALIGNMENT["prompt_data"] else "dev"


def judged_instructions():
    """Return the set of instructions with the reference answers that the judge compares with."""
    return "answered_instructions" if ALIGNMENT["reference"] else "instructions"


def start_policy():
    return PATHS.policy("sft") if ALIGNMENT["sft"] else PATHS.base_model(ALIGNMENT["policy"])


def carb_answers():
    """Return CARB's possible items, with their answers as generators wrote them where there are any."""
    return PATHS.carb_step("completions.jsonl" if CARB["generators"] else "possible_items.jsonl")


def engine_input(name, language):
    """Return what an engine needs: a catalog or a model; nothing for the source language."""
    engine = config["translation"]["engines"][name]
    if language == SOURCE:
        return []
    if engine["kind"] == "gettext":
        return f"{engine['catalogs']}/{language}.po"
    (model,) = engine_models(name, language)
    return PATHS.base_model(model)


def engine_settings(name):
    """Return how an engine translates; a model computes in the precision of all."""
    engine = config["translation"]["engines"][name]
    return {**engine, "dtype": PRECISION} if engine["kind"] == "lm" else engine


def engine_served(name):
    """Return how an engine's model is served, if it has one; None for transformers, and for catalogs."""
    return SERVE if config["translation"]["engines"][name]["kind"] == "lm" else None


def items_of(dataset):
    """Return the file of a dataset's items: people's own, or what was fetched."""
    return DATASETS[dataset].get("path", PATHS.dataset(dataset))


def quality_rows():
    """Return the rows of which each engine translates a sample: the pool's dev rows, or the passages."""
    data = config["translation"]["quality_data"]
    return PATHS.prepared(data) if data == "dev" else PATHS.translated(data, SOURCE)


# The paper has a table for each of these languages (3-7): {table: evaluation language}
LANGUAGE_TABLES = {name: artifact["language"] for name, artifact in REGISTRY.items() if artifact.get("language") in LANGUAGES}


def made_here(paper=None):
    """Return the artifacts of the languages at hand: all, or those of one paper."""
    kept = [artifact for artifact in REGISTRY.values() if artifact.get("language", SOURCE) in LANGUAGES]
    return [artifact["target"] for artifact in kept if paper in (None, artifact["paper"])]


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
    "carb_construction": [PATHS.carb_step("counts.csv")],
    "carb_locals_samples": [PATHS.analysis("locals/samples.csv")],
}


# Every notebook of workflow/notebooks/ with the files that it reads: {notebook: files}
NOTEBOOKS = {
    "transfer": [
        "workflow/catalog/benchmarks.yaml",
        *(PATHS.artifact(name) for name in ("table1.csv", "figure1.csv", "figure2.csv", "figure2_ks.csv", "figure3.csv")),
        *(PATHS.translated(MAIN, language) for language in TARGETS),
        *(
            PATHS.scores(MAIN, str(ModelName(base, training, seed)), language)
            for base in BASES
            for language in TARGETS
            for training in (SOURCE, language)
            for seed in RM_SEEDS
        ),
    ],
}

# What each notebook may know of the configuration: {notebook: keys}
NOTEBOOK_KEYS = {
    "transfer": ["bases", "source_language", "target_languages", "benchmarks", "reward_model_seeds"],
}


def notebook_code(notebook):
    """Return a hash of the modules that a notebook imports, and of the one that runs it."""
    text = (WORKFLOW / f"notebooks/{notebook}.py").read_text(encoding="utf-8")
    return code("notebooks", *re.findall(r"^from polyreward\.([\w.]+) import", text, re.MULTILINE))


def notebook_settings(notebook):
    """Return what a notebook may know of the configuration."""
    return {key: config[key] for key in ("results", "seed", "intervals", *NOTEBOOK_KEYS[notebook])}
