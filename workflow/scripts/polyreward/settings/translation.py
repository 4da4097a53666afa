"""Settings of translation: engines, and which languages they serve."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from polyreward.settings.base import Count, Language, Names, Section


class GettextEngine(Section):
    """Translation by .po catalogs."""

    kind: Literal["gettext"]
    """Catalogs of translations (.po files)."""
    catalogs: str
    """Folder of <language>.po."""


def _per_language(value: Any) -> str:
    return "<per language>" if isinstance(value, dict) else "<one>"


ModelNames = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[dict[str, str], Field(min_length=1), Tag("<per language>")],
    Discriminator(_per_language),
]
Unit = Literal["text", "line", "sentence"]


class ModelEngine(Section):
    """Translation by a model."""

    model: ModelNames
    """A name in workflow/catalog/models.yaml, or one for each language: {es: name, ...}."""
    batch_size: Count = 16
    """Units at a time."""
    max_new_tokens: Count
    """Tokens per unit; what is cut there is tried again in smaller parts."""


class LmEngine(ModelEngine):
    """Translation by a language model."""

    kind: Literal["lm"]
    """A language model, and a prompt."""
    prompt: str = Field(pattern=r"\{text\}")
    """Template with {source} and {target}, the languages' names, and {text}."""
    chat: bool = False
    """Wrap the prompt in the model's chat template."""
    codes: ClassVar[None] = None
    unit: Unit = "line"
    """What is sent at a time, code apart; what fails is tried again in smaller ones (paper: text)."""


class Seq2seqEngine(ModelEngine):
    """Translation by a sequence-to-sequence model that gets the languages as tokens, such as NLLB-200."""

    kind: Literal["seq2seq"]
    """A sequence-to-sequence model."""
    prompt: ClassVar[str] = "{text}"
    chat: ClassVar[bool] = False
    codes: dict[Language, str]
    """{language: the model's token for it}, the source language's too."""
    unit: Unit = "sentence"
    """What is sent at a time, code apart; what fails is tried again in smaller ones."""


def _engine(value: Any) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return f"<{kind}>" if kind in ("gettext", "lm", "seq2seq") else None


Engine = Annotated[
    Annotated[GettextEngine, Tag("<gettext>")]
    | Annotated[LmEngine, Tag("<lm>")]
    | Annotated[Seq2seqEngine, Tag("<seq2seq>")],
    Discriminator(
        _engine, custom_error_type="kind", custom_error_message="`kind` has to be gettext, lm or seq2seq"
    ),
]


class Translation(Section):
    """How training and evaluation data are translated, and how well."""

    engine: ModelNames
    """Which of the engines translates data, or one for each language: {default: name, fr: name} (paper:
    X-ALMA)."""
    engines: dict[str, Engine]
    """Engines by name."""
    quality_data: Literal["dev", "passages"] = "dev"
    """What translation_quality.csv compares: the pool's dev rows, with the engine's own translation, or
    passages."""
    quality_engines: Names
    """Engines in translation_quality.csv."""
    quality_rows: Count
    """Rows that each of them translates."""
