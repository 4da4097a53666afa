"""A good configuration of small made-up catalogs, and changed copies of it."""

import copy

import yaml
from snakemake.utils import update_config
from support import ROOT

from polyreward.settings.messages import bare, is_section, type_problems
from polyreward.settings.model import Settings
from polyreward.sheet.catalogs import Catalog
from polyreward.sheet.checks import fit_problems


def load(path):
    """Return a YAML file of the checkout."""
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


QUESTIONS = str(ROOT / "resources/carb/questions.yaml")
CATALOG = Catalog(
    models={"gemma": {}, "smollm": {}},
    reward_models={"gemma-judge": {"kind": "generative"}, "gemma-rm": {"kind": "classifier"}},
    datasets={
        "mini-pool": {},
        "mini-eval": {},
        "gsm-symbolic": {"kind": "pypi", "languages": {"en": "eng", "it": "ita", "zh": "zho"}},
        "bare": {"columns": {"prompt": "instruction"}},
        "korean": {"holds": "pairs", "languages": {"ko": {}, "zh": {}}},
        "exams": {"holds": "questions", "languages": {"ko": {}, "it": {}}},
    },
    benchmarks={"mini": {"twins": False}, "mini-twins": {"twins": True}},
    languages=dict.fromkeys(["de", "en", "es", "ko", "zh"]),
    judge_questions={
        "rewardbench": {"verdicts": ["A", "B"], "pattern": r"\[\[([AB])\]\]"},
        "alpacaeval": {"verdicts": ["m", "M"], "pattern": r"^\W*([mM])\W*$"},
    },
)
CHANGES = {
    "bases": ["gemma"],
    "source_language": "en",
    "target_languages": ["es", "ko"],
    "pool": {"datasets": ["mini-pool"]},
    "benchmarks": {"main": "mini", "twins": "mini-twins", "unseen_kinds": None},
    "reward_model": {"depth": None},
    "passages": "mini-eval",
    "carb": {
        "cultures": ["en", "es", "de", "zh"],
        "embedding": {"model": "gemma"},
        "knockout": [],
        "questions": [QUESTIONS],
        "policies": ["gemma"],
    },
    "think_as_locals": {
        "base": "gemma",
        "criteria": __file__,
        "easy": {"dataset": "mini-eval"},
        "cultures": ["en"],
        "evaluation": {"cultures": ["en"]},
    },
    "off_the_shelf": ["gemma-judge"],
    "alignment": {
        "policy": "gemma",
        "reward_base": "gemma",
        "languages": ["es"],
        "instructions": "mini-eval",
        "judge": "gemma-judge",
    },
    "gate": {"base": "gemma"},
    "translation": {"quality_engines": ["gettext", "lm"]},
}
CONFIG = copy.deepcopy(load("config.yaml"))
update_config(CONFIG, CHANGES)
LM = CONFIG["translation"]["engines"].pop("gemma-3-270m")
CONFIG["translation"]["engines"]["lm"] = {**LM, "model": "smollm"}
SERVE = {"startup_s": 1, "concurrency": 1, "timeout_s": 1, "retries": 0}
WEIGHTS = {"correctness": 1, "appropriateness": 1, "layout": 1}
LEFT_OUT = object()


def changed(config=CONFIG, /, **changes):
    """Return a configuration with changes; a key `a__b` changes b in a, and LEFT_OUT takes it away."""
    config = copy.deepcopy(config)
    for key, value in changes.items():
        *outer, last = key.split("__")
        inner = config
        for name in outer:
            inner = inner.setdefault(name, {})
        inner[last] = value
        if value is LEFT_OUT:
            del inner[last]
    return config


def settings_with(changes: dict) -> Settings:
    """Return the settings of config.yaml with changes; entries by name replace those that are there."""
    return Settings.model_validate(_merged(Settings, load("config.yaml"), changes))


def _merged(section, values: dict, changes: dict) -> dict:
    found = dict(values)
    for key, value in changes.items():
        inner = bare(section.model_fields[key].rebuild_annotation())
        both = is_section(inner) and isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = _merged(inner, found[key], value) if both else value
    return found


def problems_of(config, catalog=CATALOG):
    """Return what is wrong with a configuration: its keys and types, or else how it fits together."""
    found = list(type_problems(Settings, config))
    return found or list(fit_problems(Settings.model_validate(config), catalog))


def problems(catalog=CATALOG, **changes):
    """Return in words what is wrong with the changed configuration."""
    return list(map(str, problems_of(changed(**changes), catalog)))
