"""What all sections of the settings share: their base class, the types of their values, and adapters."""

from collections import Counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """A section of config.yaml, in which the text below a key says what it means.

    An unknown key is an error, and no value is converted."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


def _distinct(values: list) -> list:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise PydanticCustomError("repeated", "has `{name}` more than once; leave one", {"name": twice[0]})
    return values


DISTINCT = AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True})  # of a list
# It names files, too. No underscore: that is how a reward model trained here differs.
PLAIN = r"^[A-Za-z0-9][A-Za-z0-9.-]*$"
URL = (  # without a user, a password, a ?query and a #fragment, in which keys hide
    r"^https?://[^\s/?#@]+(/[^\s?#@]*)?$"
)

Count = Annotated[int, Field(ge=1)]
CountFromZero = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
FromZero = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
PlainName = Annotated[str, Field(pattern=PLAIN)]
NamesOrNone = Annotated[list[str], *DISTINCT]
Names = Annotated[list[str], Field(min_length=1), *DISTINCT]
Languages = Annotated[list[Language], Field(min_length=2), *DISTINCT]
Seeds = Annotated[list[Count], Field(min_length=1), *DISTINCT]


def optional(**constraints: Any) -> Any:
    """Return a field that may be left out, but whose value is never null."""
    return Field(default=None, json_schema_extra=lambda schema: schema.pop("default"), **constraints)


class Lora(Section):
    """Low-rank adapters; null trains all weights."""

    rank: Count = 8
    """Rank of the adapters, as in peft."""
    alpha: Count = 16
    """Scale of the adapters, as in peft."""
    top_layers: Count
    """How many of the top decoder layers get adapters."""


class Training(Section):
    """What all trainings have."""

    learning_rate: Positive
    """The highest one."""
    gradient_checkpointing: bool = False
    """Recompute activations: less memory, more time."""
    lora: Lora | None
    """Adapters on the top decoder layers; null for full fine-tuning."""


class GrpoTraining(Training):
    """Training by group relative policy optimisation."""

    steps: Count
    """Updates."""
    generations: Annotated[int, Field(ge=2)]
    """Replies to a prompt; their rewards are normalised together."""
    iterations: Count = 1
    """Updates on the same replies."""
    warmup_ratio: Share = 0.0
    """Share of all steps in which the learning rate rises."""
    lr_scheduler: str = "constant"
    """Schedule of the learning rate: a name of transformers' SchedulerType."""
    batch_size: Count
    """Replies per device and forward pass."""
    gradient_accumulation: Count = 1
    """Forward passes per update; together they hold all replies to a prompt."""
    max_length: Count
    """Tokens of a prompt; longer ones are left out."""
    max_new_tokens: Count
    """Tokens of a reply."""
    temperature: Positive
    """Sampling temperature."""
    scale_rewards: Literal["group", "batch", "none"] = "batch"
    """Whose standard deviation rewards minus their group's mean are divided by."""
    beta: FromZero = 0.04
    """Weight of the KL divergence to the model before GRPO."""
    save_every: Count = 4
    """Updates between checkpoints, a multiple of iterations."""
    vllm: bool = False
    """Generate with vLLM inside the training's processes (scale paper: true)."""
    vllm_gpu_share: Share = 0.3
    """Share of each GPU's memory that vLLM takes, its copy of the weights included."""
    vllm_tensor_parallel: Count = 1
    """GPUs that vLLM spreads a copy of the weights over; divides the number of processes."""


class PolicyTraining(Training):
    """What supervised training and DPO share."""

    warmup_ratio: ClassVar[float] = 0.1  # share of all steps in which the learning rate rises
    lr_scheduler: ClassVar[str] = "cosine"  # of transformers' SchedulerType (paper, of DPO: cosine)

    epochs: Positive = 1.0
    """Passes over the training data."""
    batch_size: Count = 4
    """Examples per device and step."""
    gradient_accumulation: Count = 2
    """Steps per update."""
    max_length: Count
    """Tokens; longer examples are left out."""
    save_every: Count = 10
    """Steps between checkpoints."""


class Serve(Section):
    """A server that each job starts for its model and ends."""

    command: Annotated[list[str], Field(min_length=1)]
    """The command's words; {model} is the model's folder, {port} the port, {dtype} its precision, and {gpus}
    the number of GPUs that it is spread over."""
    startup_s: Positive
    """Seconds until it must answer."""
    concurrency: Count = 8
    """Requests at a time."""
    timeout_s: Positive
    """Seconds that one request may take."""
    retries: CountFromZero = 3
    """How often a request is repeated."""


class Candidates(Section):
    """Answers that policies give to the questions."""

    per_question: Annotated[int, Field(ge=2)]
    """Candidates per question (paper: 16)."""
    temperature: ClassVar[float] = 1.0
    max_new_tokens: Count
    """Tokens of a candidate."""
    chat: bool = False
    """Ask in the chat template (paper: true)."""
