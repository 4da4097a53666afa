"""What a JSON schema cannot say about the configuration: every name in it must be known."""

import difflib
from collections.abc import Collection, Iterator
from pathlib import Path

import yaml


def unknown(what: str, names: Collection[str], known: Collection[str], catalog: str) -> Iterator[str]:
    """Yield a problem for each name that is not among the known ones, with the nearest known name."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            yield f"{what}: `{name}` is unknown; {catalog} has {', '.join(sorted(known))}{hint}"


def moved_settings(config: dict, path: str = "") -> Iterator[str]:
    """Yield a problem for each key that `precision` took the place of; the `dtype` of a model's own entry is none of them."""
    for key, value in config.items():
        here = f"{path}{key}"
        if key in ("bf16", "dtype"):
            yield f"{here}: there is one setting for all models, `precision` (float32, bfloat16 or auto); leave this one out"
        elif isinstance(value, dict) and here not in ("reward_models", "carb.generators"):
            yield from moved_settings(value, f"{here}.")


def config_problems(
    config: dict, models: dict, reward_models: dict, datasets: dict, benchmarks: dict, languages: Collection[str]
) -> Iterator[str]:
    """Yield every problem of a configuration that has passed its schema."""
    in_models, in_datasets = "workflow/catalog/models.yaml", "workflow/catalog/datasets.yaml"
    yield from unknown("bases", config["bases"], models, in_models)
    yield from unknown("figure2_models", config["figure2_models"] or [], models, in_models)
    yield from unknown("off_the_shelf", config["off_the_shelf"], reward_models, "workflow/catalog/reward_models.yaml")
    for name in sorted(set(config["off_the_shelf"]) & set(config["reward_models"])):
        yield f"reward_models.{name}: off_the_shelf has a reward model of that name; choose another"
    yield from unknown("target_languages", config["target_languages"], languages, "CLDR")
    yield from unknown("source_language", [config["source_language"]], languages, "CLDR")
    yield from unknown("pool.datasets", config["pool"]["datasets"], datasets, in_datasets)
    yield from unknown("benchmarks", config["benchmarks"].values(), benchmarks, "workflow/catalog/benchmarks.yaml")
    twins = config["benchmarks"]["twins"]
    if twins in benchmarks and not benchmarks[twins]["twins"]:
        yield f"benchmarks.twins: `{twins}` holds no twins (twins: false in workflow/catalog/benchmarks.yaml); name one that does"
    yield from unknown("gate.base", [config["gate"]["base"]], config["bases"], "bases")
    yield from _alignment_problems(config, models, reward_models, datasets)
    translation = config["translation"]
    asked = [translation["engine"], *translation["quality_engines"]]
    yield from unknown("translation", asked, translation["engines"], "translation.engines")
    for name, engine in translation["engines"].items():
        if engine["kind"] == "lm":
            per_language = engine["model"] if isinstance(engine["model"], dict) else {}
            named = list(per_language.values()) or [engine["model"]]
            yield from unknown(f"translation.engines.{name}.model", named, models, in_models)
            if name in asked and per_language:
                yield from unknown(f"translation.engines.{name}.model, languages", config["target_languages"], per_language, "it")
    yield from _carb_problems(config["carb"], models, languages)
    yield from _carb_scoring_problems(config, models, reward_models)
    yield from _locals_problems(config, models, datasets)
    yield from _own_problems(config, models, benchmarks, languages)
    yield from _launch_problems(config["devices"]["launch"])
    yield from _serve_problems(config["devices"]["serve"])
    if config["source_language"] in config["target_languages"]:
        yield f"target_languages: `{config['source_language']}` is the source language; leave it out"
    reward_model = config["reward_model"]
    if reward_model["cache_frozen_layers"] and not reward_model["lora"]:
        yield "reward_model.cache_frozen_layers: without lora no layer is frozen; set it to false"
    if reward_model["token_budget"] and reward_model["gradient_checkpointing"]:
        yield "reward_model.token_budget: gradient_checkpointing runs a batch again, not in parts; set one to null or false"


