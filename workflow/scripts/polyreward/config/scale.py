"""What a scale makes: its languages, models, scorers and benchmarks, by the settings and the catalogs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from polyreward.config.languages import with_folders
from polyreward.config.settings import FILES, Known, parsed_settings
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import BASE_BASELINES, TEXT_BASELINES, ModelName, Paths
from polyreward.core.seeds import job_seed
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.base import Section
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import as_entry

PAPERS_B = 3  # billions of parameters of the transfer paper's bases


def ties_count_half(entry: dict) -> bool:
    """Tell whether a judge may give no verdict, so that its ties are half right, as in RewardBench."""
    return entry.get("verdict") == "text" or "question" in entry


@dataclass(frozen=True)
class Scale:
    """The settings (config.yaml with its overlays) and the catalogs.

    Reward models are trained here, one per base and training language, or ready-made: `configured` in
    config.yaml's reward_models, or `catalogued` in workflow/catalog/reward_models.yaml and named by
    off_the_shelf. Ready-made ones are {name: entry}.
    """

    settings: Settings
    known: Known

    @cached_property
    def paths(self) -> Paths:
        """Where each stage keeps its files."""
        return Paths(self.settings.results)

    @property
    def languages(self) -> list[str]:
        """The source language, then the target languages."""
        return [self.settings.source_language, *self.settings.target_languages]

    @property
    def table1_bases(self) -> list[str]:
        """The bases that Table 1, Figure 1 and the transfer claims are about; by default all."""
        return self.settings.table1_bases or self.settings.bases

    @property
    def figure2_models(self) -> list[str]:
        """The models whose embeddings Figure 2 shows; by default the bases."""
        return self.settings.figure2_models or self.settings.bases

    @property
    def benchmarks(self) -> list[str]:
        """The main benchmark, the twins, and that of unseen kinds where there is one."""
        named = self.settings.benchmarks
        return [name for name in (named.main, named.twins, named.unseen_kinds) if name]

    @property
    def scoring(self) -> dict:
        """How models are loaded to score: dtype, and the section `scoring`."""
        return {"dtype": self.settings.precision, **dict(self.settings.scoring)}

    @property
    def interval(self) -> dict:
        """The arguments of bootstrap.Interval."""
        return {**dict(self.settings.intervals), "seed": self.settings.seed}

    @property
    def confidence(self) -> str:
        """The level of intervals in words: "95%"."""
        return f"{100 * self.settings.intervals.confidence:g}%"

    @cached_property
    def check(self) -> str:
        """A sentence for captions where the bases are smaller than the papers'; else empty."""
        entries = [self.known.models[base] for base in self.settings.bases]
        if any(entry["source"]["kind"] == "random" for entry in entries):
            return "Random models: the numbers mean nothing."
        largest = max((entry.get("parameters_b", 0) for entry in entries), default=0)
        if not 0 < largest < PAPERS_B:
            return ""
        size = f"{largest:g} billion" if largest >= 1 else f"{1000 * largest:.0f} million"
        return f"An instrument check on bases of at most {size} parameters, not a replication."

    @cached_property
    def launch(self) -> dict | None:
        """How accelerate starts the processes of a training; None for the job's own process."""
        path = self.settings.devices.launch
        return read_yaml(path) if path else None

    def job_seed(self, *key: str) -> int:
        """Return the seed of a job, from the root seed and the job's own key."""
        return job_seed(self.settings.seed, *key)

    def reward_model_seed(self, model: str) -> int:
        """Return the seed of a reward model: its own, or the source language's where languages share one."""
        name = ModelName.parse(model)
        language = name.language if self.settings.seed_per_language else self.settings.source_language
        return self.job_seed("reward_model", str(ModelName(name.base, language, name.seed)))

    def training(self, section: Section | None) -> dict:
        """Return the arguments that every training gets from the settings.

        They go to a job in a dictionary, since Snakemake compares no other objects with those of the last
        run."""
        return {"settings": section, "precision": self.settings.precision}

    def policy_training(self, section: Section | None) -> dict:
        """Return the same for a training of a language model, which Liger's kernels may run.

        A reward model's trainer takes none: Liger's fused loss needs a vocabulary head."""
        return {**self.training(section), "liger": self.settings.devices.liger}

    def base_folder(self, base: str) -> str:
        """Return the folder of a model of models.yaml: where it was fetched, or made with random weights."""
        random = self.known.models[base]["source"]["kind"] == "random"
        return self.paths.random_model(base) if random else self.paths.base_model(base)

    def reward_base(self, base: str) -> str:
        """Return the folder of a base as reward models start from it: of its lowest layers, or whole."""
        cut = base in (self.settings.reward_model.depth or {})
        return self.paths.truncated_model(base) if cut else self.base_folder(base)

    def dataset(self, name: str) -> dict:
        """Return a dataset's catalog entry with the languages that the scale reads.

        Of pairs in several languages these are the scale's, the source first, and those of the judges' own
        benchmark; of questions CARB's cultures.
        """
        entry, languages = self.known.datasets[name], self.languages
        judged = self.settings.think_as_locals.evaluation
        if judged.benchmark and self.known.benchmarks[judged.benchmark]["dataset"] == name:
            languages = list(dict.fromkeys([*languages, *judged.cultures]))
        wanted = {"pairs": languages, "questions": self.settings.carb.cultures}.get(entry.get("holds"))
        if wanted is None or "languages" not in entry:
            return entry
        there = entry["languages"]
        return {**entry, "languages": {one: there[one] for one in wanted if one in there}}

    def released(self, rowset: str, language: str) -> bool:
        """Tell whether all rows of a set (a benchmark, train, dev, judge or prompts) come in a language."""
        pool, prompts = self.settings.pool.datasets, self.settings.alignment.prompt_data
        named = {"train": pool, "dev": pool, "judge": pool, "prompts": [prompts] if prompts else pool}
        entries = map(self.dataset, named.get(rowset) or [self.known.benchmarks[rowset]["dataset"]])
        return all(one.get("holds") == "pairs" and language in one.get("languages", {}) for one in entries)

    @property
    def policy_start(self) -> str:
        """The folder of Figure 3's policy before DPO: after supervised training, where there is some."""
        alignment = self.settings.alignment
        return self.paths.policy("sft") if alignment.sft else self.base_folder(alignment.policy)

    @property
    def policy_sampling(self) -> dict:
        """How policies are sampled, as sampling.loaded_policy takes it."""
        settings = self.settings
        return {
            "settings": settings.alignment.sampling,
            "precision": settings.precision,
            "serve": settings.devices.serve,
        }

    def alignment_judge(self, language: str) -> dict:
        """Return the entry of the reward model that judges Figure 3's policies in a language."""
        alignment = self.settings.alignment
        if alignment.judge:
            return self.known.reward_models[alignment.judge]
        judge = ModelName(alignment.reward_base, language)
        return {"kind": "classifier", "path": self.paths.judge(str(judge))}

    @property
    def top_layers(self) -> int:
        """How many top layers adapters change; 0 where the states below them are not kept."""
        settings = self.settings.reward_model
        return settings.lora.top_layers if settings.lora and settings.cache_frozen_layers else 0

    def trained_models(self, seeds: Sequence[int] = (1,)) -> list[str]:
        """Return the names of the reward models that are trained here: by base, then language, then seed."""
        return [
            str(ModelName(base, language, seed))
            for base in self.settings.bases
            for language in self.languages
            for seed in seeds
        ]

    @property
    def gate_models(self) -> list[str]:
        """The reward models of the gate: one base in the source language, several seeds."""
        gate = self.settings.gate
        return [
            str(ModelName(gate.base, self.settings.source_language, seed))
            for seed in range(1, gate.seeds + 1)
        ]

    @cached_property
    def configured(self) -> dict[str, dict]:
        """The ready-made reward models of config.yaml; scored on both benchmarks."""
        return {name: as_entry(model) for name, model in self.settings.reward_models.items()}

    @property
    def catalogued(self) -> dict[str, dict]:
        """The catalog's ready-made reward models that off_the_shelf names; scored on the main benchmark."""
        return {name: self.known.reward_models[name] for name in self.settings.off_the_shelf}

    @property
    def ready_made(self) -> dict[str, dict]:
        """All ready-made reward models, the configured ones first."""
        return {**self.configured, **self.catalogued}

    @property
    def half_credit(self) -> list[str]:
        """The judges whose ties are half right."""
        return [name for name, entry in self.ready_made.items() if ties_count_half(entry)]

    def shelf_rows(self, table: str) -> list[str]:
        """Return the catalogued rows of "table2" or of the "language_tables"; by default all."""
        named = getattr(self.settings.off_the_shelf_rows, table)
        return self.settings.off_the_shelf if named is None else named

    def language_table_rows(self) -> list[str]:
        """Return the reward models that are rows of Tables 3-7, one seed of each."""
        return [*self.configured, *self.shelf_rows("language_tables"), *self.trained_models()]

    @property
    def table2_scorers(self) -> dict[str, str]:
        """{scorer: kind} of Table 2: catalogued reward models, configured ones, and log-likelihoods."""
        kinds = {name: entry["kind"] for name, entry in self._table2_entries.items()}
        return kinds | dict.fromkeys(self.loglikelihoods, "baseline")

    @property
    def ready_made_pretraining(self) -> dict[str, str]:
        """{ready-made reward model of Table 2: its base's pretraining, or "unknown" where it names none}."""
        models, entries = self.known.models, self._table2_entries
        return {
            name: models[one["model"]]["pretraining"] if "model" in one else "unknown"
            for name, one in entries.items()
        }

    @property
    def _table2_entries(self) -> dict[str, dict]:
        shown = self.shelf_rows("table2")
        return {name: self.catalogued[name] for name in shown} | self.configured

    def languages_scored(self, model: str, benchmark: str) -> list[str]:
        """Return the languages that a trained reward model is scored on.

        On the main benchmark all of them. On the others the source language's is scored on all, another on
        its own, and a further seed on none."""
        name = ModelName.parse(model)
        if benchmark == self.settings.benchmarks.main:
            return self.languages
        if name.seed > 1:
            return []
        return self.languages if name.language == self.settings.source_language else [name.language]

    def reward_models(self, benchmark: str, language: str) -> list[str]:
        """Return the reward models that are scored on a benchmark and language, one seed of each."""
        ready_made = self.ready_made if benchmark == self.settings.benchmarks.main else self.configured
        trained = [
            name for name in self.trained_models() if language in self.languages_scored(name, benchmark)
        ]
        return [*ready_made, *trained]

    def main_reward_models(self, trained_first: bool = False) -> list[str]:
        """Return the reward models scored on the main benchmark in every language, all seeds of each.

        trained_first: before the ready-made ones, which is the order of a table's rows.
        """
        trained = self.trained_models(self.settings.reward_model_seeds)
        return [*trained, *self.ready_made] if trained_first else [*self.ready_made, *trained]

    @property
    def loglikelihoods(self) -> list[str]:
        """The scorers that are a base's mean log-likelihood."""
        return [f"loglik-{base}" for base in self.settings.bases]

    @property
    def untrained(self) -> list[str]:
        """What an untrained base says, as scorers: its log-likelihood, and what the request adds (PMI)."""
        return [*self.loglikelihoods, *(f"pmi-{base}" for base in self.settings.bases)]

    @property
    def baselines(self) -> list[str]:
        """The baselines of both benchmarks: those that only read texts, then those of each base."""
        return [
            *TEXT_BASELINES,
            *(f"{kind}-{base}" for base in self.settings.bases for kind in BASE_BASELINES),
        ]

    def scorers(self, benchmark: str, language: str) -> list[str]:
        """Return all scorers of a benchmark and language, reward models first."""
        return [*self.reward_models(benchmark, language), *self.baselines]

    def own_benchmark_scorers(self, benchmark: str) -> list[str]:
        """Return all scorers of a user's benchmark; text baselines only in a language they are fitted in."""
        text = TEXT_BASELINES if self.settings.own_benchmarks[benchmark].language in self.languages else []
        return [*self.configured, *self.trained_models(), *text]

    def benchmark_facts(self, benchmark: str) -> dict:
        """Return the arguments of comparison.Benchmark."""
        facts = self.known.benchmarks[benchmark]
        known = {key: facts[key] for key in ("sections", "weights", "code") if key in facts}
        return {"name": benchmark, **known}

    def categories(self, benchmark: str) -> dict[str, str]:
        """Return {subset: section} of a benchmark."""
        sections = self.known.benchmarks[benchmark]["sections"]
        return {subset: section for section, subsets in sections.items() for subset in subsets}

    def kinds(self, benchmark: str) -> dict[str, list[str]]:
        """Return {subset or section: kinds of rejected answers} of a benchmark, as prepare.kinds has them."""
        return self.known.benchmarks[benchmark].get("kinds", {})

    @property
    def judge_kinds(self) -> dict[str, list[str]]:
        """The kinds of rejected answers that a judge is trained on, those that no other training sees too.

        A policy may repeat itself, be cut, or answer in another language.
        """
        main, unseen = self.settings.benchmarks.main, self.settings.benchmarks.unseen_kinds
        more = self.kinds(unseen) if unseen else {}
        categories = self.categories(main)
        return {
            group: [*kinds, *more.get(group, more.get(categories.get(group, ""), []))]
            for group, kinds in self.kinds(main).items()
        }

    def stock(self, benchmark: str) -> list[str]:
        """Return the file of stock sentences that a benchmark's kinds use, if there is one."""
        return [path for path in [self.known.benchmarks[benchmark].get("stock")] if path]

    def use_of(self, benchmark: str) -> str:
        """Return which of the settings' benchmarks one is (main, twins, unseen_kinds); main for any other."""
        return next((use for use, name in self.settings.benchmarks if name == benchmark), "main")

    def share(self, use: str) -> dict[str, int | None]:
        """Return how much of a dataset is drawn, as prepare.pool.Share has it.

        use: "pool", or a benchmark's: "main", "unseen_kinds" or "twins"."""
        if use == "twins":
            return {"templates": None, "rows": None}
        return {
            "templates": getattr(self.settings.templates_per_section, use),
            "rows": self.settings.fills_per_template,
        }

    def with_language(self, language: str, folder: str, root: Path) -> "Scale":
        """Return a scale of one target language, which brings a folder of its own below root."""
        folders = {language: folder}
        changes = {"target_languages": [language], "language_folders": folders}
        languages = with_folders(self.known.languages, folders, root)
        return Scale(self.settings.model_copy(update=changes), replace(self.known, languages=languages))

    def covers_part(self, language: str) -> bool:
        """Say whether a language brings a part of the templates and passages, as its language.yaml says."""
        return self.known.languages.get(language, {}).get("coverage") == "part"

    def language_facts(self, key: str, languages: Sequence[str]) -> dict[str, str]:
        """Return {language: one of its facts in resources/languages.yaml}; key: name, script, ..."""
        return {language: self.known.languages[language][key] for language in languages}

    def by_script(self, languages: Sequence[str]) -> list[list[str]]:
        """Return the languages not in Latin letters, then those that are; no empty group."""
        scripts = self.language_facts("script", languages)
        groups = ([one for one in languages if (scripts[one] == "Latn") == latin] for latin in (False, True))
        return [group for group in groups if group]


