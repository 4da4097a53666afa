"""What a scale makes: its languages, models, scorers and benchmarks, by the settings and the catalogs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from polyreward.config.catalogs import Known, read_catalogs
from polyreward.config.languages import with_folders
from polyreward.config.project import Project
from polyreward.config.settings import Places, parsed_settings
from polyreward.core.naming import BASE_BASELINES, TEXT_BASELINES, ModelName, Paths
from polyreward.core.seeds import job_seed
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.base import Section
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import as_entry

UNSEEN_TEMPLATES = 12  # of each section of the benchmark of unseen kinds; the papers have no such benchmark
PAPERS_B = 3  # billions of parameters of the transfer paper's bases


def ties_count_half(entry: dict) -> bool:
    """Tell whether a judge may give no verdict, so that its ties are half right, as in RewardBench."""
    return entry.get("verdict") == "text" or "question" in entry


@dataclass(frozen=True)
class Scale:
    """The settings and the catalogs.

    Reward models are trained here, one per base and training language, or ready-made, {name: entry}:
    `configured` in config.yaml, or `catalogued` and named by off_the_shelf."""

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
        """How models are loaded to score, where a reward model's entry says nothing else."""
        return {"dtype": self.settings.precision, **dict(self.settings.scoring), "attention": "sdpa"}

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
        """Return the seed of the job named by a key."""
        return job_seed(self.settings.seed, *key)

    def reward_model_seed(self, model: str) -> int:
        """Return the seed of a reward model: its own, or the source language's where languages share one."""
        name = ModelName.parse(model)
        language = name.language if self.settings.seed_per_language else self.settings.source_language
        return self.job_seed("reward_model", str(ModelName(name.base, language, name.seed)))

    def training(self, section: Section | None) -> dict:
        """Return the arguments that every training gets, in a dictionary: Snakemake compares no other objects
        with those of the last run."""
        return {"settings": section, "precision": self.settings.precision}

    def policy_training(self, section: Section | None) -> dict:
        """Return the same for a language model, which Liger's kernels may train."""
        return {**self.training(section), "liger": self.settings.devices.liger}

    def base_folder(self, base: str) -> str:
        """Return the folder of a model of models.yaml: where it was fetched, or made with random weights."""
        random = self.known.models[base]["source"]["kind"] == "random"
        return f"{self.paths.work}/{'2_prepared' if random else '1_sources'}/models/{base}"

    def reward_base(self, base: str) -> str:
        """Return the folder of a base as reward models start from it: of its lowest layers, or whole."""
        cut = base in (self.settings.reward_model.depth or {})
        return self.paths.model(f"bases/{base}") if cut else self.base_folder(base)

    def dataset(self, name: str) -> dict:
        """Return a dataset's catalog entry with the languages that the scale reads.

        Of pairs in several languages these are the scale's and those of the judges' own benchmark; of
        questions CARB's cultures."""
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
        return {"kind": "classifier", "path": self.paths.model(f"judges/{judge}")}

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
        """Those of config.yaml; scored on both benchmarks."""
        return {name: as_entry(model) for name, model in self.settings.reward_models.items()}

    @property
    def catalogued(self) -> dict[str, dict]:
        """Those of the catalog that off_the_shelf names; scored on the main benchmark."""
        return {name: self.known.reward_models[name] for name in self.settings.off_the_shelf}

    @cached_property
    def published(self) -> dict[str, dict]:
        """Those of the catalog in any table, also next to Think-as-Locals, which may be gone from the hub."""
        others = [name for name in self.settings.think_as_locals.others if name not in self.configured]
        return {name: self.known.reward_models[name] for name in [*self.settings.off_the_shelf, *others]}

    def may_be_missing(self, scorer: str) -> bool:
        """Tell whether a reward model that is unavailable becomes an empty row.

        Params that hold it take `output`, too. Snakemake then reruns no job when only they change, so that a
        change of `missing` rescores nothing."""
        return self.settings.missing == "row" and scorer in self.published

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
        return kinds | {f"loglik-{base}": "baseline" for base in self.settings.bases}

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

    def reward_models(self, benchmark: str, language: str) -> list[str]:
        """Return the reward models that are scored on a benchmark and language, one seed of each.

        Off the main benchmark, a trained one is of that language or of the source language."""
        trained, wanted = self.trained_models(), (self.settings.source_language, language)
        if benchmark == self.settings.benchmarks.main:
            return [*self.ready_made, *trained]
        return [*self.configured, *(name for name in trained if ModelName.parse(name).language in wanted)]

    def main_reward_models(self, trained_first: bool = False) -> list[str]:
        """Return the reward models scored on the main benchmark in every language, all seeds of each."""
        trained = self.trained_models(self.settings.reward_model_seeds)
        return [*trained, *self.ready_made] if trained_first else [*self.ready_made, *trained]

    @property
    def untrained(self) -> list[str]:
        """What an untrained base says, as scorers: its log-likelihood, and what the request adds (PMI)."""
        return [f"{kind}-{base}" for kind in ("loglik", "pmi") for base in self.settings.bases]

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
        """The kinds of rejected answers that a judge is trained on, those that no other training sees too: a
        policy may repeat itself, be cut, or answer in another language."""
        main, unseen = self.settings.benchmarks.main, self.settings.benchmarks.unseen_kinds
        more = self.kinds(unseen) if unseen else {}
        categories = self.categories(main)
        return {
            group: [*kinds, *more.get(group, more.get(categories.get(group, ""), []))]
            for group, kinds in self.kinds(main).items()
        }

    def stock(self, benchmark: str) -> list[str]:
        """Return the file of stock sentences that a benchmark's kinds use, if there is one."""
        return [*filter(None, [self.known.benchmarks[benchmark].get("stock")])]

    def use_of(self, benchmark: str) -> str:
        """Return which of the settings' benchmarks one is (main, twins, unseen_kinds); main for any other."""
        return next((use for use, name in self.settings.benchmarks if name == benchmark), "main")

    def share(self, use: str) -> dict[str, int | None]:
        """Return how much of "pool" or of a benchmark, as use_of names it, is drawn: prepare.pool.Share."""
        if use == "twins":
            return {"templates": None, "rows": None}
        named = {**dict(self.settings.templates_per_section), "unseen_kinds": UNSEEN_TEMPLATES}
        return {"templates": named[use], "rows": self.settings.fills_per_template}

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
        """Return {language: its name, script or another fact of resources/languages.yaml}."""
        return {language: self.known.languages[language][key] for language in languages}

    def by_script(self, languages: Sequence[str]) -> list[list[str]]:
        """Return the languages not in Latin letters, then those that are; no empty group."""
        scripts = self.language_facts("script", languages)
        groups = ([one for one in languages if (scripts[one] == "Latn") == latin] for latin in (False, True))
        return [group for group in groups if group]


def read_scale(configfiles: Sequence[str], root: Path) -> Scale:
    """Read config.yaml with overlays on it, as Snakemake merges them, and the catalogs below root.

    Raises PolyrewardError where a file is missing or a value's type is wrong; no more is checked."""
    from snakemake.utils import update_config

    files, config = [root / path for path in ("config.yaml", *configfiles)], {}
    for path in files:
        update_config(config, read_yaml(path))
    settings = parsed_settings(config, Places(files[::-1]))
    return Scale(settings, read_catalogs(Project(root), settings.language_folders, root))
