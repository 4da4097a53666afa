"""What CARB's rules read and write: its scorers, how they are loaded, and the files of its cultures."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from polyreward.config.model_files import ModelFiles
from polyreward.config.scale import Scale
from polyreward.core.naming import ModelName, one_of
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.carb import Carb as CarbSettings
from polyreward.settings.reward_models import as_entry

PERTURBED_SETS = [
    "carb_perturbation",
    "carb_consistency",
]  # rewrites of right answers, and the same answers in all languages
TEXT_SCORERS = ["length", "script"]
PLOTTED = [
    "leaderboard",
    "correlation",
    "figure1",
    "figure2",
    "figure3",
    "figure5",
]  # what the notebook reads again


@dataclass(frozen=True)
class Carb:
    """The part of a scale that CARB is about; a scorer's kind is classifier, implicit, generative or
    baseline."""

    scale: Scale
    models: ModelFiles

    @property
    def settings(self) -> CarbSettings:
        """The section `carb` of the configuration."""
        return self.scale.settings.carb

    @cached_property
    def built_cultures(self) -> list[str]:
        """The cultures that references are put together for: those of the benchmark.

        Where its items are the user's own, references serve to train judges alone, and are of all cultures in
        culture_file."""
        if not self.settings.item_files:
            return self.settings.cultures
        return list(read_yaml(self.settings.culture_file)["cultures"])

    @property
    def built_domains(self) -> list[str]:
        """The domains of the references; those of all topics where items are the user's own, as in
        built_cultures."""
        topics = self.settings.topics
        if not self.settings.item_files or not topics:
            return self.settings.domains
        return sorted({path.stem.split("_")[0] for path in Path(topics).glob("*.yaml")})

    @cached_property
    def generators(self) -> dict[str, dict]:
        """{name: entry} of the models that write the answers."""
        return {name: as_entry(model) for name, model in self.settings.generators.items()}

    @cached_property
    def embedding(self) -> dict:
        """The entry of the model that compares texts."""
        settings = self.settings.embedding
        return {**as_entry(settings), "layers": settings.layers, "max_length": settings.max_length}

    @cached_property
    def knockouts(self) -> dict[str, str]:
        """{scorer that is a judge in a knock-out of pairs: that judge}."""
        return {f"{name}-knockout": name for name in self.settings.knockout}

    @cached_property
    def reward_models(self) -> dict[str, str]:
        """{reward model: kind} of all that CARB scores: trained, ready-made, and knock-outs."""
        ready_made = {name: entry["kind"] for name, entry in self.scale.ready_made.items()}
        trained = dict.fromkeys(self.scale.trained_models(), "classifier")
        return {**trained, **ready_made, **dict.fromkeys(self.knockouts, "generative")}

    @cached_property
    def scorers(self) -> dict[str, str]:
        """{scorer: kind} of all on the leaderboard."""
        return {
            **self.reward_models,
            **dict.fromkeys([*TEXT_SCORERS, *self.scale.loglikelihoods], "baseline"),
        }

    @cached_property
    def perturbed_models(self) -> dict[str, str]:
        """{reward model: kind} of all that score PERTURBED_SETS; a judge sees pairs there, so that a
        knock-out adds nothing."""
        return {name: kind for name, kind in self.reward_models.items() if name not in self.knockouts}

    @cached_property
    def bases(self) -> dict[str, str]:
        """{reward model: the base that it stands on}; one that names none stands on its own."""
        return {name: self._stands_on(self.knockouts.get(name, name)) for name in self.reward_models}

    def _stands_on(self, name: str) -> str:
        entry = self.scale.ready_made.get(name)
        if entry is None:
            return self._base(name)
        if "think_as_locals" in entry:
            return self.scale.settings.think_as_locals.base
        return entry.get("model") or entry.get("reference", {}).get("model", name)

    def entry(self, scorer: str) -> dict:
        """Return how a scorer is loaded: an entry as load_reward_model takes it."""
        paths, ready_made = self.scale.paths, self.scale.ready_made
        if scorer in self.scale.loglikelihoods:
            return {"kind": "implicit", "source": self.scale.base_folder(self._base(scorer))}
        if scorer in ready_made:  # a question about two answers that is asked once is not of CARB
            return self.models.loadable(
                {key: value for key, value in ready_made[scorer].items() if key != "question"}
            )
        return {"kind": "classifier", "source": paths.model(scorer)}

    def folders(self, scorer: str) -> list[str]:
        """Return the folders that a scorer is loaded from."""
        ready_made = self.scale.ready_made
        return (
            self.models.folders(ready_made[scorer])
            if scorer in ready_made
            else [self.entry(scorer)["source"]]
        )

    def model(self, scorer: str) -> str | dict:
        """Return the model of a scorer, as JobResources takes it."""
        ready_made = self.scale.ready_made
        return ready_made[scorer] if scorer in ready_made else self._base(scorer)

    def item_states(self, scorer: str, items: str = "carb") -> list[str]:
        """Return the states of items below the layers that tell a trained reward model from its base; none of
        other scorers.

        items: carb or carb_perturbed."""
        trained = scorer not in self.scale.ready_made and scorer not in self.scale.loglikelihoods
        return (
            [self.scale.paths.item_states(self._base(scorer), items)]
            if trained and self.scale.frozen_layers
            else []
        )

    def _base(self, scorer: str) -> str:
        return (
            scorer.removeprefix("loglik-")
            if scorer in self.scale.loglikelihoods
            else ModelName.parse(scorer).base
        )

    def pattern(self, left_out: Iterable[str]) -> str:
        """Return a regular expression for any reward model or log-likelihood but some; short, as it is tried
        on every file."""
        trained = f"(?:{one_of(self.scale.settings.bases)})_(?:{one_of(self.scale.languages)})"
        left_out = set(left_out)
        others = [
            name for name in [*self.scale.ready_made, *self.scale.loglikelihoods] if name not in left_out
        ]
        return f"{trained}|{one_of(others)}"

    @property
    def answers(self) -> str:
        """The possible items, with their answers as generators wrote them where there are any."""
        return self.scale.paths.carb_step(
            "completions.jsonl" if self.settings.generators else "possible_items.jsonl"
        )

    @property
    def item_sources(self) -> dict[str, str | list[str]]:
        """What the items are made of: {given: the user's own files}, or references, possible items and their
        similarities."""
        paths, given = self.scale.paths, self.settings.item_files
        built = {"references": paths.carb_references(), "possible": self.answers}
        return (
            {"given": given} if given else {**built, "similarities": paths.carb_step("similarities.parquet")}
        )

    @property
    def rewrite_sources(self) -> dict[str, str | list[str]]:
        """What the items are rewritten from, {references, cultures, wordings, and paraphrases where
        generators write some}.

        Nothing where the items are the user's own and bring rewrites."""
        if self.settings.item_files:
            return {}
        written = (
            {"paraphrases": self.scale.paths.carb_step("paraphrases.jsonl")}
            if self.settings.generators
            else {}
        )
        own = {"references": self.scale.paths.carb_references(), "cultures": self.settings.culture_file}
        return {**own, "wordings": self.wording_files, **written}

    @property
    def wording_files(self) -> list[str]:
        """The files of second wordings."""
        folder = self.settings.perturbation.wordings
        return sorted(map(str, Path(folder).glob("*.yaml"))) if folder else []

    @property
    def zeros(self) -> dict[str, str]:
        """{scorer of rewrites whose score has a zero: which, of sensitivity.ZEROS}; a classifier's has
        none."""
        entries = {name: self.entry(name) for name in self.perturbed_models}
        verdicts = {
            name: entry.get("verdict", "labels")
            for name, entry in entries.items()
            if entry["kind"] == "generative"
        }
        judges = {name: "shares" if verdict == "text" else "log-odds" for name, verdict in verdicts.items()}
        own = [name for name, entry in entries.items() if entry["kind"] == "implicit"]
        return {**judges, **dict.fromkeys([*own, "length"], "own")}

    @property
    def item_files(self) -> list[str]:
        """The items, a file for each culture."""
        return [self.scale.paths.carb_items(culture) for culture in self.settings.cultures]

    @property
    def training_items(self) -> dict[str, str]:
        """{culture: the items of topics that are held out from the benchmark}."""
        return {culture: self.scale.paths.carb_training_items(culture) for culture in self.built_cultures}

    def score_files(self, scorers: Iterable[str]) -> list[str]:
        """Return the scores of the items by some scorers: a file for each culture, scorer after scorer."""
        return [
            self.scale.paths.scores("carb", scorer, culture)
            for scorer in scorers
            for culture in self.settings.cultures
        ]

    def perturbed_files(self, *sets: str) -> list[str]:
        """Return the items of some of PERTURBED_SETS, a file for each culture, set after set."""
        return [
            self.scale.paths.carb_perturbed(name, culture)
            for name in sets
            for culture in self.settings.cultures
        ]

    def perturbed_score_files(self, sets: Iterable[str], scorers: Iterable[str]) -> list[str]:
        """Return the scores of some of PERTURBED_SETS by some scorers."""
        paths, scorers = self.scale.paths, list(scorers)
        return [
            paths.scores(name, scorer, culture)
            for name in sets
            for scorer in scorers
            for culture in self.settings.cultures
        ]

    @property
    def candidates(self) -> list[str]:
        """The policies' answers to questions, a file for each."""
        return [self.scale.paths.candidates(policy) for policy in self.settings.policies]

    def candidate_scores(self, scorers: Iterable[str]) -> list[str]:
        """Return the scores of the policies' answers by some scorers, policy after policy."""
        scorers = list(scorers)
        return [
            self.scale.paths.candidate_scores(policy, scorer)
            for policy in self.settings.policies
            for scorer in scorers
        ]

    @cached_property
    def rewarding(self) -> list[str]:
        """The reward models that train a policy: those that are named, or all but knock-outs."""
        if self.settings.grpo is None:
            return []
        named = self.settings.grpo.reward_models
        return list(self.perturbed_models) if named is None else named

    def grpo_models(self, scorer: str) -> dict:
        """Return the models of one training, as JobResources takes them: the policy, and its reward model
        beside it."""
        models, beside = self.scale.known.models, self.model(scorer)
        return {
            **models[self.settings.grpo.policy],
            "reference": models[beside] if isinstance(beside, str) else beside,
        }

    def board_settings(self, kinds: dict[str, str]) -> dict:
        """Return what leaderboard.board_of needs to compare some scorers, {scorer: kind}."""
        return {
            "kinds": kinds,
            "cultures": self.settings.cultures,
            "domains": self.settings.domains,
            "interval": self.scale.interval,
        }

    @property
    def notebook(self) -> list[str]:
        """The files that the notebook reads: artifacts, items and scores."""
        artifacts = [self.scale.paths.artifact(f"carb_{name}.csv") for name in PLOTTED]
        return [*artifacts, *self.item_files, *self.score_files(self.scorers)]