def read_catalogs(root: Path, folders: Any, below: Path | None = None, read: Callable = read_yaml) -> Known:
    """Return the catalogs of a checkout, with the languages that bring folders of their own.

    Args:
        folders: as config.yaml's language_folders has them.
        below: where these are; None for the checkout.
        read: reads one of its files.
    """
    catalogs = {name: read(root / path) for name, path in FILES.items()}
    catalogs["languages"] = with_folders(catalogs["languages"], folders, below or root)
    return Known(**catalogs)


def read_scale(configfiles: Sequence[str], root: Path) -> Scale:
    """Read config.yaml with overlays on it, as Snakemake merges them, and the catalogs below root.

    Raises:
        PolyrewardError: there is no such overlay, or values are of the wrong type; no more is checked.
    """
    from snakemake.utils import update_config

    config = read_yaml(root / "config.yaml")
    check_overlays(configfiles, root)
    for path in configfiles:
        update_config(config, read_yaml(root / path))
    settings = parsed_settings(config)
    return Scale(settings, read_catalogs(root, settings.language_folders))


def check_overlays(configfiles: Sequence[str], root: Path) -> None:
    """Raise PolyrewardError with the overlays that are not there."""
    missing = [path for path in configfiles if not (root / path).is_file()]
    if missing:
        raise PolyrewardError(
            f"{', '.join(missing)}: no such file; name an overlay, such as workflow/scales/tiny.yaml"
        )
