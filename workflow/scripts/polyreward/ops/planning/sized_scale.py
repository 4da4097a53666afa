"""A scale as the plan sees it: its settings, its models' and data's sizes, and the facts that it is estimated
from."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from polyreward.config.scale import read_scale as settings_of
from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import json_rows
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.carb import Carb
from polyreward.settings.model import Settings


@dataclasses.dataclass(frozen=True)
class Size:
    """How large a dataset is: rows, and English tokens of a text (of a pair: of its prompt and one answer).

    templates: that the rows are made of; None where each row stands by itself."""

    rows: int
    tokens: float
    templates: int | None = None


@dataclasses.dataclass(frozen=True)
class SizedScale:
    """The settings, the catalogs {models, reward_models, datasets, benchmarks}, and the sizes of its data
    {dataset: Size}.

    facts: workflow/catalog/throughputs.yaml for one card (of_card).
    carb_items: how many items CARB has, of carb_topics topics.
    carb_questions: the questions that policies answer: how many, and tokens of one."""

    settings: Settings
    catalogs: dict
    sizes: dict[str, Size]
    facts: dict
    carb_items: int
    carb_topics: int
    carb_questions: Size

    @property
    def languages(self) -> list[str]:
        """The source language and the others."""
        return [self.settings.source_language, *self.settings.target_languages]

    def train_pairs(self) -> Size:
        """Return the size of the train set: pairs, and tokens of a conversation."""
        pool = self.settings.pool
        sizes = {name: self.sizes[name] for name in pool.datasets}
        kept = {name: min(size.rows, pool.max_pairs.get(name, size.rows)) for name, size in sizes.items()}
        tokens = sum(kept[name] * size.tokens for name, size in sizes.items()) / sum(kept.values())
        templates = sum(min(size.templates or size.rows, kept[name]) for name, size in sizes.items())
        whole = Size(sum(kept.values()), tokens, templates)
        return Size(round(self._drawn(whole, "pool").rows * (1 - pool.dev_share)), tokens)

    def _drawn(self, size: Size, use: str) -> Size:
        """Return what is left of the "pool" or the "main" benchmark when templates and their fills are
        drawn."""
        per_section, fills = (
            getattr(self.settings.templates_per_section, use),
            self.settings.fills_per_template,
        )
        there = size.templates or size.rows
        sections = len(self.catalogs["benchmarks"][self.settings.benchmarks.main]["sections"])
        templates = there if per_section is None else min(there, per_section * sections)
        rows = round(size.rows * templates / there)
        return Size(rows if fills is None else min(rows, templates * fills), size.tokens, templates)

    def benchmarks(self) -> list[Size]:
        """Return the sizes of the main benchmark and of the twins."""
        main, twins = (
            self.sizes[self.catalogs["benchmarks"][getattr(self.settings.benchmarks, use)]["dataset"]]
            for use in ("main", "twins")
        )
        return [self._drawn(main, "main"), twins]

    def reply(self, max_new_tokens: int) -> float:
        """Return how many tokens a reply has on average."""
        return max_new_tokens * self.facts["text"]["reply"]


def read_scale(configfiles: Sequence[str], root: Path) -> SizedScale:
    """Read a scale: its settings, the catalogs, and the sizes of its data."""
    scale = settings_of(configfiles, root)
    config, known = scale.settings, scale.known
    catalogs = {name: getattr(known, name) for name in ("models", "reward_models", "datasets", "benchmarks")}
    facts = of_card(read_yaml(root / "workflow/catalog/throughputs.yaml"), config.devices.card)
    facts = measured(facts, root / "results/gpu_check.json")
    benchmarks = [
        catalogs["benchmarks"][name]["dataset"] for name in (config.benchmarks.main, config.benchmarks.twins)
    ]
    of_alignment = [config.alignment.instructions, config.alignment.prompt_data]
    questions = [name for name in config.carb.questions if name in catalogs["datasets"]]
    used = [*config.pool.datasets, config.passages, *benchmarks, *of_alignment, *questions]
    sizes = {
        name: _size(catalogs["datasets"][name], facts["text"]["characters_per_token"], root)
        for name in used
        if name
    }
    for name, own in config.own_benchmarks.items():
        rows = len((root / own.path).read_text(encoding="utf-8").splitlines())
        tokens = (root / own.path).stat().st_size / facts["text"]["characters_per_token"]
        sizes[name] = Size(rows, tokens / 2 / max(rows, 1))
    carb = config.carb
    topics = (
        [len(read_yaml(path)) for path in sorted((root / carb.topics).glob("*.yaml"))] if carb.topics else []
    )
    topics = [min(count, carb.topics_per_domain or count) for count in topics]
    items = round(sum(topics) * len(carb.cultures) * (1 - carb.training_share))
    items = min(items, len(carb.cultures) * len(topics) * (carb.items_per_cell or items))
    tested = round(sum(topics) * (1 - carb.training_share))
    if carb.item_files:
        rows = [row for path in carb.item_files for _, row in json_rows(root / path) if isinstance(row, dict)]
        items, tested = len(rows), len({row.get("id") for row in rows})
        items = min(items, len(carb.cultures) * len(carb.domains) * (carb.items_per_cell or items))
    asked = _asked(carb, catalogs["datasets"], facts["text"], root)
    return SizedScale(config, catalogs, sizes, facts, items, tested, asked)


def _asked(carb: Carb, datasets: dict, text: dict, root: Path) -> Size:
    """Return the size of all sets of questions; a dataset's languages are taken to have equally many.

    carb: the section of the settings. text: facts of texts."""
    sets = []
    for name in carb.questions:
        if name in datasets:
            size, languages = datasets[name]["size"], datasets[name]["languages"]
            cultures = dict.fromkeys(set(languages) & set(carb.cultures), size["rows"] / len(languages))
            tokens = size["tokens"] * text["other_languages"]
        elif name.endswith(".yaml"):
            read = read_yaml(root / name)
            cultures = {
                culture: len(read[culture]["questions"]) for culture in carb.cultures if culture in read
            }
            tokens = text["carb_answer"]
        else:
            rows = [
                row.get("culture", row.get("language"))
                for _, row in json_rows(root / name)
                if isinstance(row, dict)
            ]
            cultures = {culture: rows.count(culture) for culture in carb.cultures}
            tokens = text["carb_answer"]
        asked = sum(min(count, carb.questions_per_culture or count) for count in cultures.values())
        sets.append((round(asked), tokens))
    rows = sum(count for count, _ in sets)
    return Size(rows, sum(count * tokens for count, tokens in sets) / rows if rows else 0.0)


def of_card(facts: dict, card: str) -> dict:
    """Return the facts with those of one card (gpu, gpu_source, tokens_per_s) in place of all `cards`.

    Raises PolyrewardError where there is none of that name."""
    if card not in facts["cards"]:
        raise PolyrewardError(
            f"devices.card: `{card}` is not in workflow/catalog/throughputs.yaml; name one of"
            f" {', '.join(facts['cards'])}, or add it there"
        )
    return {**{key: value for key, value in facts.items() if key != "cards"}, **facts["cards"][card]}


def measured(facts: dict, path: Path) -> dict:
    """Return the facts to estimate by, with what `polyreward gpu-check` measured on a GPU in place of
    estimates, where it did."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"gpu": None}
    if found["gpu"] is None:
        return facts
    speeds = {**facts["tokens_per_s"], **found["tokens_per_s"]}
    return {**facts, "gpu": found["gpu"], "gpu_source": "polyreward gpu-check", "tokens_per_s": speeds}


def _size(entry: dict, characters_per_token: float, root: Path) -> Size:
    """Return a dataset's size: the catalog's, or that of its own files."""
    if "size" in entry:
        return Size(**entry["size"])
    if entry["kind"] == "templates":
        from polyreward.sources.templates import template_rows

        schema = read_yaml(root / "workflow/schemas/templates.schema.yaml")
        rows = template_rows({**entry, "path": root / entry["path"]}, "plan", schema)
        prompts = [sum(map(len, contents(row["prompt"]))) for row in rows]
        answers = [(len(row["chosen"]) + len(row["rejected"])) / 2 for row in rows]
        texts = list(map(sum, zip(prompts, answers, strict=True)))
        templates = len({row["template"] for row in rows})
    else:
        items = read_yaml(root / entry["path"])
        texts = [len(item["prompt"]["en"] if "prompt" in item else item["en"]) for item in items]
        templates = None
    return Size(len(texts), sum(texts) / len(texts) / characters_per_token, templates)
