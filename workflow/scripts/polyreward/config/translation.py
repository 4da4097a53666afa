"""A configured translation engine, and what its jobs need."""

from dataclasses import dataclass

from polyreward.config.languages import CATALOG
from polyreward.config.scale import Scale
from polyreward.settings.transfer import GettextEngine, LmEngine, Seq2seqEngine


@dataclass(frozen=True)
class Engine:
    """One of config.yaml's translation.engines, by name."""

    scale: Scale
    name: str

    @property
    def settings(self) -> GettextEngine | LmEngine | Seq2seqEngine:
        """Its section."""
        return self.scale.settings.translation.engines[self.name]

    @property
    def is_lm(self) -> bool:
        """Does a language model translate?"""
        return not isinstance(self.settings, GettextEngine)

    def models(self, language: str) -> list[str]:
        """Return the models that translate into a language; none for catalogs and for the source language."""
        if language == self.scale.settings.source_language or not self.is_lm:
            return []
        model = self.settings.model
        return [model[language] if isinstance(model, dict) else model]

    def file(self, language: str) -> str | list[str]:
        """Return what a translation reads next to the rows: a catalog, or a model's folder; [] for the source
        language."""
        if language == self.scale.settings.source_language:
            return []
        if not self.is_lm:
            folder = self.scale.settings.language_folders.get(language)
            return f"{folder}/{CATALOG}" if folder else f"{self.settings.catalogs}/{language}.po"
        (model,) = self.models(language)
        return self.scale.base_folder(model)

    def arguments(self, language: str) -> dict:
        """Return how it translates into a language, as the script translated_rows takes it."""
        if self.is_lm:
            return {
                "engine": self.settings,
                "precision": self.scale.settings.precision,
                "serve": self.scale.settings.devices.serve,
            }
        return {"engine": self.settings, "part": self.scale.covers_part(language)}


def engine_of(scale: Scale, language: str) -> Engine:
    """Return the engine that translates all data into a language: the one for all, or the language's own."""
    engine = scale.settings.translation.engine
    return Engine(scale, engine if isinstance(engine, str) else engine.get(language, engine.get("default")))


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
