"""A scale as the plan sees it: settings, catalogs, sizes of its data, and facts to estimate from."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from polyreward.config.scale import read_scale as settings_of
from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.prepare.pair_files import read_pair_file
from polyreward.prepare.row_files import file_rows
from polyreward.settings.carb import Carb
from polyreward.settings.model import Settings


@dataclasses.dataclass(frozen=True)
class Size:
    """Rows of a dataset, and English tokens of a text (of a pair: its prompt and one answer).

    templates: what the rows are made of; None where they have none.
    """

    rows: int
    tokens: float
    templates: int | None = None


@dataclasses.dataclass(frozen=True)
class SizedScale:
    """A scale and its sizes.

    Attributes:
        settings: the settings.
        catalogs: models, reward_models, datasets and benchmarks.
        sizes: {dataset: Size}.
        facts: workflow/catalog/throughputs.yaml for one card (of_card).
        carb_items: items of CARB, of carb_topics topics.
        carb_questions: the questions that policies answer.
    """

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
        """Return the size of the "pool" or the "main" benchmark after templates and fills are drawn."""
        per_section = getattr(self.settings.templates_per_section, use)
        fills = self.settings.fills_per_template
        there = size.templates or size.rows
        sections = len(self.catalogs["benchmarks"][self.settings.benchmarks.main]["sections"])
        templates = there if per_section is None else min(there, per_section * sections)
        rows = round(size.rows * templates / there)
        return Size(rows if fills is None else min(rows, templates * fills), size.tokens, templates)

    def benchmarks(self) -> list[Size]:
        """Return the sizes of the main benchmark and of the twins."""
        used, known = self.settings.benchmarks, self.catalogs["benchmarks"]
        main, twins = (self.sizes[known[name]["dataset"]] for name in (used.main, used.twins))
        return [self._drawn(main, "main"), twins]

    def reply(self, max_new_tokens: int) -> float:
        """Return how many tokens a reply has on average."""
        return max_new_tokens * self.facts["text"]["reply"]


def read_scale(configfiles: Sequence[str], root: Path) -> SizedScale:
    """Read a scale: its settings, the catalogs, and the sizes of its data."""
    scale = settings_of(configfiles, root)
    config, known, carb = scale.settings, scale.known, scale.settings.carb
    catalogs = {name: getattr(known, name) for name in ("models", "reward_models", "datasets", "benchmarks")}
    facts = of_card(read_yaml(root / "workflow/catalog/throughputs.yaml"), config.devices.card)
    facts = measured(facts, root / "results/gpu_check.json")
    per_token = facts["text"]["characters_per_token"]
    used = [
        *config.pool.datasets,
        config.passages,
        config.alignment.instructions,
        config.alignment.prompt_data,
    ]
    used += [known.benchmarks[name]["dataset"] for name in (config.benchmarks.main, config.benchmarks.twins)]
    used += [name for name in carb.questions if name in known.datasets]
    sizes = {name: _size(known.datasets[name], per_token, root) for name in used if name}
    for name, own in config.own_benchmarks.items():
        rows = read_pair_file(root / own.path, layout=own.layout).rows
        texts = [text for row in rows for text in (*contents(row["prompt"]), row["chosen"])]
        sizes[name] = Size(len(rows), sum(map(len, texts)) / per_token / len(rows))
    cultures = len(carb.cultures)
    if carb.item_files:
        rows = [row for path in carb.item_files for _, row in file_rows(root / path) if isinstance(row, dict)]
        items, topics = len(rows), len({row.get("id") for row in rows})
        domains = len(carb.domains)
    else:
        files = sorted((root / carb.topics).glob("*.yaml")) if carb.topics else []
        counts = [len(read_yaml(path)) for path in files]
        total = sum(min(count, carb.topics_per_domain or count) for count in counts)
        items, topics = (round(total * each * (1 - carb.training_share)) for each in (cultures, 1))
        domains = len(counts)
    items = min(items, cultures * domains * (carb.items_per_cell or items))
    questions = _questions(carb, known.datasets, facts["text"], root)
    return SizedScale(config, catalogs, sizes, facts, items, topics, questions)


def _questions(carb: Carb, datasets: dict, text: dict, root: Path) -> Size:
    """Return the size of all sets of questions; a dataset's languages are taken to have equally many."""
    rows, tokens = 0, 0.0
    for name in carb.questions:
        each = text["carb_answer"]
        if name in datasets:
            size, languages = datasets[name]["size"], datasets[name]["languages"]
            counts = [size["rows"] / len(languages)] * len(set(languages) & set(carb.cultures))
            each = size["tokens"] * text["other_languages"]
        elif name.endswith(".yaml"):
            read = read_yaml(root / name)
            counts = [len(read[culture]["questions"]) for culture in carb.cultures if culture in read]
        else:
            found = [row for _, row in file_rows(root / name) if isinstance(row, dict)]
            named = [row.get("culture", row.get("language")) for row in found]
            counts = [named.count(culture) for culture in carb.cultures]
        asked = round(sum(min(count, carb.questions_per_culture or count) for count in counts))
        rows, tokens = rows + asked, tokens + asked * each
    return Size(rows, tokens / rows if rows else 0.0)


def of_card(facts: dict, card: str) -> dict:
    """Return the facts with those of one card (gpu, gpu_source, tokens_per_s) instead of all `cards`."""
    if card not in facts["cards"]:
        raise PolyrewardError(
            f"devices.card: `{card}` is not in workflow/catalog/throughputs.yaml; name one of"
            f" {', '.join(facts['cards'])}, or add it there"
        )
    return {**{key: value for key, value in facts.items() if key != "cards"}, **facts["cards"][card]}


def measured(facts: dict, path: Path) -> dict:
    """Return the facts, with speeds that `polyreward gpu-check` measured on a GPU instead of estimates."""
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
