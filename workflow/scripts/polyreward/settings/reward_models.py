"""Entries of reward models: those of config.yaml, and of workflow/catalog/reward_models.yaml."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from polyreward.core.kinds import REWARD_KINDS
from polyreward.settings.base import URL, Count, CountFromZero, PlainName, Positive, Section, Share, optional

KINDS = list(REWARD_KINDS)
PLACES = ("model", "path", "hub", "think_as_locals")
HUB_ID = r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?$"
JUDGE_TEMPLATE = r"\{prompt\}[\s\S]*\{(answers|lettered)\}|\{(answers|lettered)\}[\s\S]*\{prompt\}"


class Source(Section):
    """Where a model is: exactly one of model, path, hub and think_as_locals."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [place]} for place in PLACES]})

    model: str = optional()
    """A name in workflow/catalog/models.yaml."""
    path: str = optional()
    """A folder that transformers can load."""
    hub: str = optional(pattern=HUB_ID)
    """An id of the Hugging Face hub; pin its revision."""
    think_as_locals: str = optional()
    """A judge that is trained here: warmup, or one of think_as_locals.runs."""
    revision: str = optional()
    """Commit of the hub's repository."""
    parameters_b: Positive = optional()
    """Billions of parameters, for jobs' memory."""
    gpus: Count = optional()
    """GPUs that it is spread over, where one is too small; {gpus} in devices.serve.command."""

    @model_validator(mode="after")
    def _one_place(self):
        if len(self.model_fields_set.intersection(PLACES)) != 1:
            raise PydanticCustomError(
                "place",
                "must have exactly one of model, path, hub and think_as_locals, which say where it is",
            )
        return self


class Scored(Source):
    """A model that scores by itself."""

    dtype: Literal["float32", "bfloat16"] = optional()
    """What this model computes in, where that is not `precision`."""
    max_length: Count = optional()
    """Tokens, truncated on the left, where that is not scoring.max_length."""
    attention: str = optional()
    """transformers' implementation, where that is not sdpa, with which the prompt that answers share is run
    once."""


class Classifier(Scored):
    """A sequence classifier, whose output is the reward."""

    kind: Literal["classifier"]
    """The output of a sequence classifier is the reward."""
    remote_code: bool = optional()
    """Run the model's own Python code; a hub model's needs a revision."""


class Implicit(Scored):
    """A language model whose log-likelihoods are the reward."""

    kind: Literal["implicit"]
    """Log-likelihood, or with a reference the log-ratio of a DPO policy, is the reward."""
    reference: Source = optional()
    """The model that the policy was trained from; left out: its log-likelihood."""
    beta: Positive = optional()
    """Factor of the log-ratio; 0.1 where it is left out."""


class Asked(Section):
    """How a judge is asked."""

    template: str = optional(pattern=JUDGE_TEMPLATE)
    """The question; {prompt} is replaced by the prompt, {answers} or {lettered} by the answers."""
    question: str = optional()
    """A question of workflow/catalog/judge_questions.yaml about each two answers, instead of `template`, on
    RewardBench and in alignment. With verdict: text, the answer that the reply names wins. With labels, the
    probabilities of both names count, as in AlpacaEval; the reply must be only a name."""
    max_new_tokens: Count = optional()
    """Tokens of a reply; 512 where it is left out."""


class LocalJudge(Scored, Asked):
    """A language model that is asked which answer is better."""

    kind: Literal["generative"]
    """A language model is asked which answer is better."""
    verdict: Literal["labels", "text", "criteria", "no-criteria"] = optional()
    """What of its reply counts: the probabilities of its labels (where it is left out), its text, or a text
    in the layout of Think-as-Locals."""


class Server(Section):
    """A server with the API of OpenAI."""

    url: str = Field(pattern=URL)
    """Where its API starts, such as https://api.openai.com/v1. It holds no key: api_key_variable names it."""
    model: str
    """The server's name of the model."""
    concurrency: Count = optional()
    """Requests at a time; 8 where it is left out."""
    timeout_s: Positive = optional()
    """Seconds that one request may take; 120 where it is left out."""
    retries: CountFromZero = optional()
    """How often a request is repeated; 5 where it is left out."""
    api_key_variable: str = optional()
    """Environment variable that holds the API key; JUDGE_API_KEY where it is left out."""
    seed: CountFromZero = optional()
    """Seed that is sent with each request; 42 where it is left out."""
    answers_as: str = optional()
    """The model that replies name, where it is not `model` or a dated version of it."""
    unusable_share: Share = optional()
    """Share of the replies that may be kept back by a content filter, cut short or empty, and then have no
    verdict. 0 where it is left out: any of them ends the job."""


class ServerJudge(Asked):
    """A judge on a server."""

    kind: Literal["generative"]
    """A language model on a server is asked which answer is better."""
    verdict: Literal["labels", "text"] = optional()
    """What of its reply counts: the probabilities of its labels (where it is left out), or its text."""
    server: Server
    """Where the judge answers, instead of model, path, hub or think_as_locals."""


def _kind(entry: Any) -> str:
    """Return the tag of an entry's class, which an unknown kind has none of."""
    kind = (entry.get("kind") if isinstance(entry, dict) else getattr(entry, "kind", None)) or ""
    if kind == "generative":
        there = "server" in entry if isinstance(entry, dict) else isinstance(entry, ServerJudge)
        return "<judge on a server>" if there else "<judge>"
    return f"<{kind}>"


Judge = Annotated[
    Annotated[LocalJudge, Tag("<judge>")] | Annotated[ServerJudge, Tag("<judge on a server>")],
    Discriminator(_kind, custom_error_type="kind", custom_error_message="needs `kind: generative`"),
]
RewardModel = Annotated[
    Annotated[Classifier, Tag("<classifier>")]
    | Annotated[Implicit, Tag("<implicit>")]
    | Annotated[LocalJudge, Tag("<judge>")]
    | Annotated[ServerJudge, Tag("<judge on a server>")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message=f"`kind` has to be {', '.join(KINDS[:-1])} or {KINDS[-1]}",
    ),
]
RewardModels = dict[PlainName, RewardModel]


def as_entry(model: Section) -> dict:
    """Return a reward model's section as the catalog has it: only the keys that are given."""
    return model.model_dump(exclude_unset=True)
