"""Where models and data lie, and what a job needs to load them, by their entries in settings and catalogs."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from polyreward.config.scale import Scale
from polyreward.core.codehash import code_at
from polyreward.core.naming import hub_name
from polyreward.scoring.families import loader_of
from polyreward.settings.reward_models import as_entry

# Keys of an entry that say where a model is from, or that loading has no use for
NOT_LOADED = ("path", "hub", "model", "think_as_locals", "revision", "parameters_b")


@dataclass(frozen=True)
class ModelFiles:
    """The files of a scale's models."""

    scale: Scale

    @cached_property
    def hub(self) -> dict[tuple[str, str], tuple[str, str]]:
        """{(model or dataset, name in files): (repository, revision)} of all that may be fetched."""
        known = self.scale.known
        sources = [
            *(("dataset", entry) for entry in known.datasets.values()),
            *(("model", model["source"]) for model in known.models.values()),
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
        scale, carb = self.scale, self.scale.settings.carb
        named = [
            *scale.known.reward_models.items(),
            *scale.configured.items(),
            *((name, as_entry(one)) for name, one in carb.generators.items()),
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
        return [self.scale.paths.revision(kind, hub_name(source["id"], source["revision"]))]

    def source(self, entry: dict) -> str | None:
        """Return the folder of a reward model's entry; None where a server has the model."""
        paths = self.scale.paths
        if "path" in entry:
            return str(entry["path"])
        if "hub" in entry:
            return f"{paths.work}/1_sources/hub/{hub_name(*_at(entry))}"
        if "model" in entry:
            return self.scale.base_folder(entry["model"])
        return paths.locals_model(entry["think_as_locals"]) if "think_as_locals" in entry else None

    def loadable(self, entry: dict) -> dict:
        """Return a reward model's entry, and its reference's, as load_reward_model takes them."""
        found = self._loadable(entry)
        return {**found, "reference": self._loadable(entry["reference"])} if "reference" in entry else found

    def _loadable(self, entry: dict) -> dict:
        """Return an entry with its folder as `source`, how it is served, and the hash of its kind's code."""
        source, serve = self.source(entry), self.scale.settings.devices.serve
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
        own = self.scale.settings.judge_questions.get(name)
        if own:
            return yaml.safe_load(Path(own).read_text(encoding="utf-8"))
        if self.is_fetched(name):
            return self.scale.paths.judge_question(name)
        return self.scale.known.judge_questions[name]

    def is_fetched(self, question: str | None) -> bool:
        """Tell whether a question's words are fetched."""
        settings, known = self.scale.settings, self.scale.known
        return (
            settings.judge_wordings == "published"
            and question in known.judge_wordings
            and question not in settings.judge_questions
        )

    def folders(self, entry: dict) -> list[str]:
        """Return the folders of a reward model and its reference, and the file of a fetched question."""
        found = [self.source(entry), self.source(entry.get("reference", {}))]
        if self.is_fetched(entry.get("question")):
            found.append(self.scale.paths.judge_question(entry["question"]))
        return [path for path in found if path is not None]

    def items(self, dataset: str) -> str:
        """Return the file of a dataset's items: people's own, or what was fetched."""
        return self.scale.known.datasets[dataset].get("path", self.scale.paths.dataset(dataset))


def _at(entry: dict) -> tuple[str, str]:
    return entry["hub"], entry.get("revision", "main")
