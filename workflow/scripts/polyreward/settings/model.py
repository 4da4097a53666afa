"""The settings as a whole: one class for config.yaml, with the sections that belong to no paper."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from polyreward.core.yaml_files import read_yaml
from polyreward.settings.base import (
    Count,
    CountFromZero,
    Language,
    Names,
    NamesOrNone,
    PlainName,
    Positive,
    Section,
    Seeds,
    Serve,
    optional,
)
from polyreward.settings.carb import Carb
from polyreward.settings.reward_models import RewardModels
from polyreward.settings.think_as_locals import ThinkAsLocals
from polyreward.settings.transfer import (
    Alignment,
    Benchmarks,
    Gate,
    Pool,
    RewardModelTraining,
    TemplatesPerSection,
)
from polyreward.settings.translation import Translation

PAIRS_OF = ("path", "dataset")


class OffTheShelfRows(Section):
    """Which of off_the_shelf are rows of the transfer paper's tables. All are scored, and in CARB's
    tables."""

    table2: NamesOrNone | None = None
    """In Table 2 and the claims about off-the-shelf models; null for all."""
    language_tables: NamesOrNone | None = None
    """In Tables 3-7; null for all (paper: [ArmoRM-Llama3-8B-v0.1])."""


class Devices(Section):
    """How devices are used. A CUDA device is used wherever there is one."""

    launch: str | None = None
    """Accelerate's configuration of trainings in several processes, each with a batch_size of its own: a file
    of workflow/accelerate/, or yours; null for one process (paper: DeepSpeed ZeRO-3 on four devices)."""
    liger: bool = False
    """Trainings of language models use the kernels of liger-kernel; CUDA only (paper: true, for DPO)."""
    gpu_gib: Positive = 80.0
    """GiB of each GPU, where jobs do not run on this machine. What does not fit is refused before the first
    job."""
    serve: Serve | None = None
    """The server that writes translations, the policies' responses and local judges' verdicts as text; null
    for transformers in the job (docs/howto/vllm.md)."""


class OwnBenchmark(Section):
    """A benchmark of your own: exactly one of path and dataset."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [place]} for place in PAIRS_OF]})

    path: str = optional()
    """A file of pairs in any format and layout of docs/reference/files.md: id, subset, prompt, chosen,
    rejected (one or a list; chosen beats all)."""
    dataset: str = optional()
    """Worked solutions that pairs are made of: a name in workflow/catalog/datasets.yaml, of kind pypi. The
    bases' log-likelihood and PMI are scored, too."""
    language: Language
    """Its language, an ISO 639 code."""
    layout: str = optional()
    """Layout of the file, as in docs/reference/files.md; left out: found by its columns."""
    about: str = optional()
    """What it holds, in a sentence for its table's caption."""

    @model_validator(mode="after")
    def _one_place(self):
        if (self.path is None) == (self.dataset is None):
            raise PydanticCustomError("place", "must have exactly one of path and dataset")
        return self


def _without_null(entries: Any) -> Any:
    if not isinstance(entries, dict):
        return entries
    return {name: entry for name, entry in entries.items() if entry is not None}


OwnBenchmarks = Annotated[
    dict[PlainName, OwnBenchmark],
    BeforeValidator(_without_null, json_schema_input_type=dict[PlainName, OwnBenchmark | None]),
]


class Scoring(Section):
    """How reward models are run to score."""

    max_length: Count
    """Tokens, truncated on the left (paper: 2048)."""
    token_budget: Count
    """Tokens per padded batch: 2048 is slower than 1024 on a CPU; a GPU takes more."""


class Intervals(Section):
    """Confidence intervals."""

    samples: Count
    """Bootstrap resamples, over templates."""
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """Confidence of an interval."""


class Threads(Section):
    """Threads per job; with `--cores all` as many jobs run at once as fit."""

    translate: Count = 1
    """Threads of a translation."""
    train: Count = 1
    """Threads of a training."""
    score: Count = 1
    """Threads of a scoring."""


