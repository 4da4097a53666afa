"""Sections of the transfer paper; "paper" means arXiv 2410.18027 here."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from polyreward.settings.base import (
    DISTINCT,
    Count,
    FromZero,
    Names,
    PolicyTraining,
    Positive,
    Section,
    Share,
    Training,
)


class Pool(Section):
    """The preference pairs to train on."""

    datasets: Names
    """Names in workflow/catalog/datasets.yaml."""
    dev_share: Share
    """Share of the templates for tuning, Figure 3's prompts and its judge (paper: 20%)."""
    filters: Annotated[list[Literal["distinct", "unseen"]], *DISTINCT]
    """Leave out repeated pairs (distinct), prompts or templates of the benchmarks (unseen) (paper: [])."""
    max_pairs: dict[str, Count] = {}
    """{source: pairs}, chosen by hash; a source that is not named is taken in full."""
    flipped_labels: Share = 0.0
    """Share of each target language's training pairs whose answers are exchanged, as a control with a known
    answer: English must lead."""


class TemplatesPerSection(Section):
    """Templates of each section that are used."""

    pool: Count | None
    """To train on, and to tune with."""
    main: Count | None
    """Of the main benchmark."""
    twins: Count | None = None
    """Of the twins."""


class Benchmarks(Section):
    """Names in workflow/catalog/benchmarks.yaml."""

    main: str
    """The benchmark of Table 1 (paper: RewardBench)."""
    twins: str
    """A benchmark of twins: two prompts whose answers are swapped; never pooled with the rest."""
    unseen_kinds: str | None = None
    """A benchmark of kinds of rejected answers that only Figure 3's judge is trained on; null for none."""


class RewardModelTraining(Training):
    """Bradley-Terry reward models, trained with TRL (paper: learning rate 1.0e-5, gradient checkpointing, no
    lora)."""

    warmup_ratio: ClassVar[float] = 0.1  # share of the steps in which the learning rate rises (paper: 0.1)
    lr_scheduler: ClassVar[str] = "cosine"  # of transformers' SchedulerType (paper: cosine)
    epochs: Positive
    """Passes over the pairs (paper: 1, over 86,000 pairs)."""
    batch_size: Count
    """Requests per device and step, each with all its pairs (paper: 8, of one pair)."""
    gradient_accumulation: Count = 1
    """Steps per update (paper: 4, on 4 devices)."""
    max_length: Count
    """Tokens, truncated on the left (paper: 2048)."""
    center_rewards_coefficient: FromZero | None = 0.01
    """Pulls rewards to mean zero; null for none (TRL recommends 0.01; paper: null)."""
    optimizer: str = "adamw_torch"
    """A name of transformers' OptimizerNames (paper: paged_adamw_8bit)."""
    save_every: Count = 25
    """Steps between checkpoints."""
    cache_frozen_layers: bool = True
    """Run the layers below the adapters once per text, not in every epoch; needs lora (paper: false)."""
    token_budget: Count | None = 512
    """Tokens in one forward pass, which runs a prompt once for all answers; null for a batch at once, each
    conversation by itself (paper: null)."""
    pooling: Literal["last", "answer"] = "last"
    """What the reward is read from: the last token (paper), or the mean over the answer's tokens."""
    depth: dict[str, Count] | None = None
    """{base: how many of its lowest layers reward models are made of}; whole where a base is not named, or
    null (paper: null)."""

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

    temperature: Positive
    """Sampling temperature."""
    top_k: Count = 50
    """Sample from this many of the most probable tokens."""
    max_new_tokens: Count
    """Tokens of a response."""
    batch_size: Count = 32
    """Responses at a time."""


class Sft(PolicyTraining):
    """First the policy learns to answer, on chosen answers of every language."""

    rows: Count
    """Train rows per language."""


class Dpo(PolicyTraining):
    """Direct preference optimisation (paper: 1 epoch, learning rate 5.0e-7, batch 1, accumulation 8 on 4
    devices, no lora)."""

    optimizer: str = "adamw_torch"
    """A name of transformers' OptimizerNames (paper: paged_adamw_8bit)."""
    beta: Positive = 0.1
    """Weight of the KL divergence to the policy before DPO (paper: 0.1)."""


class Alignment(Section):
    """Figure 3: does a policy get better by pairs that a reward model labelled?"""

    policy: str
    """Base of the policy: a name in workflow/catalog/models.yaml (paper: Qwen2.5-7B-Instruct)."""
    reward_base: str
    """One of bases, whose reward models label the pairs."""
    languages: Names
    """Some of target_languages (paper: es, it, ko, zh)."""
    prompt_data: str | None = None
    """A name in workflow/catalog/datasets.yaml; null for the dev rows, which no reward model that labels was
    trained on (paper: UltraFeedback)."""
    prompts: Count
    """Prompts per language (paper: 10,000)."""
    responses: Annotated[int, Field(ge=2)]
    """Responses sampled per prompt; the best and the worst make a pair (paper: 4)."""
    instructions: str
    """Held-out instructions, with answers: a name in workflow/catalog/datasets.yaml (paper: X-AlpacaEval)."""
    max_instructions: Annotated[int, Field(ge=2)] | None = None
    """So many of them, drawn by hash; null for all (paper: null)."""
    reference: str | None = None
    """A generative reward model of workflow/catalog/reward_models.yaml that writes reference answers where
    instructions bring none (paper: GPT-4-Turbo)."""
    runs: Count = 1
    """Times that each policy answers the instructions, with other seeds (paper: 5)."""
    trainings: Count = 1
    """Trainings by DPO on each set of pairs, with other seeds; runs, a multiple of this, use them in turn
    (paper: 5)."""
    judge: str | None = None
    """A reward model of workflow/catalog/reward_models.yaml; null for one of reward_base in each language, on
    templates of the pool that no other reward model is trained on (paper: GPT-4o)."""
    sampling: Sampling
    """How the responses are sampled."""
    sft: Sft | None
    """Supervised training before DPO; null for a policy that already answers (paper: null)."""
    dpo: Dpo
    """Direct preference optimisation on the labelled pairs."""


class Gate(Section):
    """Is the instrument working? The source-language reward model must beat length."""

    base: str
    """One of bases."""
    seeds: Count
    """Reward models of different seeds whose mean is tested."""
