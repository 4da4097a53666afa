"""A configured translation engine, and what its jobs need."""

from dataclasses import dataclass

from polyreward.config.languages import CATALOG
from polyreward.config.scale import Scale
from polyreward.settings.transfer import GettextEngine, LmEngine, Seq2seqEngine


@dataclass(frozen=True)
class Engine:
    """One of config.yaml's translation.engines, by name, as it translates into a language.

    released: are the rows there in the language?
    """

    scale: Scale
    name: str
    language: str
    released: bool = False

    @property
    def unused(self) -> bool:
        """Is there nothing to translate?"""
        return self.released or self.language == self.scale.settings.source_language

    @property
    def settings(self) -> GettextEngine | LmEngine | Seq2seqEngine:
        """Its section."""
        return self.scale.settings.translation.engines[self.name]

    @property
    def is_lm(self) -> bool:
        """Does a language model translate?"""
        return not isinstance(self.settings, GettextEngine)

    @property
    def models(self) -> list[str]:
        """The models that translate; none for catalogs."""
        if self.unused or not self.is_lm:
            return []
        model = self.settings.model
        return [model[self.language] if isinstance(model, dict) else model]

    @property
    def file(self) -> str | list[str]:
        """What a translation reads next to the rows: a catalog, or a model's folder; [] for an unused
        engine."""
        if self.unused:
            return []
        if not self.is_lm:
            folder = self.scale.settings.language_folders.get(self.language)
            return f"{folder}/{CATALOG}" if folder else f"{self.settings.catalogs}/{self.language}.po"
        (model,) = self.models
        return self.scale.base_folder(model)

    @property
    def arguments(self) -> dict:
        """How it translates, as the script translated_rows takes it."""
        if self.is_lm:
            return {
                "engine": self.settings,
                "precision": self.scale.settings.precision,
                "serve": self.scale.settings.devices.serve,
            }
        return {"engine": self.settings, "part": self.scale.covers_part(self.language)}


def engine_of(scale: Scale, language: str, rowset: str | None = None) -> Engine:
    """Return the engine that translates all data into a language: the one for all, or the language's own.

    rowset: a set of rows that may have been released in the language, as Scale.released has it."""
    engine = scale.settings.translation.engine
    name = engine if isinstance(engine, str) else engine.get(language, engine.get("default"))
    return Engine(scale, name, language, rowset is not None and scale.released(rowset, language))


def languages_brought(scale: Scale, dataset: str) -> list[str]:
    """Return the scale's languages that passages or instructions bring; into the others an engine translates
    them."""
    return [
        language for language in scale.languages if language in scale.known.datasets[dataset]["languages"]
    ]


def languages_translated(scale: Scale, dataset: str) -> list[str]:
    """Return the scale's languages that passages or instructions do not bring."""
    return [language for language in scale.languages if language not in languages_brought(scale, dataset)]


def quality_rows(scale: Scale) -> str:
    """Return the rows of which each engine translates a sample: the pool's dev rows, or the passages."""
    data = scale.settings.translation.quality_data
    return (
        scale.paths.prepared(data)
        if data == "dev"
        else scale.paths.translated(data, scale.settings.source_language)
    )