class Settings(Section):
    """The settings of one scale: config.yaml, with the overlays of workflow/scales/ on it."""

    model_config = ConfigDict(title="Settings of polyreward")

    results: Annotated[str, Field(pattern="^[A-Za-z0-9._/-]+$")]
    """Folder of this scale's artifacts; its stages are in work/ below it."""
    seed: CountFromZero
    """Root seed; every job derives its own from it and its name (paper: 42)."""
    precision: Literal["float32", "bfloat16"]
    """What models compute in, in every job. In float32 a score does not depend on its batch, to 1e-5. Many
    processors compute bfloat16 more slowly (paper: bfloat16)."""
    portable: bool = False
    """No job uses an instruction of the processor that is newer than AVX2, so that machines round alike."""
    devices: Devices = Devices()
    """How devices are used."""
    bases: NamesOrNone
    """Pretrained models to make reward models of: names in workflow/catalog/models.yaml; [] to train none,
    where benchmarks of your own are only for listed reward models."""
    figure2_models: Names | None = None
    """Models whose token embeddings Figure 2 compares; null for bases (paper: two bases, OLMo-1B,
    SmolLM-1.7B)."""
    token_share: Annotated[float, Field(gt=0.5, le=1)] = 1.0
    """For Figure 2, a token belongs to a language that has at least this share of its uses, in equal amounts
    of text. Lower it where much text is the same in all, such as code (paper: by a rule that it does not
    give)."""
    table1_bases: Names | None = None
    """Those of bases that Table 1, Figure 1 and the transfer claims show; null for all (paper: its two of
    3B)."""
    source_language: Language = "en"
    """ISO 639 code of the language that data is written in, and of the `english` reward model (paper: en)."""
    target_languages: Names
    """ISO 639 codes of the languages to translate to (paper: es, it, ko, zh)."""
    language_folders: dict[Language, str] = {}
    """Languages that bring a folder of their own, {code: folder}: its facts and its texts
    (docs/howto/language.md)."""
    templates_per_section: TemplatesPerSection
    """Templates of each section of the main benchmark that are used, chosen by hash; null for all."""
    fills_per_template: Count | None
    """Rows of a template (its fills, or a family's two requests) that are used, chosen by hash; null for
    all."""
    kinds_per_request: Count | None = None
    """Kinds of rejected answers of a request, drawn by hash from its mix in workflow/catalog/benchmarks.yaml;
    null for all."""
    pool: Pool
    """The preference pairs to train on."""
    benchmarks: Benchmarks
    """The benchmarks: names in workflow/catalog/benchmarks.yaml."""
    passages: str
    """Parallel texts for Figures 1 and 2: a name in workflow/catalog/datasets.yaml (paper: BeleBele)."""
    max_passages: Annotated[int, Field(ge=4)] | None = None
    """So many of them, drawn by hash, the same in every language; null for all (paper: null). Figure 1's
    estimates of similarity need four."""
    carb: Carb
    """The CARB benchmark."""
    think_as_locals: ThinkAsLocals
    """Think-as-Locals."""
    own_benchmarks: OwnBenchmarks
    """Your own benchmarks by name, scored by your own reward models, those trained here and text baselines;
    the table is benchmark_<name>.csv. Null leaves out one of config.yaml."""
    reward_models: RewardModels
    """Your own reward models by name, next to those trained here; each gets a row in every table of
    scorers."""
    judge_questions: dict[PlainName, str] = {}
    """Your own questions of judges, {name: YAML file}, as workflow/catalog/judge_questions.yaml has
    them; one replaces its question of that name."""
    judge_wordings: Literal["ours", "published"] = "ours"
    """Words of the catalog's questions to judges. The published ones of `rewardbench` and `alpacaeval` are
    fetched at a pinned commit and checked by hash; others stay ours (paper: published)."""
    off_the_shelf: NamesOrNone
    """Reward models for Tables 2-7: names in workflow/catalog/reward_models.yaml (paper: its last four)."""
    off_the_shelf_rows: OffTheShelfRows = OffTheShelfRows()
    """Which of off_the_shelf are rows of which table."""
    missing: Literal["stop", "row"]
    """If an off-the-shelf reward model is unavailable (gated, removed, with an unknown head, or with files
    that do not load): `stop` the run, or show an empty `row` with the reason, which `make again` retries. An
    outage and too little memory always stop it."""
    translation: Translation
    """How data is translated."""
    reward_model_seeds: Seeds
    """Seeds of the reward models in Tables 1 and 3-7. With several, the tables hold mean and standard
    deviation over seeds (paper: [1])."""
    seed_per_language: bool = True
    """Reward models of a base and seed have another head and data order in each language; false: the same in
    all (paper: false)."""
    reward_model: RewardModelTraining
    """Training of reward models."""
    alignment: Alignment
    """Figure 3."""
    scoring: Scoring
    """How reward models are run to score."""
    probe_pairs: Count | None = None
    """Train pairs of each language, chosen by hash, that the probe and TF-IDF baselines are fitted on; null
    for all."""
    intervals: Intervals
    """Confidence intervals."""
    gate: Gate
    """The check of the instrument."""
    threads: Threads = Threads()
    """Threads per job."""

    @property
    def languages(self) -> list[str]:
        """The source language, then the target languages."""
        return [self.source_language, *self.target_languages]

    @property
    def judged_languages(self) -> list[str]:
        """Those in which Think-as-Locals' judges see the benchmark next to CARB."""
        evaluation = self.think_as_locals.evaluation
        if evaluation.benchmark:
            return evaluation.cultures
        return [language for language in self.languages if language in evaluation.cultures] or self.languages

    @property
    def shown_bases(self) -> list[str]:
        """The bases that Table 1, Figure 1 and the transfer claims show."""
        return self.table1_bases or self.bases

    @property
    def embedding_models(self) -> list[str]:
        """The models whose token embeddings Figure 2 shows."""
        return self.figure2_models or self.bases

    @property
    def score_options(self) -> dict[str, Any]:
        """How models are loaded to score, where a reward model's entry says nothing else."""
        return {"dtype": self.precision, **dict(self.scoring), "attention": "sdpa"}

    @property
    def interval(self) -> dict[str, Any]:
        """The arguments of bootstrap.Interval."""
        return {**dict(self.intervals), "seed": self.seed}

    @property
    def confidence(self) -> str:
        """The level of intervals in words: "95%"."""
        return f"{100 * self.intervals.confidence:g}%"

    @property
    def top_layers(self) -> int:
        """How many top layers adapters change; 0 where the states below them are not kept."""
        training = self.reward_model
        return training.lora.top_layers if training.lora and training.cache_frozen_layers else 0

    @property
    def launch(self) -> dict | None:
        """How accelerate starts the processes of a training; None for the job's own process."""
        return read_yaml(self.devices.launch) if self.devices.launch else None

    def training_arguments(self, section: Section | None) -> dict[str, Any]:
        """Return what every training gets next to its section: Snakemake compares only plain values and
        sections with those of the last run."""
        return {"settings": section, "precision": self.precision}

    def policy_arguments(self, section: Section | None) -> dict[str, Any]:
        """Return the same for a language model, which Liger's kernels may train."""
        return {**self.training_arguments(section), "liger": self.devices.liger}

    def sampling_arguments(self, section: Section) -> dict[str, Any]:
        """Return how policies are sampled, as sampling.loaded_policy takes it."""
        return {"settings": section, "precision": self.precision, "serve": self.devices.serve}
