"""A configured translation engine, and what its jobs need."""

from dataclasses import dataclass

from polyreward.config.languages import CATALOG
from polyreward.config.scale import Scale


@dataclass(frozen=True)
class Engine:
    """One of config.yaml's translation.engines, by name."""

    scale: Scale
    name: str

    @property
    def entry(self) -> dict:
        """Its settings: kind `gettext` with catalogs, or `lm` or `seq2seq` with a model, or one for each
        language."""
        return self.scale.config["translation"]["engines"][self.name]

    @property
    def is_lm(self) -> bool:
        """Does a language model translate?"""
        return "model" in self.entry

    def models(self, language: str) -> list[str]:
        """Return the models that translate into a language; none for catalogs and for the source language."""
        if language == self.scale.source or not self.is_lm:
            return []
        model = self.entry["model"]
        return [model[language] if isinstance(model, dict) else model]

    def file(self, language: str) -> str | list[str]:
        """Return what a translation into a language reads beside the rows: a catalog, or a model's folder; []
        for the source."""
        if language == self.scale.source:
            return []
        if not self.is_lm:
            folder = self.scale.config["language_folders"].get(language)
            return f"{folder}/{CATALOG}" if folder else f"{self.entry['catalogs']}/{language}.po"
        (model,) = self.models(language)
        return self.scale.base_folder(model)

    def settings(self, language: str) -> dict:
        """Return how it translates into a language; a model computes in the precision of all, a catalog may
        have a part."""
        if self.is_lm:
            return {**self.entry, "dtype": self.scale.precision}
        return {**self.entry, "part": True} if self.scale.covers_part(language) else self.entry

    @property
    def serve(self) -> dict | None:
        """How its model is served; None for transformers, and for catalogs."""
        return self.scale.serve if self.is_lm else None


def engine_of(scale: Scale, language: str) -> Engine:
    """Return the engine that translates all data into a language: the one for all, or the language's own."""
    engine = scale.config["translation"]["engine"]
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
    data = scale.config["translation"]["quality_data"]
    return scale.paths.prepared(data) if data == "dev" else scale.paths.translated(data, scale.source)
