"""A configured translation engine, and what its jobs need."""

from dataclasses import dataclass

from polyreward.running.scale import Scale


@dataclass(frozen=True)
class Engine:
    """One of config.yaml's translation.engines, by name."""

    scale: Scale
    name: str

    @property
    def entry(self) -> dict:
        """Its settings: kind `gettext` with catalogs, or kind `lm` with a model, or one for each language."""
        return self.scale.config["translation"]["engines"][self.name]

    @property
    def is_lm(self) -> bool:
        """Does a language model translate?"""
        return self.entry["kind"] == "lm"

    def models(self, language: str) -> list[str]:
        """Return the models that translate into a language; none for catalogs and for the source language."""
        if language == self.scale.source or not self.is_lm:
            return []
        model = self.entry["model"]
        return [model[language] if isinstance(model, dict) else model]

    def file(self, language: str) -> str | list[str]:
        """Return what a translation into a language reads beside the rows: a catalog, or a model's folder; [] for the source."""
        if language == self.scale.source:
            return []
        if not self.is_lm:
            return f"{self.entry['catalogs']}/{language}.po"
        (model,) = self.models(language)
        return self.scale.base_folder(model)

    @property
    def settings(self) -> dict:
        """How it translates; a model computes in the precision of all."""
        return {**self.entry, "dtype": self.scale.precision} if self.is_lm else self.entry

    @property
    def serve(self) -> dict | None:
        """How its model is served; None for transformers, and for catalogs."""
        return self.scale.serve if self.is_lm else None


def engine_of(scale: Scale) -> Engine:
    """Return the engine that translates training and evaluation data."""
    return Engine(scale, scale.config["translation"]["engine"])


def quality_rows(scale: Scale) -> str:
    """Return the rows of which each engine translates a sample: the pool's dev rows, or the passages."""
    data = scale.config["translation"]["quality_data"]
    return scale.paths.prepared(data) if data == "dev" else scale.paths.translated(data, scale.source)
