"""Sections of the transfer paper; "paper" means arXiv 2410.18027 here."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from polyreward.settings.base import (
    Count,
    Distinct,
    FromZero,
    Language,
    Lora,
    Names,
    PolicyTraining,
    Positive,
    Section,
    Share,
)


class Pool(Section):
    """The preference pairs to train on."""

    datasets: Names = Field(description="Names in workflow/catalog/datasets.yaml.")
    dev_share: Share = Field(
        description=(
            "Share of the templates that reward models of the tables are not trained on; for tuning,"
            " Figure 3's prompts and its judge (paper: 20%)."
        )
    )
    filters: Annotated[list[Literal["distinct", "unseen"]], Distinct()] = Field(
        description=(
            "Filters after incomplete rows: leave out repeated pairs (distinct), and prompts or"
            " templates of the benchmarks (unseen) (paper: none)."
        )
    )
    max_pairs: dict[str, Count] = Field(
        default={},
        description="{source: pairs}, chosen by hash; a source that is not named is taken in full.",
    )


class TemplatesPerSection(Section):
    """Templates of each section that are used."""

    pool: Count | None = Field(description="To train on, and to tune with.")
    main: Count | None = Field(description="Of the main benchmark.")
    unseen_kinds: Count | None = Field(default=12, description="Of the benchmark of unseen kinds.")


class Benchmarks(Section):
    """Names in workflow/catalog/benchmarks.yaml."""

    main: str = Field(description="The benchmark of Table 1 (paper: RewardBench).")
    twins: str = Field(
        description="A benchmark of twins: two prompts whose answers are swapped; never pooled with the rest."
    )
    unseen_kinds: str | None = Field(
        default=None,
        description=(
            "A benchmark of kinds of rejected answers that only Figure 3's judge is trained on; null for"
            " none."
        ),
    )


class GettextEngine(Section):
    """Translation by .po catalogs."""

    kind: Literal["gettext"] = Field(description="Catalogs of translations (.po files).")
    catalogs: str = Field(description="Folder of <language>.po.")


def _per_language(value: Any) -> str:
    return "<per language>" if isinstance(value, dict) else "<one>"


ModelNames = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[dict[str, str], Field(min_length=1), Tag("<per language>")],
    Discriminator(_per_language),
]


Unit = Literal["text", "line", "sentence"]
UNIT = "What is sent at a time, code apart; what fails is tried again in smaller ones (paper: text)."


class LmEngine(Section):
    """Translation by a language model."""

    kind: Literal["lm"] = Field(description="A language model, and a prompt.")
    model: ModelNames = Field(
        description="A name in workflow/catalog/models.yaml, or one for each language: {es: name, ...}."
    )
    prompt: str = Field(
        description="Template with {source} and {target}, the languages' names, and {text}.",
        pattern=r"\{text\}",
    )
    batch_size: Count = Field(default=16, description="Units at a time.")
    max_new_tokens: Count = Field(
        description="Tokens per unit; what is cut there is tried again in smaller parts."
    )
    chat: bool = Field(default=False, description="Wrap the prompt in the model's chat template.")
    codes: ClassVar[None] = None
    unit: Unit = Field(default="line", description=UNIT)


class Seq2seqEngine(Section):
    """Translation by a sequence-to-sequence model that gets the languages as tokens, such as NLLB-200."""

    kind: Literal["seq2seq"] = Field(description="A sequence-to-sequence model.")
    prompt: ClassVar[str] = "{text}"
    chat: ClassVar[bool] = False
    model: ModelNames = Field(
        description="A name in workflow/catalog/models.yaml, or one for each language: {es: name, ...}."
    )
    codes: dict[Language, str] = Field(
        description="{language: the model's token for it}, the source language's too."
    )
    batch_size: Count = Field(default=16, description="Units at a time.")
    max_new_tokens: Count = Field(
        description="Tokens per unit; what is cut there is tried again in smaller parts."
    )
    unit: Unit = Field(default="sentence", description=UNIT)


def _engine(value: Any) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return f"<{kind}>" if kind in ("gettext", "lm", "seq2seq") else None


Engine = Annotated[
    Annotated[GettextEngine, Tag("<gettext>")]
    | Annotated[LmEngine, Tag("<lm>")]
    | Annotated[Seq2seqEngine, Tag("<seq2seq>")],
    Discriminator(
        _engine, custom_error_type="kind", custom_error_message="needs a `kind`: gettext, lm or seq2seq"
    ),
]


class Translation(Section):
    """How training and evaluation data are translated, and how well."""

    engine: ModelNames = Field(
        description=(
            "Which of the engines translates data, or one for each language: {default: name, fr: name}"
            " (paper: X-ALMA)."
        )
    )
    engines: dict[str, Engine] = Field(description="Engines by name.")
    quality_data: Literal["dev", "passages"] = Field(
        default="dev",
        description=(
            "What translation_quality.csv compares: the pool's dev rows, with the engine's own translation,"
            " or passages."
        ),
    )
    quality_engines: Names = Field(description="Engines in translation_quality.csv.")
    quality_rows: Count = Field(description="Rows that each of them translates.")


class RewardModelTraining(Section):
    """Bradley-Terry reward models, trained with TRL."""

    epochs: Positive = Field(description="Passes over the pairs (paper: 1, over 86,000 pairs).")
    learning_rate: Positive = Field(
        description="The highest learning rate (paper: 1.0e-5, full fine-tuning)."
    )
    warmup_ratio: Share = Field(
        default=0.1, description="Share of all steps in which the learning rate rises (paper: 0.1)."
    )
    lr_scheduler: str = Field(
        default="cosine",
        description="Schedule of the learning rate: a name of transformers' SchedulerType (paper: cosine).",
    )
    weight_decay: FromZero = Field(default=0.0, description="Weight decay of the optimizer.")
    batch_size: Count = Field(
        description="Requests per device and step, each with all its pairs (paper: 8, of one pair)."
    )
    gradient_accumulation: Count = Field(default=1, description="Steps per update (paper: 4, on 4 devices).")
    max_length: Count = Field(description="Tokens, truncated on the left (paper: 2048).")
    center_rewards_coefficient: FromZero | None = Field(
        default=0.01,
        description="Pulls rewards to mean zero; null for none (TRL recommends 0.01; paper: null).",
    )
    optimizer: str = Field(
        default="adamw_torch", description="A name of transformers' OptimizerNames (paper: paged_adamw_8bit)."
    )
    gradient_checkpointing: bool = Field(
        default=False, description="Recompute activations: less memory, twice the time (paper: true)."
    )
    save_every: Count = Field(
        default=25, description="Steps between checkpoints, from which a killed run resumes."
    )
    cache_frozen_layers: bool = Field(
        default=True,
        description=(
            "Run the layers below the adapters once per text, not in every epoch; needs lora (paper: false)."
        ),
    )
    token_budget: Count | None = Field(
        default=512,
        description=(
            "Tokens in one forward pass, in which a pair's prompt is run once for both answers. null: a batch"
            " at once, each conversation by itself (paper: null)."
        ),
    )
    lora: Lora | None = Field(
        description="Adapters on the top decoder layers; null for full fine-tuning (paper: null)."
    )
    pooling: Literal["last", "answer"] = Field(
        default="last",
        description=(
            "What the reward is read from: the last token (paper), or the mean over the answer's tokens."
        ),
    )
    depth: dict[str, Count] | None = Field(
        default=None,
        description=(
            "{base: how many of its lowest layers reward models are made of}; whole where a base is not"
            " named, or null (paper: null)."
        ),
    )

    @model_validator(mode="after")
    def leave_a_layer_to_freeze(self):
        """Refuse a depth at which adapters are on every layer that is left."""
        for base, layers in (self.depth or {}).items():
            if self.lora and layers <= self.lora.top_layers:
                raise PydanticCustomError(
                    "depth",
                    "the depth of {base} is {layers}, and adapters are on the top {top} layers, so that no"
                    " layer is left to freeze; raise depth, or lower lora.top_layers",
                    {"base": base, "layers": layers, "top": self.lora.top_layers},
                )
        return self


class Sampling(Section):
    """How the policy's responses are sampled."""

    temperature: Positive = Field(description="Sampling temperature.")
    top_k: Count = Field(default=50, description="Sample from this many of the most probable tokens.")
    max_new_tokens: Count = Field(description="Tokens of a response.")
    batch_size: Count = Field(default=32, description="Responses at a time.")