def _alignment_problems(config: dict, models: dict, reward_models: dict, datasets: dict) -> Iterator[str]:
    alignment, catalog = config["alignment"], "workflow/catalog/reward_models.yaml"
    yield from unknown("alignment.policy", [alignment["policy"]], models, "workflow/catalog/models.yaml")
    yield from unknown("alignment.reward_base", [alignment["reward_base"]], config["bases"], "bases")
    yield from unknown("alignment.languages", alignment["languages"], config["target_languages"], "target_languages")
    for key in ("instructions", "prompt_data"):
        named = [name for name in [alignment[key]] if name]
        yield from unknown(f"alignment.{key}", named, datasets, "workflow/catalog/datasets.yaml")
    yield from unknown("alignment.judge", [alignment["judge"]], reward_models, catalog)
    yield from unknown("alignment.reference", [name for name in [alignment["reference"]] if name], reward_models, catalog)
    for role, what in (("judge", "no judge"), ("reference", "no model that writes")):
        if reward_models.get(alignment[role], {"kind": "generative"})["kind"] != "generative":
            yield f"alignment.{role}: `{alignment[role]}` is {what}; name one of kind generative in {catalog}"
    columns = datasets.get(alignment["instructions"], {}).get("columns", {"reference": True})
    if "reference" not in columns and not alignment["reference"]:
        yield f"alignment.reference: `{alignment['instructions']}` brings no reference answers; name who writes them"


def _carb_problems(carb: dict, models: dict, languages: Collection[str]) -> Iterator[str]:
    yield from unknown("carb.cultures", carb["cultures"], languages, "resources/languages.yaml")
    if "model" in carb["embedding"]:
        yield from unknown("carb.embedding.model", [carb["embedding"]["model"]], models, "workflow/catalog/models.yaml")
    if carb["filters"]["farthest"] >= carb["filters"]["nearest"]:
        yield "carb.filters: `farthest` is not below `nearest`; no answer lies between them"
    if not carb["topics"] and not carb["reference_files"]:
        yield "carb: has neither `topics` nor `reference_files`; name one"


def _carb_scoring_problems(config: dict, models: dict, reward_models: dict) -> Iterator[str]:
    carb = config["carb"]
    listed = {**config["reward_models"], **{name: reward_models.get(name, {}) for name in config["off_the_shelf"]}}
    judges = [name for name, entry in listed.items() if entry.get("kind") == "generative"]
    yield from unknown("carb.knockout", carb["knockout"], judges, "generative ones of off_the_shelf and reward_models")
    yield from unknown("carb.policies", carb["policies"], models, "workflow/catalog/models.yaml")
    yield from unknown("carb.example_culture", [carb["example_culture"]], carb["cultures"], "carb.cultures")
    if not Path(carb["questions"]).is_file():
        yield f"carb.questions: there is no file `{carb['questions']}`; paths start at the project's folder"
    for name in config["reward_models"]:
        if name.endswith("-knockout"):
            yield f"reward_models.{name}: a judge in a knock-out is named so; choose another name"
    if "carb" in config["own_benchmarks"]:
        yield "own_benchmarks.carb: there is a benchmark of that name; choose another"


