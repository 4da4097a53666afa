"""What all sections of the settings share: their base class, the types of their values, and adapters."""

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError, core_schema


class Section(BaseModel):
    """A section of config.yaml, in which the text below a key says what it means.

    An unknown key is an error, and no value is converted: rules read what the file says.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class Distinct:
    """Marks a list in which nothing appears twice."""

    def __get_pydantic_core_schema__(self, source, handler):
        """Return how pydantic checks it."""
        return core_schema.no_info_after_validator_function(_distinct, handler(source))

    def __get_pydantic_json_schema__(self, schema, handler):
        """Return how a JSON schema says it."""
        return {**handler(schema), "uniqueItems": True}


def _distinct(values: list) -> list:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise PydanticCustomError("repeated", "has `{name}` more than once; leave one", {"name": twice[0]})
    return values


LANGUAGE = r"^[a-z]{2,3}$"
# A file's name, too, so that it begins with a letter or digit. No underscore: that is how a reward model
# trained here differs.
PLAIN = r"^[A-Za-z0-9][A-Za-z0-9.-]*$"
URL = (  # without a user, a password, a ?query and a #fragment, in which keys hide
    r"^https?://[^\s/?#@]+(/[^\s?#@]*)?$"
)

Count = Annotated[int, Field(ge=1)]
CountFromZero = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
FromZero = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Language = Annotated[str, Field(pattern=LANGUAGE)]
PlainName = Annotated[str, Field(pattern=PLAIN)]
NamesOrNone = Annotated[list[str], Distinct()]
Names = Annotated[list[str], Field(min_length=1), Distinct()]
Languages = Annotated[list[Language], Field(min_length=2), Distinct()]
Seeds = Annotated[list[Count], Field(min_length=1), Distinct()]


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


class GrpoTraining(Section):
    """Training by group relative policy optimisation."""

    steps: Count
    """Updates."""
    generations: Annotated[int, Field(ge=2)]
    """Replies to a prompt; their rewards are normalised together."""
    iterations: Count = 1
    """Updates on the same replies."""
    learning_rate: Positive
    """The highest learning rate."""
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
    """Standard deviation by which rewards minus their group's mean are divided: that of the group or of the
    batch, or none."""
    beta: FromZero = 0.04
    """Weight of the KL divergence to the model before GRPO."""
    epsilon: Positive = 0.2
    """The ratio to the policy that wrote the replies is clipped to 1 +- this."""
    gradient_checkpointing: bool = False
    """Recompute activations: less memory, more time."""
    save_every: Count = 4
    """Updates between checkpoints, from which a killed run resumes; a multiple of iterations."""
    vllm: bool = False
    """Generate with vLLM inside the training's processes; an extra of its own (scale paper: true)."""
    vllm_gpu_share: Share = 0.3
    """Share of each GPU's memory that vLLM takes, its copy of the weights included."""
    vllm_tensor_parallel: Count = 1
    """GPUs that vLLM spreads a copy of the weights over; divides the number of processes."""
    vllm_sleep: bool = True
    """vLLM gives its memory back while weights are updated."""
    lora: Lora | None
    """Low-rank adapters; null for full fine-tuning."""


class PolicyTraining(Section):
    """What supervised training and DPO share."""

    epochs: Positive = 1.0
    """Passes over the training data."""
    learning_rate: Positive
    """The highest learning rate."""
    warmup_ratio: Share = 0.1
    """Share of all steps in which the learning rate rises."""
    lr_scheduler: str = "cosine"
    """Schedule of the learning rate: a name of transformers' SchedulerType."""
    batch_size: Count = 4
    """Examples per device and step."""
    gradient_accumulation: Count = 2
    """Steps per update."""
    max_length: Count
    """Tokens; longer examples are left out."""
    gradient_checkpointing: bool = False
    """Recompute activations: less memory, more time."""
    save_every: Count = 10
    """Steps between checkpoints, from which a killed run resumes."""
    lora: Lora | None
    """Low-rank adapters; null for full fine-tuning."""
