"""A configured translation engine, and what its jobs need."""

from dataclasses import dataclass

from polyreward.settings.translation import GettextEngine, LmEngine, Seq2seqEngine
from polyreward.sheet.data import is_released
from polyreward.sheet.entries import Models
from polyreward.sheet.languages import CATALOG


@dataclass(frozen=True)
class Engine:
    """One of translation.engines, as it translates into a language; released: rows are there in it."""

    models_of: Models
    name: str
    language: str
    released: bool = False

    @property
    def settings(self) -> GettextEngine | LmEngine | Seq2seqEngine:
        """Its section."""
        return self.models_of.settings.translation.engines[self.name]

    @property
    def is_lm(self) -> bool:
        """Whether a language model translates."""
        return self.settings.kind != "gettext"

    @property
    def _is_unused(self) -> bool:
        return self.released or self.language == self.models_of.settings.source_language

    @property
    def models(self) -> list[str]:
        """The models that translate; none for catalogs, or where there is nothing to translate."""
        if self._is_unused or not self.is_lm:
            return []
        model = self.settings.model
        return [model[self.language] if isinstance(model, dict) else model]

    @property
    def file(self) -> str | list[str]:
        """A catalog, or a model's folder; [] where there is nothing to translate."""
        if self._is_unused:
            return []
        if self.is_lm:
            return self.models_of.base(*self.models)
        folder = self.models_of.settings.language_folders.get(self.language)
        return f"{folder}/{CATALOG}" if folder else f"{self.settings.catalogs}/{self.language}.po"

    @property
    def arguments(self) -> dict:
        """How it translates, as the script translated_rows takes it."""
        if not self.is_lm:
            return {"engine": self.settings, "part": self.models_of.catalog.covers_part(self.language)}
        settings = self.models_of.settings
        how = {"precision": settings.precision, "serve": settings.devices.serve}
        return {"engine": self.settings, **how}


def engine_of(models: Models, language: str, rowset: str | None = None) -> Engine:
    """Return the engine that translates into a language; rowset: as data.is_released has it."""
    engine = models.settings.translation.engine
    name = engine if isinstance(engine, str) else engine.get(language, engine.get("default"))
    released = rowset is not None and is_released(models.settings, models.catalog, rowset, language)
    return Engine(models, name, language, released)