def _locals_problems(config: dict, models: dict, datasets: dict) -> Iterator[str]:
    found, cultures = config["locals"], config["carb"]["cultures"]
    grpo, reserved = found["grpo"], {"base", "warmup", "full-at-once", "checkpoints"}
    yield from unknown("locals.base", [found["base"]], models, "workflow/catalog/models.yaml")
    yield from unknown("locals.datasets", found["datasets"], datasets, "workflow/catalog/datasets.yaml")
    yield from unknown("locals.evaluation.cultures", found["evaluation"]["cultures"], cultures, "carb.cultures")
    if found["criteria_language"]:
        yield from unknown("locals.criteria_language", [found["criteria_language"]], cultures, "carb.cultures")
    if not Path(found["criteria"]).is_file():
        yield f"locals.criteria: there is no file `{found['criteria']}`; paths start at the project's folder"
    for run in sorted(reserved & set(found["runs"])):
        yield f"locals.runs.{run}: a judge of another kind is named so; choose another name"
    if "full" not in found["runs"]:
        yield "locals.runs: has no `full`, the judge trained with all rewards, beside which the tables set the others; add it"
    if not config["carb"]["training_share"]:
        yield "locals: carb.training_share is 0, so that no topic is left to train on; raise it"
    if grpo["batch_size"] * grpo["gradient_accumulation"] % (2 * grpo["generations"]):
        yield (
            "locals.grpo: batch_size times gradient_accumulation is no multiple of twice generations; it holds both orders of "
            "each pair, each with all its replies"
        )
    if grpo["save_every"] % grpo["iterations"]:
        yield "locals.grpo.save_every: is no multiple of iterations; a run that resumes would use other replies"


def _launch_problems(path: str | None) -> Iterator[str]:
    if path is None:
        return
    if not Path(path).is_file():
        yield f"devices.launch: there is no file `{path}`; paths start at the project's folder"
        return
    try:
        launch = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        yield f"devices.launch: {path} is no YAML: {error}"
        return
    processes = launch.get("num_processes") if isinstance(launch, dict) else None
    if not (isinstance(processes, int) and processes > 1) or "distributed_type" not in launch:
        yield (
            f"devices.launch: {path} is no configuration of accelerate for several processes (distributed_type, and "
            "num_processes of 2 or more); `accelerate config --config_file FILE` writes one"
        )
    elif launch.get("num_machines", 1) != 1:
        yield f"devices.launch: {path} has num_machines: {launch['num_machines']}; a job runs on one machine: set it to 1"


def _serve_problems(serve: dict | None) -> Iterator[str]:
    arguments = " ".join(serve["command"]) if serve else "{model} {port}"
    for name, what in (("{model}", "which folder to serve"), ("{port}", "where to listen")):
        if name not in arguments:
            yield f"devices.serve.command: has no {name}, by which the server is told {what}; put it where the command wants that"


def _own_problems(config: dict, models: dict, benchmarks: dict, languages: Collection[str]) -> Iterator[str]:
    for name, own in config["own_benchmarks"].items():
        yield from unknown(f"own_benchmarks.{name}.language", [own["language"]], languages, "CLDR")
        if not Path(own["path"]).is_file():
            yield f"own_benchmarks.{name}.path: there is no file `{own['path']}`; paths start at the project's folder"
        if name in benchmarks:
            yield f"own_benchmarks.{name}: workflow/catalog/benchmarks.yaml has a benchmark of that name; choose another"
    entries = {f"reward_models.{name}": entry for name, entry in config["reward_models"].items()}
    entries |= {f"carb.generators.{name}": entry for name, entry in config["carb"]["generators"].items()}
    for name, entry in entries.items():
        for key, where in ((name, entry), (f"{name}.reference", entry.get("reference", {}))):
            if "model" in where:
                yield from unknown(f"{key}.model", [where["model"]], models, "workflow/catalog/models.yaml")
            if "locals" in where:
                yield from unknown(f"{key}.locals", [where["locals"]], ["warmup", *config["locals"]["runs"]], "locals.runs")
            if "hub" in where and where.get("remote_code") and "revision" not in where:
                yield f"{key}: remote_code runs what its authors wrote; pin it by `revision`, a commit of the hub"
            if "path" in where and not (Path(where["path"]) / "config.json").is_file():
                yield f"{key}.path: `{where['path']}` is no model folder (no config.json in it); correct the path"


def catalog_problems(datasets: dict, benchmarks: dict) -> Iterator[str]:
    """Yield problems between the catalogs: a benchmark's dataset must exist."""
    for name, benchmark in benchmarks.items():
        yield from unknown(f"benchmark {name}: dataset", [benchmark["dataset"]], datasets, "workflow/catalog/datasets.yaml")
