"""The rows and items that each scale's intervals rest on, read from its settings. Nothing is downloaded."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.comparison import Benchmark
from polyreward.carb.culture.books import open_books
from polyreward.carb.culture.lessons import TAUGHT, parts_of
from polyreward.carb.culture.quartets import quartet_rows, scale_quartets
from polyreward.core.draws import drawn
from polyreward.core.seeds import job_seed
from polyreward.core.yaml_files import read_yaml
from polyreward.prepare.pool import Share, drawn_rows
from polyreward.settings.model import Settings
from polyreward.sheet.data import drawn_share, quartet_choices
from polyreward.sheet.entries import Models, read_models
from polyreward.sources.templates import template_rows

ROOT = Path(__file__).parent.parent
SCALES = {
    "mini": [],
    "reference": ["workflow/scales/reference.yaml"],
    "night": ["workflow/scales/night.yaml"],
    "gpu": ["workflow/scales/gpu.yaml"],
    "paper": ["workflow/scales/paper.yaml"],
}
# {subset: pairs} of RewardBench
REWARDBENCH = dict(
    pd.read_csv(ROOT / "workflow/papers/transfer/printed/rewardbench_sizes.csv").itertuples(index=False)
)
# How many items each culture and domain can have: every scale builds them from the same texts
CONSTRUCTED = ROOT / "docs/data/mini/carb_construction.csv"


@dataclasses.dataclass(frozen=True)
class Layout:
    """Sizes of one scale.

    rows, judged_rows: id, template and subset of the main benchmark, and of the part that judges see.
    items, judged_items: id, culture, domain and topic of CARB. topics: of each place quartet, by its kind; of
    those that are taught, too. languages: in which judges see the rows. trainings: of each reward model."""

    rows: pd.DataFrame
    benchmark: Benchmark
    items: pd.DataFrame
    judged_rows: pd.DataFrame
    judged_benchmark: Benchmark
    judged_items: pd.DataFrame
    topics: dict[str, list[str]]
    languages: int
    trainings: int


def layout_of(scale: str) -> Layout:
    """Return the layout of one of SCALES."""
    models = read_models(SCALES[scale], ROOT)
    settings = models.settings
    evaluation, main = settings.think_as_locals.evaluation, settings.benchmarks.main
    draw = settings.seed, "locals", "evaluation"
    rows, judged = _rows(models, main), evaluation.benchmark or main
    judged_rows = drawn(_rows(models, judged), ["subset"], evaluation.rows_per_subset, *draw)
    items = _items(settings.carb.cultures, settings.carb.domains, settings.carb.items_per_cell, settings.seed)
    asked = [item for item in items if item["culture"] in evaluation.cultures]
    return Layout(
        pd.DataFrame(rows),
        Benchmark(**models.catalog.benchmark(main)),
        pd.DataFrame(items),
        pd.DataFrame(judged_rows),
        Benchmark(**models.catalog.benchmark(judged)),
        pd.DataFrame(drawn(asked, ["culture", "domain"], evaluation.items_per_cell, *draw)),
        _topics(settings),
        len(settings.judged_languages),
        len(settings.reward_model_seeds),
    )


def _rows(models: Models, name: str) -> list[dict]:
    """Return the rows of a benchmark that are drawn, with a row for each kind of rejected answer."""
    settings, catalog = models.settings, models.catalog
    categories, share = catalog.categories(name), Share(**drawn_share(settings, name))
    dataset = catalog.benchmarks[name]["dataset"]
    if catalog.datasets[dataset]["kind"] != "templates":
        return drawn_rows(_published(catalog.benchmarks[name]), categories, share, settings.seed)
    entry = catalog.datasets[dataset] | {"path": ROOT / catalog.datasets[dataset]["path"]}
    every = template_rows(entry, dataset, read_yaml(ROOT / "workflow/schemas/templates.schema.yaml"))
    kinds, found = catalog.kinds(name), []
    for row in drawn_rows(every, categories, share, settings.seed):
        of_row = kinds.get(row["subset"], kinds.get(categories[row["subset"]], []))
        for number in range(min(settings.kinds_per_request or len(of_row), len(of_row))):
            found.append(
                {"id": f"{row['id']}-{number}", "template": row["template"], "subset": row["subset"]}
            )
    return found


def _topics(settings: Settings) -> dict[str, list[str]]:
    """Return the topic of each place quartet, by kind, and of those that reward models are taught."""
    carb = settings.carb
    choices = quartet_choices(settings) | {"more_topics": ROOT / carb.quartets.topics}
    schema = ROOT / "workflow/schemas/carb_topics.schema.yaml"
    quartets, _ = scale_quartets(choices, ROOT / carb.culture_file, ROOT / carb.topics, schema, settings.seed)
    facts = [row for quartet in quartets for row in quartet_rows(quartet, choices["languages"][0])]
    parts = parts_of(facts, settings.seed) if carb.lessons.bases else {}
    lessons = [quartet.topic for quartet in quartets if parts.get(quartet.name) == TAUGHT]
    books = open_books(quartets, frozenset(lessons), choices["open_books"], settings.seed)
    found: dict[str, list[str]] = {}
    for quartet in (*quartets, *books):
        found.setdefault(quartet.kind, []).append(quartet.topic)
    return found | ({TAUGHT: lessons} if lessons else {})


def _published(benchmark: dict) -> list[dict]:
    """Return rows of RewardBench's subsets in their sizes; a problem in several of them is one template."""
    return [
        {
            "id": f"{subset}-{n}",
            "subset": subset,
            "template": f"{'code' if subset in benchmark['code'] else subset}-{n}",
        }
        for members in benchmark["sections"].values()
        for subset in members
        for n in range(REWARDBENCH[subset])
    ]


def _items(cultures: Sequence[str], domains: Sequence[str], per_cell: int | None, seed: int) -> list[dict]:
    """Return the items that the scale draws of each cell, from all that can be built."""
    counts = pd.read_csv(CONSTRUCTED).set_index(["culture", "domain"])
    found = []
    for domain in domains:
        topics = int(counts.xs(domain, level="domain")["topics"].max())
        for culture in cultures:
            own, size = counts.loc[(culture, domain), ["topics", "items"]]
            order = np.random.default_rng(job_seed(seed, domain, culture)).permutation(topics)[:own]
            found += [
                {
                    "id": f"{domain}-{n}_{culture}",
                    "culture": culture,
                    "domain": domain,
                    "topic": f"{domain}-{order[n % own]}",
                }
                for n in range(size)
            ]
    return drawn(found, ["culture", "domain"], per_cell, seed, "carb")
