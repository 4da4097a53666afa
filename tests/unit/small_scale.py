"""A small made-up scale: two bases in three languages, a reward model of the user's own and a judge."""

from settings_data import LM, SERVE, changed, settings_with

from polyreward.sheet.catalogs import Catalog
from polyreward.sheet.entries import Models

WEIGHTS = {"correctness": 1, "appropriateness": 1, "layout": 1}
CONFIG = {
    "results": "out", "seed": 7, "target_languages": ["es", "ko"], "bases": ["a", "b"], "precision": "float32",
    "benchmarks": {"main": "bench", "twins": "pairs", "unseen_kinds": None}, "reward_model_seeds": [1, 2],
    "own_benchmarks": {
        "mine": {"path": "m.jsonl", "language": "de"},
        "yours": {"path": "y.jsonl", "language": "ko"},
    },
    "reward_models": {"my-rm": {"kind": "classifier", "path": "rm"}}, "off_the_shelf": ["judge"],
    "gate": {"base": "a", "seeds": 3}, "scoring": {"max_length": 64}, "intervals": {"samples": 100},
    "reward_model": {"lora": {"rank": 1, "alpha": 1, "top_layers": 2}},
    "devices": {"serve": {"command": ["x"], **SERVE}},
    "translation": {
        "engine": "by-hand",
        "engines": {
            "by-hand": {"kind": "gettext", "catalogs": "po"},
            "llm": {**LM, "model": {"es": "m-es", "ko": "m-ko"}},
        },
    },
    "carb": {"cultures": ["ar", "ko"], "policies": ["p"], "knockout": ["judge"], "grpo": None,
             "quartets": {"languages": None}},
    "think_as_locals": {
        "base": "b", "warmup": {"pairs": 5}, "judge": {"max_length": 640, "max_new_tokens": 9}, "seeds": 2,
        "runs": {"full": WEIGHTS, "bare": {**WEIGHTS, "layout": 0}, "no-criteria": WEIGHTS},
        "evaluation": {"cultures": ["ko"]}, "others": ["rm-r1"],
    },
    "alignment": {"policy": "p", "sft": None},
}  # fmt: skip
CATALOG = Catalog(
    models={
        "a": {"source": {"kind": "pypi"}},
        "b": {"source": {"kind": "random"}},
        "p": {"source": {"kind": "random"}},
        "m-ko": {"source": {"kind": "hub"}},
    },
    reward_models={
        "judge": {"kind": "generative", "model": "b"},
        "unused": {"kind": "classifier", "hub": "x/y"},
        "rm-r1": {"kind": "generative", "hub": "x/r1", "question": "rm-r1", "verdict": "text"},
    },
    datasets={},
    benchmarks={
        "bench": {"sections": {"Chat": ["easy", "hard"], "Safety": ["refuse"]}, "weights": {"easy": 1}},
        "pairs": {"sections": {}},
    },
    languages={"en": {"script": "Latn"}, "es": {"script": "Latn"}, "ko": {"script": "Kore"}},
)


def small_settings(**changes):
    """Return the scale's settings with changes; a key `a__b` changes b in a."""
    return settings_with(changed(CONFIG, **changes))


def small_scale(**changes):
    """Return the scale's models with changes to its settings."""
    return Models(small_settings(**changes), CATALOG)
