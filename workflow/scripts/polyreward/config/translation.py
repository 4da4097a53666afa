"""A configured translation engine, and what its jobs need."""

from dataclasses import dataclass

from polyreward.config.languages import CATALOG
from polyreward.config.scale import Scale
from polyreward.settings.transfer import GettextEngine, LmEngine, Seq2seqEngine


@dataclass(frozen=True)
class Engine:
    """One of translation.engines, as it translates into a language; released: rows are there in it."""

    scale: Scale
    name: str
    language: str
    released: bool = False

    @property
    def settings(self) -> GettextEngine | LmEngine | Seq2seqEngine:
        """Its section."""
        return self.scale.settings.translation.engines[self.name]

    @property
    def is_lm(self) -> bool:
        """Whether a language model translates."""
        return self.settings.kind != "gettext"

    @property
    def _is_unused(self) -> bool:
        return self.released or self.language == self.scale.settings.source_language

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
            return self.scale.base_folder(*self.models)
        folder = self.scale.settings.language_folders.get(self.language)
        return f"{folder}/{CATALOG}" if folder else f"{self.settings.catalogs}/{self.language}.po"

    @property
    def arguments(self) -> dict:
        """How it translates, as the script translated_rows takes it."""
        if not self.is_lm:
            return {"engine": self.settings, "part": self.scale.covers_part(self.language)}
        settings = self.scale.settings
        how = {"precision": settings.precision, "serve": settings.devices.serve}
        return {"engine": self.settings, **how}


def engine_of(scale: Scale, language: str, rowset: str | None = None) -> Engine:
    """Return the engine that translates into a language; rowset: as Scale.released has it."""
    engine = scale.settings.translation.engine
    name = engine if isinstance(engine, str) else engine.get(language, engine.get("default"))
    return Engine(scale, name, language, rowset is not None and scale.released(rowset, language))


def languages_brought(scale: Scale, dataset: str) -> list[str]:
    """Return the scale's languages that passages or instructions bring."""
    return [one for one in scale.languages if one in scale.known.datasets[dataset]["languages"]]


def languages_translated(scale: Scale, dataset: str) -> list[str]:
    """Return the others, into which an engine translates them."""
    return [one for one in scale.languages if one not in scale.known.datasets[dataset]["languages"]]


def quality_rows(scale: Scale) -> str:
    """Return the rows of which each engine translates a sample: the pool's dev rows, or the passages."""
    if scale.settings.translation.quality_data == "dev":
        return scale.paths.prepared("dev")
    return scale.paths.translated("passages", scale.settings.source_language)
