"""The settings as a whole: one class for config.yaml, with the sections that belong to no paper."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from polyreward.settings.base import (
    Count,
    CountFromZero,
    Distinct,
    Language,
    Names,
    NamesOrNone,
    PlainName,
    Positive,
    Section,
    Seeds,
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
    Translation,
)


class Serve(Section):
    """A server that each job starts for its model and ends."""

    command: Annotated[list[str], Field(min_length=1)] = Field(
        description=(
            "The command's words; {model} is the model's folder, {port} the port, {dtype} its precision, and"
            " {gpus} the number of GPUs that it is spread over."
        )
    )
    startup_s: Positive = Field(description="Seconds until it must answer.")
    concurrency: Count = Field(default=8, description="Requests at a time.")
    timeout_s: Positive = Field(description="Seconds that one request may take.")
    retries: CountFromZero = Field(default=3, description="How often a request is repeated.")


class OffTheShelfRows(Section):
    """Which of off_the_shelf are rows of the transfer paper's tables. All are scored, and in CARB's
    tables."""

    table2: NamesOrNone | None = Field(
        default=None, description="In Table 2 and the claims about off-the-shelf models; null for all."
    )
    language_tables: NamesOrNone | None = Field(
        default=None, description="In Tables 3-7; null for all (paper: [ArmoRM-Llama3-8B-v0.1])."
    )


class Devices(Section):
    """How devices are used. A CUDA device is used wherever there is one."""

    launch: str | None = Field(
        default=None,
        description=(
            "Configuration of accelerate for trainings in several processes, each with a batch_size of its"
            " own: a file of workflow/accelerate/, or yours; null for one process (paper: DeepSpeed ZeRO-3 on"
            " four devices)."
        ),
    )
    liger: bool = Field(
        default=False,
        description=(
            "Trainings of language models use the kernels of liger-kernel; CUDA only (paper: true, for DPO)."
        ),
    )
    gpu_gib: Positive = Field(
        default=80.0,
        description=(
            "GiB of memory of each GPU. What does not fit is refused before the first job; on this machine"
            " nvidia-smi's number counts."
        ),
    )
    serve: Serve | None = Field(
        default=None,
        description=(
            "The server that writes translations, the policies' responses and local judges' verdicts as text;"
            " null for transformers in the job (docs/howto/vllm.md)."
        ),
    )


class OwnBenchmark(Section):
    """A benchmark of your own."""

    path: str = Field(
        description=(
            "A file of pairs in any format and layout of docs/reference/files.md: id, subset, prompt, chosen,"
            " rejected (one or a list; chosen beats all)."
        )
    )
    language: Language = Field(description="Its language, an ISO 639 code.")
    layout: str = optional(
        "Layout of the file, as in docs/reference/files.md; left out: found by its columns."
    )
    about: str = optional("What it holds, in a sentence for its table's caption.")


class Scoring(Section):
    """How reward models are run to score."""

    max_length: Count = Field(description="Tokens, truncated on the left (paper: 2048).")
    token_budget: Count = Field(
        description="Tokens per padded batch: 2048 is slower than 1024 on a CPU; a GPU takes more."
    )
    attention: Literal["sdpa", "eager", "flash_attention_2"] = Field(
        default="sdpa",
        description=(
            "Attention, as transformers names it. With sdpa the prompt that answers share is run once, with "
            "flash_attention_2 once per answer."
        ),
    )


class Intervals(Section):
    """Confidence intervals."""

    samples: Count = Field(description="Bootstrap resamples, over templates.")
    confidence: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.95, description="Confidence of an interval."
    )


class Threads(Section):
    """Threads per job; with `--cores all` as many jobs run at once as fit."""

    translate: Count = Field(default=1, description="Threads of a translation.")
    train: Count = Field(default=1, description="Threads of a training.")
    score: Count = Field(default=1, description="Threads of a scoring.")


class Settings(Section):
    """The settings of one scale: config.yaml, with the overlays of workflow/scales/ on it."""

    model_config = ConfigDict(title="Settings of polyreward")

    results: Annotated[str, Field(pattern="^[A-Za-z0-9._/-]+$")] = Field(
        description="Folder of this scale's artifacts; its stages are in work/ below it."
    )
    seed: CountFromZero = Field(
        description="Root seed; every job derives its own from it and its name (paper: 42)."
    )
    precision: Literal["float32", "bfloat16", "auto"] = Field(
        description=(
            "What models compute in, in every job. auto: bfloat16 where the processor or GPU multiplies it"
            " natively. In float32 a score does not depend on its batch, to 1e-5 (paper: bfloat16)."
        )
    )
    portable: bool = Field(
        default=False,
        description=(
            "No job uses an instruction of the processor that is newer than AVX2, so that machines round"
            " alike."
        ),
    )
    devices: Devices = Field(default=Devices(), description="How devices are used.")
    bases: Annotated[list[str], Distinct()] = Field(
        description=(
            "Pretrained models to make reward models of: names in workflow/catalog/models.yaml; [] to train"
            " none, where benchmarks of your own are only for listed reward models."
        )
    )
    figure2_models: Names | None = Field(
        default=None,
        description=(
            "Models whose token embeddings Figure 2 compares; null for bases (paper: two bases, OLMo-1B,"
            " SmolLM-1.7B)."
        ),
    )
    token_share: Annotated[float, Field(gt=0.5, le=1)] = Field(
        default=1.0,
        description=(
            "For Figure 2, a token belongs to a language that has at least this share of its uses, in equal"
            " amounts of text. 1: no other language uses it. Set a lower value where much text is the same in"
            " all languages, such as code (paper: disjoint sets, by a rule that it does not give)."
        ),
    )
    table1_bases: Names | None = Field(
        default=None,
        description=(
            "Those of bases that Table 1, Figure 1 and the transfer claims show; null for all (paper: its two"
            " of 3B)."
        ),
    )
    source_language: Language = Field(
        default="en",
        description=(
            "ISO 639 code of the language that data is written in, and of the `english` reward model (paper:"
            " en)."
        ),
    )
    target_languages: Names = Field(
        description="ISO 639 codes of the languages to translate to (paper: es, it, ko, zh)."
    )
    language_folders: dict[Language, str] = Field(
        default={},
        description=(
            "Languages that bring a folder of their own, {code: folder}: its facts and its texts"
            " (docs/howto/language.md)."
        ),
    )
    templates_per_section: TemplatesPerSection = Field(
        description=(
            "Templates of each section of the main benchmark that are used, chosen by hash; null for all."
        )
    )
    fills_per_template: Count | None = Field(
        description=(
            "Rows of a template that are used, chosen by hash, to train on and to evaluate on; null for all."
            " Its rows are its fills or a family's two requests."
        )
    )
    kinds_per_request: Count | None = Field(
        default=None,
        description=(
            "Kinds of rejected answers of a request, drawn by hash, to train on and to evaluate on; null for"
            " all of its mix in workflow/catalog/benchmarks.yaml."
        ),
    )
    pool: Pool = Field(description="The preference pairs to train on.")
    benchmarks: Benchmarks = Field(description="The benchmarks: names in workflow/catalog/benchmarks.yaml.")
    passages: str = Field(
        description=(
            "Parallel texts for Figures 1 and 2: a name in workflow/catalog/datasets.yaml (paper: BeleBele)."
        )
    )
    carb: Carb = Field(description="The CARB benchmark.")
    think_as_locals: ThinkAsLocals = Field(description="Think-as-Locals.")
    own_benchmarks: dict[PlainName, OwnBenchmark] = Field(
        description=(
            "Your own benchmarks by name, scored by your own reward models, those trained here and text"
            " baselines; the table is benchmark_<name>.csv."
        )
    )
    reward_models: RewardModels = Field(
        description=(
            "Your own reward models by name, next to those trained here; each gets a row in every table of"
            " scorers."
        )
    )
    judge_questions: dict[PlainName, str] = Field(
        default={},
        description=(
            "Your own questions of judges, {name: YAML file}. A name of workflow/catalog/judge_questions.yaml"
            " replaces that question. The head of that file explains the format."
        ),
    )
    judge_wordings: Literal["ours", "published"] = Field(
        default="ours",
        description=(
            "Words of the catalog's questions to judges: `ours`, or `published`. The published words of"
            " `rewardbench` and `alpacaeval` are then fetched at a pinned commit and checked by hash; others"
            " stay ours (paper: published)."
        ),
    )
    pinned_judges: bool = Field(
        default=False,
        description=(
            "Judges and writers on servers must name a dated snapshot, since a name without a date moves."
        ),
    )
    off_the_shelf: NamesOrNone = Field(
        description=(
            "Reward models for Tables 2-7: names in workflow/catalog/reward_models.yaml (paper: its last"
            " four)."
        )
    )
    off_the_shelf_rows: OffTheShelfRows = Field(
        default=OffTheShelfRows(), description="Which of off_the_shelf are rows of which table."
    )
    missing: Literal["stop", "row"] = Field(
        description=(
            "What to do if an off-the-shelf reward model cannot be fetched (gated, removed, unknown head) or"
            " run here (its code fails, too little memory). `stop` ends the run before the tables. `row`"
            " shows an empty row with the reason in Tables 2-7 and CARB's leaderboard. `make again` retries."
            " An outage always stops the run."
        )
    )
    translation: Translation = Field(description="How data is translated.")
    reward_model_seeds: Seeds = Field(
        description=(
            "Seeds of the reward models in Tables 1 and 3-7. With several, the tables hold mean and standard"
            " deviation over seeds, and Table 1 tests the difference of means (paper: [1])."
        )
    )
    seed_per_language: bool = Field(
        default=True,
        description=(
            "Reward models of a base and seed have another head and data order in each language; false: the"
            " same in all (paper: false)."
        ),
    )
    reward_model: RewardModelTraining = Field(description="Training of reward models.")
    alignment: Alignment = Field(description="Figure 3.")
    scoring: Scoring = Field(description="How reward models are run to score.")
    probe_pairs: Count | None = Field(
        default=None,
        description=(
            "Train pairs of each language, chosen by hash, that the probe and TF-IDF baselines are fitted on;"
            " null for all."
        ),
    )
    intervals: Intervals = Field(description="Confidence intervals.")
    gate: Gate = Field(description="The check of the instrument.")
    threads: Threads = Field(default=Threads(), description="Threads per job.")
