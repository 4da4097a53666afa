"""Where models lie, and what a job needs to load them, by their entries in settings and catalogs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import yaml

from polyreward.core.codehash import code_at
from polyreward.core.naming import ModelName, hub_name, stage
from polyreward.core.yaml_files import read_yaml
from polyreward.scoring.families import loader_of
from polyreward.settings.messages import Places, parsed_settings
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import as_entry
from polyreward.sheet.catalogs import Catalog, Project, read_catalogs
from polyreward.sheet.languages import with_folders

# Keys of an entry that say where a model is from, or that loading has no use for
NOT_LOADED = ("path", "hub", "model", "think_as_locals", "revision", "parameters_b")


@dataclass(frozen=True)
class Models:
    """A scale's settings and catalogs, and where its models lie by them.

    An entry is a reward model's, of config.yaml or of workflow/catalog/reward_models.yaml."""

    settings: Settings
    catalog: Catalog

    def base(self, name: str) -> str:
        """Return the folder of a model of models.yaml: where it was fetched, or made with random weights."""
        random = self.catalog.models[name]["source"]["kind"] == "random"
        return stage(self.settings.results, "prepared" if random else "sources", f"models/{name}")

    def reward_base(self, name: str) -> str:
        """Return the folder of a base as reward models start from it: of its lowest layers, or whole."""
        cut = name in (self.settings.reward_model.depth or {})
        return stage(self.settings.results, "models", f"cut_bases/{name}") if cut else self.base(name)

    @cached_property
    def hub(self) -> dict[tuple[str, str], tuple[str, str]]:
        """{(model or dataset, name in files): (repository, revision)} of all that may be fetched."""
        sources = [
            *(("dataset", entry) for entry in self.catalog.datasets.values()),
            *(("model", model["source"]) for model in self.catalog.models.values()),
        ]
        found = [
            *((kind, one["id"], one["revision"]) for kind, one in sources if one["kind"] == "hub"),
            *(("model", *_at(entry)) for _, entry in self._named if "hub" in entry),
        ]
        return {
            (kind, hub_name(repository, revision)): (repository, revision)
            for kind, repository, revision in found
        }

    @cached_property
    def hub_entries(self) -> dict[tuple[str, str], dict[str, dict]]:
        """{(repository, revision): {name: entry}} of reward models, generators and embeddings of the hub."""
        found: dict[tuple[str, str], dict[str, dict]] = {}
        for name, entry in self._named:
            if "hub" in entry:
                found.setdefault(_at(entry), {})[name] = entry
        return found

    @property
    def _named(self) -> list[tuple[str, dict]]:
        """Name and entry of each ready-made model, and of its reference."""
        sections = {**self.settings.reward_models, **self.settings.carb.generators}
        named = [
            *self.catalog.reward_models.items(),
            *((name, as_entry(one)) for name, one in sections.items()),
        ]
        return [*named, *((name, one["reference"]) for name, one in named if "reference" in one)]

    def revision(self, kind: str, source: dict) -> list[str]:
        """Return the record of the commit at which a source of the hub is used; no file for any other source.

        Args:
            kind: model or dataset.
            source: a dataset's entry, or the `source` of one of models.yaml.
        """
        if source["kind"] != "hub":
            return []
        name = hub_name(source["id"], source["revision"])
        return [stage(self.settings.results, "sources", f"revisions/{kind}/{name}.yaml")]

    def source(self, entry: dict) -> str | None:
        """Return the folder of an entry's model; None where a server has it."""
        if "path" in entry:
            return str(entry["path"])
        if "hub" in entry:
            return stage(self.settings.results, "sources", f"hub/{hub_name(*_at(entry))}")
        if "model" in entry:
            return self.base(entry["model"])
        judge = entry.get("think_as_locals")
        return stage(self.settings.results, "models", f"locals/{judge}") if judge else None

    def folders(self, entry: dict) -> list[str]:
        """Return the folders of a reward model and its reference, and the file of a fetched question."""
        found = [self.source(entry), self.source(entry.get("reference", {}))]
        if self.is_fetched(entry.get("question")):
            found.append(self._question_file(entry["question"]))
        return [path for path in found if path is not None]

    def loadable(self, entry: dict) -> dict:
        """Return an entry, and its reference's, as load_reward_model takes them."""
        found = self._loadable(entry)
        return {**found, "reference": self._loadable(entry["reference"])} if "reference" in entry else found

    def _loadable(self, entry: dict) -> dict:
        """Return an entry with its folder as `source`, how it is served, and the hash of its kind's code."""
        source, serve = self.source(entry), self.settings.devices.serve
        found = {key: value for key, value in entry.items() if key not in NOT_LOADED}
        if source is not None:
            found["source"] = source
            if serve and entry.get("verdict") == "text":
                found["serve"] = serve
        if "question" in found:
            found["question"] = self.question(found["question"])
        if "kind" in found:
            found["code"] = code_at(loader_of(found))
        return found

    def question(self, name: str) -> dict | str:
        """Return a question to judges: a user's, the file of its published words, or the catalog's entry."""
        own = self.settings.judge_questions.get(name)
        if own:
            return yaml.safe_load(Path(own).read_text(encoding="utf-8"))
        return self._question_file(name) if self.is_fetched(name) else self.catalog.judge_questions[name]

    def is_fetched(self, question: str | None) -> bool:
        """Tell whether a question's words are fetched."""
        settings = self.settings
        return (
            settings.judge_wordings == "published"
            and question in self.catalog.judge_wordings
            and question not in settings.judge_questions
        )

    def _question_file(self, name: str) -> str:
        return stage(self.settings.results, "sources", f"judge_questions/{name}.yaml")

    @property
    def policy_start(self) -> str:
        """The folder of Figure 3's policy before DPO: after supervised training, where there is some."""
        alignment = self.settings.alignment
        trained = stage(self.settings.results, "models", "policies/sft")
        return trained if alignment.sft else self.base(alignment.policy)

    def alignment_judge(self, language: str) -> dict:
        """Return the entry of the reward model that judges Figure 3's policies in a language."""
        alignment = self.settings.alignment
        if alignment.judge:
            return self.catalog.reward_models[alignment.judge]
        judge = ModelName(alignment.reward_base, language)
        return {"kind": "classifier", "path": stage(self.settings.results, "models", f"judges/{judge}")}


def _at(entry: dict) -> tuple[str, str]:
    return entry["hub"], entry.get("revision", "main")


def read_models(configfiles: Sequence[str], root: Path) -> Models:
    """Return the settings of config.yaml with overlays, as Snakemake merges them, and catalogs below root.

    Raises PolyrewardError where a file is missing or a value's type is wrong; no more is checked."""
    from snakemake.utils import update_config

    files, config = [root / path for path in ("config.yaml", *configfiles)], {}
    for path in files:
        update_config(config, read_yaml(path))
    settings = parsed_settings(config, Places(files[::-1]))
    return Models(settings, read_catalogs(Project(root), settings.language_folders, root))


def with_language(models: Models, language: str, folder: str, root: Path) -> Models:
    """Return the same for one target language, which brings a folder of its own below root."""
    folders = {language: folder}
    changes = {"target_languages": [language], "language_folders": folders}
    languages = with_folders(models.catalog.languages, folders, root)
    return Models(models.settings.model_copy(update=changes), replace(models.catalog, languages=languages))