class Sft(PolicyTraining):
    """First the policy learns to answer, on chosen answers of every language."""

    rows: Count = Field(description="Train rows per language.")


class Dpo(PolicyTraining):
    """Direct preference optimisation (paper: 1 epoch, learning rate 5.0e-7, batch 1, accumulation 8 on 4
    devices, no lora)."""

    optimizer: str = Field(
        default="adamw_torch", description="A name of transformers' OptimizerNames (paper: paged_adamw_8bit)."
    )
    beta: Positive = Field(
        default=0.1, description="Weight of the KL divergence to the policy before DPO (paper: 0.1)."
    )


class Alignment(Section):
    """Figure 3: does a policy get better by pairs that a reward model labelled?"""

    policy: str = Field(
        description="Base of the policy: a name in workflow/catalog/models.yaml (paper: Qwen2.5-7B-Instruct)."
    )
    reward_base: str = Field(description="One of bases, whose reward models label the pairs.")
    languages: Names = Field(description="Some of target_languages (paper: es, it, ko, zh).")
    prompt_data: str | None = Field(
        default=None,
        description=(
            "A name in workflow/catalog/datasets.yaml; null for the dev rows, which no reward model that"
            " labels was trained on (paper: UltraFeedback)."
        ),
    )
    prompts: Count = Field(description="Prompts per language (paper: 10,000).")
    responses: Annotated[int, Field(ge=2)] = Field(
        description="Responses sampled per prompt; the best and the worst make a pair (paper: 4)."
    )
    instructions: str = Field(
        description=(
            "Held-out instructions, with answers: a name in workflow/catalog/datasets.yaml (paper:"
            " X-AlpacaEval)."
        )
    )
    max_instructions: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="So many of them, drawn by hash; null for all (paper: null)."
    )
    reference: str | None = Field(
        default=None,
        description=(
            "A generative reward model of workflow/catalog/reward_models.yaml that writes reference answers"
            " where instructions bring none (paper: GPT-4-Turbo)."
        ),
    )
    runs: Count = Field(
        default=1, description="Times that each policy answers the instructions, with other seeds (paper: 5)."
    )
    trainings: Count = Field(
        default=1,
        description=(
            "Trainings by DPO on each set of pairs, with other seeds. Runs use them in turn, so `runs` must"
            " be a multiple of this (paper: 5)."
        ),
    )
    judge: str | None = Field(
        default=None,
        description=(
            "A reward model of workflow/catalog/reward_models.yaml. Null for reward models that are trained"
            " here for it, one in each language: of reward_base, on templates of the pool that no other"
            " reward model is trained on (paper: GPT-4o)."
        ),
    )
    sampling: Sampling = Field(description="How the responses are sampled.")
    sft: Sft | None = Field(
        description="Supervised training before DPO; null for a policy that already answers (paper: null)."
    )
    dpo: Dpo = Field(description="Direct preference optimisation on the labelled pairs.")


class Gate(Section):
    """Is the instrument working? The source-language reward model must beat length."""

    base: str = Field(description="One of bases.")
    seeds: Count = Field(description="Reward models of different seeds whose mean is tested.")
